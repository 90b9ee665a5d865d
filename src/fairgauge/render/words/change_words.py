"""Words for a disparity that changed sides: who is better off now, of group and reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.catalogue.comparisons import Contrast
from fairgauge.catalogue.statistics import has_direction
from fairgauge.enums import Better, ReferenceKind
from fairgauge.render.words.display_names import called
from fairgauge.render.words.estimate_sentences import reference_name

if TYPE_CHECKING:
    from fairgauge.catalogue.comparisons import Metric
    from fairgauge.results.scopes import Reference

NOT_SURELY = "changed sides, not significantly"
"""Of a disparity that changed sides by its estimates alone."""


def changed_sides(
    metric: Metric, group: str | None, reference: Reference | None, new: float | None
) -> str:
    """Return who is better off now: ``changed sides: Male is now worse off than Female``.

    Of a rate of which neither direction is worse, who has the higher one.
    """
    if not isinstance(metric, Contrast) or group is None or reference is None or new is None:
        return "changed sides"
    higher = (new > metric.neutral) == (metric.order == "group - reference")
    ours, theirs = called(group), called(reference_name(reference))
    if not has_direction(metric.of):
        more = "higher" if higher else "lower"
        return f"changed sides: {ours} now has a {more} {metric.of.title} than {theirs}"
    worse = higher == (metric.of.better is Better.LOWER)
    if not worse and reference.kind is ReferenceKind.GROUP:
        return f"changed sides: {theirs} is now worse off than {ours}"
    return f"changed sides: {ours} is now {'worse' if worse else 'better'} off than {theirs}"
