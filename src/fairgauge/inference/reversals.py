"""Reversals: differences that turn their sign once strata are held fixed (Simpson's paradox)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.catalogue.catalogue import CONDITIONAL
from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.enums import Level
from fairgauge.report.estimates import POOLED, Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.catalogue.lookup import Catalogue
    from fairgauge.report.estimates import Estimate

_MOST_SHOWN = 4


def simpsons(
    estimates: Sequence[Estimate], catalogue: Catalogue = BUILT_IN
) -> Iterator[Diagnostic]:
    """Say where a difference turns its sign once strata are held fixed."""
    pooled = {
        (e.metric, e.group, e.class_, e.threshold): e for e in estimates if e.stratum == POOLED
    }
    turned: dict[tuple[str | None, str], list[str]] = {}
    for each in estimates:
        within = pooled.get((each.metric, each.group, each.class_, each.threshold))
        if each.stratum is not None or within is None or each.metric in CONDITIONAL:
            continue
        neutral = catalogue.metric(each.metric).neutral
        if each.value is None or within.value is None:
            continue
        if (each.value - neutral) * (within.value - neutral) < 0:
            shown = f"{each.metric} {each.value:.3g} but {within.value:.3g} within strata"
            turned.setdefault((each.feature, each.group), []).append(shown)
    for (feature, group), every in turned.items():
        more = f" and {len(every) - _MOST_SHOWN} more" if len(every) > _MOST_SHOWN else ""
        message = f"{group}: the sign turns when strata are held fixed: "
        message += "; ".join(every[:_MOST_SHOWN]) + more
        yield Diagnostic(Level.WARNING, "simpson", message, feature)
