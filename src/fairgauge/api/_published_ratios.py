"""Ratios of a published table, computed again by audits of the counts that it allows.

Where the numbers of selected people are printed, there is one table of counts. Where rounded rates
stand in their place, it may be any table that agrees with them: the lower limit of a ratio is that
of the fewest people selected in its category and the most in the reference, the upper limit that of
the opposite, so that the interval holds for every table in between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from fairgauge.api.audit import audit
from fairgauge.cube.build import Counted, build
from fairgauge.cube.plan import plan
from fairgauge.enums import IntervalMethod, Outcome, ReferenceRule
from fairgauge.inference.evidence import FEWEST_GROUPS
from fairgauge.question.features import Feature
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.check import AlternativeReference
from fairgauge.stats.many import tukey_level

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.enums import RateTest
    from fairgauge.published.published_table import PublishedRow
    from fairgauge.published.selected_people import CountedCategory
    from fairgauge.results.check import SmallestReference
    from fairgauge.results.report import Report
    from fairgauge.results.scopes import Interval
    from fairgauge.results.verdicts import Verdict

_METRIC = "selection_rate.ratio"


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of a check; ``references`` are the categories to compare with, where named."""

    limit: float | None
    smallest: SmallestReference
    confidence: float
    references: tuple[str, ...]
    test: RateTest


@dataclass(frozen=True, slots=True)
class ComputedRatio:
    """The ratio of a category to the reference.

    Attributes
    ----------
    interval : its confidence interval, over all tables of counts that agree with printed rates.
    verdict : what the limit comes to, None without a limit.
    value : of the counts; None where rates stand in their place.
    """

    interval: Interval | None
    verdict: Verdict | None
    value: float | None = None


class TableRatios:
    """The ratios of a table of at least two categories.

    Parameters
    ----------
    feature : what the categories are of.
    categories : those with people.
    asked : the options of the check.
    named : the category that ratios are to be computed to; that with the highest rate among large
        ones where none is named.
    """

    def __init__(
        self,
        feature: str,
        categories: Sequence[CountedCategory],
        asked: CheckOptions,
        named: str | None,
    ) -> None:
        self._feature = feature
        self._categories = {each.name: each for each in categories}
        self._asked = asked
        self._named = named

    @cached_property
    def reference(self) -> CountedCategory | None:
        """Return the category that ratios are computed to; None where none is large enough."""
        if self._named is not None:
            return self._categories[self._named]
        if self._exact:
            named = (each.reference.group for each in self._best.estimates if each.reference)
            return self._categories.get(next(named, None) or "")
        return min(self._admitted, key=_order, default=None)

    @cached_property
    def tied(self) -> list[CountedCategory]:
        """Return the other categories with the highest rate that may be the reference."""
        if self._named is not None or self.reference is None or not self.reference.most:
            return []
        rest = [each for each in self._admitted if each is not self.reference]
        return sorted((each for each in rest if each.rate == self.reference.rate), key=_order)

    @cached_property
    def given(self) -> Mapping[str, ComputedRatio]:
        """Return the ratios as if the reference had been chosen before the data were seen."""
        return {} if self.reference is None else self._compared_with(self.reference.name)

    @cached_property
    def chosen(self) -> Mapping[str, ComputedRatio]:
        """Return the ratios with an allowance for the choice of the reference by the data."""
        if self._named is not None or self.reference is None:
            return self.given
        if self._exact:
            return self._ratios(self._best)
        return self._whichever_is_best()

    def other_reference(self, printed: PublishedRow | None) -> AlternativeReference | None:
        """Return another reference in use, and the categories whose verdict it would change.

        It is the printed one, else the best of all others, however small, if its rate is as high.
        None with a named reference.
        """
        if self._named is not None or self.reference is None or not self.reference.most:
            return None
        others = [each for each in self._categories.values() if each is not self.reference]
        best = min(others, key=_order)
        own = None if printed is None else self._categories.get(printed.name)
        if own not in others and best.rate < self.reference.rate:
            return None
        other = own if own is not None and own in others else best
        before = _outcomes(self.given)
        after = _outcomes(self._compared_with(other.name))
        changed = [name for name in after if name in before and after[name] is not before[name]]
        lost = [name for name in changed if after[name] is Outcome.NOT_EVALUATED]
        return AlternativeReference(
            name=other.name,
            same_rate=other.rate == self.reference.rate,
            changes=tuple(name for name in changed if name not in lost),
            not_evaluated=tuple(lost),
        )

    @cached_property
    def _best(self) -> Report:
        """Audit counts that are known with the highest rate as the reference."""
        return self._audit((), ReferenceRule.BEST)

    @property
    def _exact(self) -> bool:
        return all(each.is_exact for each in self._categories.values())

    @property
    def _admitted(self) -> list[CountedCategory]:
        """Return the categories that are large enough to be the reference."""
        people = sum(each.n for each in self._categories.values())
        return [
            each
            for each in self._categories.values()
            if self._asked.smallest.admits(each.n, people) and each.most
        ]

    def _compared_with(
        self, reference: str, confidence: float | None = None
    ) -> dict[str, ComputedRatio]:
        """Return the ratios to a category over all tables of counts that agree with the rates."""
        others = self._categories.keys() - {reference}
        low = self._ratios(self._audit({reference}, reference, confidence))
        if self._exact:
            return low
        high = self._ratios(self._audit(others, reference, confidence))
        return {name: self._joined(low[name], high[name]) for name in low}

    def _whichever_is_best(self) -> dict[str, ComputedRatio]:
        """Return the ratios to the highest rate over all tables that agree with the rates.

        The ratio of a category is least where it has the fewest selected people and all others the
        most, greatest in the opposite case; each case has the reference of its own. Intervals hold
        simultaneously for all pairs of categories that may be the reference (Tukey).
        """
        candidates, level = len(self._admitted), self._asked.confidence
        strict = tukey_level(candidates, level) if candidates >= FEWEST_GROUPS else level
        compared: dict[str, dict[str, ComputedRatio]] = {}
        found = {}
        for name in self._categories.keys() - {self.reference and self.reference.name}:
            rivals = [each for each in self._admitted if each.name != name]
            least = max(rivals, key=lambda each: each.most / each.n).name
            greatest = max(rivals, key=lambda each: each.fewest / each.n).name
            for reference in {least, greatest} - compared.keys():
                compared[reference] = self._compared_with(reference, strict)
            joined = self._joined(compared[least][name], compared[greatest][name])
            found[name] = _at_level(joined, level) if strict != level else joined
        return found

    def _joined(self, low: ComputedRatio, high: ComputedRatio) -> ComputedRatio:
        """Return a ratio from those in the table where it is least, and where it is greatest."""
        interval = None
        if low.interval is not None and high.interval is not None:
            interval = replace(low.interval, high=high.interval.high)
        if low.verdict is None or high.verdict is None:
            return ComputedRatio(interval, None)
        outcomes = {low.verdict.outcome, high.verdict.outcome}
        verdict = low.verdict
        if Outcome.NOT_EVALUATED in outcomes:
            verdict = next(
                each
                for each in (low.verdict, high.verdict)
                if each.outcome is Outcome.NOT_EVALUATED
            )
        elif len(outcomes) > 1 or Outcome.INCONCLUSIVE in outcomes:
            reason = Reason.of(ReasonCode.CROSSES, limit=self._asked.limit)
            verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
        return ComputedRatio(interval, replace(verdict, value=None, interval=interval))

    def _ratios(self, report: Report) -> dict[str, ComputedRatio]:
        verdicts = {each.group: each for each in report.verdicts}
        return {
            each.group: ComputedRatio(each.interval, verdicts.get(each.group), each.value)
            for each in report.estimates
            if each.group is not None
        }

    def _audit(
        self, with_most: Collection[str], reference: str, confidence: float | None = None
    ) -> Report:
        """Audit the counts with the most selected people in some categories, the fewest in others.

        ``best`` as the reference allows for its choice by the data.
        """
        best = reference is ReferenceRule.BEST
        return audit(
            self._cube(with_most),
            metrics=[_METRIC],
            reference=reference if best else {self._feature: reference},
            min_share=self._asked.smallest.share or None,
            min_n=self._asked.smallest.people,
            rules=[] if self._asked.limit is None else [f"{_METRIC} >= {self._asked.limit!r}"],
            confidence=confidence or self._asked.confidence,
        )

    def _cube(self, with_most: Collection[str]) -> Cube:
        asked = Spec(prediction="selected", positive=(1,), sensitive=(Feature(self._feature),))
        cells = [
            (each.name, outcome, float(count))
            for each in self._categories.values()
            for selected in [each.most if each.name in with_most else each.fewest]
            for outcome, count in ((1, selected), (0, each.n - selected))
        ]
        keys = [[cell[i] for cell in cells] for i in range(2)]
        counts = [cell[2] for cell in cells]
        return build(
            plan(asked),
            [Counted(keys, {"rows": counts})],
            rows=int(sum(counts)),
            known={self._feature: [*self._categories], "selected": [0, 1]},
        )


def _at_level(ratio: ComputedRatio, level: float) -> ComputedRatio:
    """Return a ratio whose interval holds at a level together with those of all pairs."""
    if ratio.interval is None:
        return ratio
    methods = (IntervalMethod.TUKEY, *ratio.interval.methods)
    interval = replace(ratio.interval, level=level, methods=methods)
    verdict = None if ratio.verdict is None else replace(ratio.verdict, interval=interval)
    return replace(ratio, interval=interval, verdict=verdict)


def _order(category: CountedCategory) -> tuple[float, int, str]:
    """Return the key by which the reference is chosen: the rate, then the people, then the name."""
    return -category.rate, -category.n, category.name


def _outcomes(ratios: Mapping[str, ComputedRatio]) -> dict[str, Outcome]:
    return {name: each.verdict.outcome for name, each in ratios.items() if each.verdict}
