"""Excluded groups: their numbers and rates, which a published report states all the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.enums import DiagnosticCode, Task
from fairgauge.measure._small_groups import small_groups
from fairgauge.measure.slices import Slice
from fairgauge.question.presets import preset
from fairgauge.resolve.group_checks import FEW_PUBLISHED
from fairgauge.resolve.group_counts import count_groups
from fairgauge.results.scopes import OVERALL, Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.cube.cube import Cube
    from fairgauge.resolve.resolution import Resolution


def excluded_groups(
    cube: Cube, resolution: Resolution, rates: Iterable[Statistic]
) -> Iterator[Diagnostic]:
    """State the number and the selection rate of excluded groups, for tables to publish.

    Of a group of the minimum share or more it is a warning.

    Groups of probabilities have no numbers, and protected counts no exact ones. Of a few people no
    rate is stated, as it can show what was decided about single ones.
    """
    spec = resolution.spec
    selection = [each for each in rates if each.name == "selection_rate"]
    published = spec.preset is not None and preset(spec.preset).published_metrics
    if not (published and spec.exclude_groups and selection) or resolution.task is not Task.BINARY:
        return
    kept = {(counts.feature, name) for counts in resolution.features for name in counts.groups}
    every = count_groups(cube, replace(spec, exclude_groups=()))
    small = small_groups(every, spec)
    for counts in every:
        for outcome in () if counts.protected else resolution.outcomes:
            for each in Slice(counts, outcome, spec).groups(selection):
                rate = each.rates[selection[0].name]
                of = (counts.feature, str(each.group))
                if each.reference_kind is not None or each.scope != OVERALL or of in kept:
                    continue
                rows, stated = rate.denominator or 0, {}
                if rows >= FEW_PUBLISHED:
                    hits = {"weighted": True} if counts.weighted else {"selected": rate.numerator}
                    stated = {"value": rate.value, **hits}
                is_small = of in small and bool(spec.min_share)
                made = Diagnostic.note if is_small else Diagnostic.warning
                yield made(
                    DiagnosticCode.EXCLUDED_GROUP,
                    counts.feature,
                    group=each.group,
                    rows=rows,
                    **stated,
                    **spec.unit,
                    **({"below": spec.min_share} if is_small else {}),
                    **({"threshold": outcome.threshold} if len(resolution.outcomes) > 1 else {}),
                )
