"""Results in the service's shape, out of fairgauge's own report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairgauge.audit import audit
from fairgauge.compat.wording import CONDITIONAL, error_text, result
from fairgauge.words import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.compat.counted import Question
    from fairgauge.compat.flip import Features
    from fairgauge.cube import Cube
    from fairgauge.estimate import Estimate, Group
    from fairgauge.report import Report

POOLED = "pooled"


class Measured:
    """A report over the blocks of a question, asked by facet and block."""

    def __init__(
        self,
        asked: Question,
        cube: Cube,
        metrics: Sequence[str],
        profile: Profile,
        features: Features | None = None,
        strata_problem: str | None = None,
        **options: Any,
    ) -> None:
        self.asked = asked
        self._features = features
        self._strata_problem = strata_problem
        counted = [metric for metric in metrics if metric != "FT"] or ["CI"]
        self.report: Report = audit(cube, metrics=counted, profile=str(profile), **options)
        self.whole_table: dict[str, Estimate] = {}
        self._estimates: dict[tuple[str, str | None, str], Estimate] = {}
        for each in self.report.estimates:
            if each.feature is None:
                self.whole_table[each.metric] = each
            elif each.stratum == (POOLED if each.metric in CONDITIONAL else None):
                self._estimates[each.metric, each.feature, each.group] = each
        self._groups = {(g.feature, g.group): g for g in self.report.groups if g.stratum is None}
        self._rows = self.report.data.cases

    def group(self, facet: int, block: int) -> Group:
        """Return the counts and rates of a block."""
        return self._groups[self.asked.axes[facet], self.asked.block_names(facet)[block]]

    def known(self, facet: int) -> int:
        """Return the rows that are compared: those whose facet is known (``clarify``: all)."""
        if self.report.profile is Profile.CLARIFY:
            return int(self._rows)
        return int((self.asked.facets[facet].codes != -2).sum())

    def estimate(self, metric: str, facet: int, block: int) -> Estimate:
        """Return one metric of a block."""
        if metric in self.whole_table:
            return self.whole_table[metric]
        return self._estimates[metric, self.asked.axes[facet], self.asked.block_names(facet)[block]]

    def result(self, metric: str, facet: int, block: int) -> dict[str, Any]:
        """Return one metric of a block as results write it."""
        if metric == "FT":
            return self._flip(facet, block)
        found = self.estimate(metric, facet, block)
        if metric in CONDITIONAL and self._strata_problem is not None:
            return result(metric, None, self._strata_problem)
        if found.value is not None:
            return result(metric, found.value)
        if self.report.profile is not Profile.CLARIFY:
            return result(metric, None, found.reason or str(found.status))
        rows = self.group(facet, block).n
        text = error_text(metric, rows, self._rows - rows, found.reason)
        return result(metric, None, text)

    def _flip(self, facet: int, block: int) -> dict[str, Any]:
        """Return the flip test, which compares rows."""
        assert self.asked.prediction is not None
        assert self._features is not None
        inside = self.asked.facets[facet].codes == block
        try:
            value = self._features.flip(inside, self.asked.prediction.states == 1)
        except ValueError as error:
            return result("FT", None, str(error))
        return result("FT", value)


def unsortable(values: Sequence[Any]) -> str | None:
    """Return what Python says when the values of the strata cannot be put in order, if so."""
    try:
        np.unique(np.array(values, dtype=object))
    except TypeError as error:
        return str(error)
    return None
