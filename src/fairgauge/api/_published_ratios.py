"""Ratios of a published table, computed again by audits of the counts that it allows.

Where the numbers of selected people are printed, there is one table of counts. Where rounded rates
stand in their place, it may be any table that agrees with them: the lower limit of a ratio is that
of the fewest people selected in its category and the most in the reference, the upper limit that of
the opposite, so that the interval holds for every table in between. Which rate is the highest may
be open, too: the interval that decides then holds for every reference that such a table may have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from fairgauge.api.audit import audit
from fairgauge.cube.build import Counted, build
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import plan
from fairgauge.enums import IntervalMethod, Outcome, RateTest, ReferenceRule
from fairgauge.inference.compared_counts import FEWEST_GROUPS
from fairgauge.measure.decide import interval_reached
from fairgauge.published.published_table import CountedCategory, PublishedRow
from fairgauge.question.features import Feature
from fairgauge.question.specification import Spec
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.check import AlternativeReference, SmallestReference
from fairgauge.results.estimates import WorstCase
from fairgauge.results.report import Report
from fairgauge.results.scopes import Interval
from fairgauge.results.verdicts import Verdict
from fairgauge.stats.multiplicity import tukey_level

_METRIC = "selection_rate.ratio"
_DECIDED = ({Outcome.PASS}, {Outcome.FAIL})


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
    unknown : people of unknown category, who count among all of whom a category has a share.
    """

    def __init__(
        self,
        feature: str,
        categories: Sequence[CountedCategory],
        asked: CheckOptions,
        named: str | None,
        unknown: int = 0,
    ) -> None:
        self._feature = feature
        self._categories = {each.name: each for each in categories}
        self._asked = asked
        self._named = named
        self._people = sum(each.n for each in categories) + unknown

    @cached_property
    def reference(self) -> CountedCategory | None:
        """Return the category that ratios are computed to; None where none is large enough."""
        if self._named is not None:
            return self._categories[self._named]
        if self._exact:
            named = (
                estimate.reference.group for estimate in self._best.estimates if estimate.reference
            )
            return self._categories.get(next(named, None) or "")
        return min(self._candidates, key=_order)

    @cached_property
    def tied(self) -> list[CountedCategory]:
        """Return the other categories with the highest rate that may be the reference."""
        if self._named is not None or self.reference is None or not self.reference.most:
            return []
        rest = [candidate for candidate in self._candidates if candidate is not self.reference]
        return sorted((each for each in rest if each.rate == self.reference.rate), key=_order)

    @cached_property
    def given(self) -> Mapping[str, ComputedRatio]:
        """Return the ratios as if the reference had been chosen before the data were seen."""
        return {} if self.reference is None else self._compared_with(self.reference.name)

    @cached_property
    def chosen(self) -> Mapping[str, ComputedRatio]:
        """Return the ratios with an allowance for the choice of the reference by the data.

        The reference has one where printed rates allow that another rate is the highest.
        """
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
        return self._audit(self._fewest, ReferenceRule.BEST)

    @property
    def _fewest(self) -> dict[str, int]:
        return {name: each.fewest for name, each in self._categories.items()}

    @property
    def _most(self) -> dict[str, int]:
        return {name: each.most for name, each in self._categories.items()}

    @property
    def _exact(self) -> bool:
        return all(each.is_exact for each in self._categories.values())

    @cached_property
    def _admitted(self) -> list[CountedCategory]:
        """Return the categories that are large enough to be the reference."""
        admits = self._asked.smallest.admits
        return [each for each in self._categories.values() if admits(each.n, self._people)]

    @property
    def _candidates(self) -> list[CountedCategory]:
        """Return the categories of which the reference is one: as in an audit, else the largest."""
        if self._admitted:
            return self._admitted
        largest = max(each.n for each in self._categories.values())
        return [each for each in self._categories.values() if each.n == largest]

    def _compared_with(
        self, reference: str, confidence: float | None = None, fewest: int | None = None
    ) -> dict[str, ComputedRatio]:
        """Return the ratios to a category over all tables of counts that agree with the rates.

        ``fewest`` are the people selected in it at the least, as its rate allows by default.
        """
        least = self._fewest | {reference: self._most[reference]}
        low = self._ratios(self._audit(least, reference, confidence))
        if self._exact:
            return low
        floor = self._fewest[reference] if fewest is None else fewest
        greatest = self._most | {reference: floor}
        high = self._ratios(self._audit(greatest, reference, confidence))
        return {name: self._joined([low[name], high[name]]) for name in low}

    def _whichever_is_best(self) -> dict[str, ComputedRatio]:
        """Return the ratios to the highest rate over all tables that agree with the rates.

        Every category that has the highest rate in one of these tables is the reference in turn.
        Intervals hold simultaneously for all pairs of categories that are large enough (Tukey), as
        they do where the counts are known.
        """
        number, level = len(self._admitted), self._asked.confidence
        strict = tukey_level(number, level) if number >= FEWEST_GROUPS else level
        highest = max(Fraction(candidate.fewest, candidate.n) for candidate in self._candidates)
        compared = [
            self._compared_with(candidate.name, strict, math.ceil(highest * candidate.n))
            for candidate in self._candidates
            if Fraction(candidate.most, candidate.n) >= highest
        ]
        found = {}
        for name in self._categories:
            ratios = [each[name] for each in compared if name in each]
            if ratios:
                joined = self._joined(ratios)
                found[name] = _at_level(joined, level) if strict != level else joined
        return found

    def _joined(self, ratios: Sequence[ComputedRatio]) -> ComputedRatio:
        """Return a ratio from those in the tables where it is least and greatest."""
        intervals = [each.interval for each in ratios if each.interval is not None]
        interval = None
        if intervals and len(intervals) == len(ratios):
            low, high = min(each.low for each in intervals), max(each.high for each in intervals)
            interval = replace(intervals[0], low=low, high=high)
        verdicts = [each.verdict for each in ratios if each.verdict is not None]
        if len(verdicts) < len(ratios):
            return ComputedRatio(interval, None)
        undecided = (each for each in verdicts if each.outcome is Outcome.NOT_EVALUATED)
        verdict = next(undecided, verdicts[0])
        outcomes = {each.outcome for each in verdicts}
        if verdict.outcome is not Outcome.NOT_EVALUATED and outcomes not in _DECIDED:
            reason = Reason.of(ReasonCode.CROSSES, limit=self._asked.limit)
            verdict = replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)
        return ComputedRatio(interval, replace(verdict, value=None, interval=interval))

    def _ratios(self, report: Report) -> dict[str, ComputedRatio]:
        verdicts = {verdict.group: self._with_share(verdict) for verdict in report.verdicts}
        return {
            estimate.group: ComputedRatio(
                estimate.interval, verdicts.get(estimate.group), estimate.value
            )
            for estimate in report.estimates
            if estimate.group is not None
        }

    @property
    def _of_share(self) -> int:
        """Return the people that are the smallest share of all."""
        return math.ceil(self._people * self._asked.smallest.share)

    def _with_share(self, verdict: Verdict) -> Verdict:
        """Return a verdict that states of which people the minimum is a share, where it is one."""
        reason, asked = verdict.reason, self._asked.smallest
        if reason.code is not ReasonCode.SMALL_GROUP or self._of_share < asked.people:
            return verdict
        stated = Reason.of(
            reason.code,
            n=reason["n"],
            minimum=reason["minimum"],
            share=asked.share,
            total=self._people,
            unit="people",
        )
        return replace(verdict, reason=replace(stated, side=reason.side))

    def _audit(
        self, selected: Mapping[str, int], reference: str, confidence: float | None = None
    ) -> Report:
        """Audit counts; ``best`` as the reference allows for its choice by the data."""
        best = reference is ReferenceRule.BEST
        return audit(
            self._cube(selected),
            metrics=[_METRIC],
            reference=reference if best else {self._feature: reference},
            min_n=max(self._asked.smallest.people, self._of_share),
            rules=[] if self._asked.limit is None else [f"{_METRIC} >= {self._asked.limit!r}"],
            confidence=confidence or self._asked.confidence,
        )

    def _cube(self, selected: Mapping[str, int]) -> Cube:
        asked = Spec(prediction="selected", positive=(1,), sensitive=(Feature(self._feature),))
        cells = [
            (each.name, outcome, float(count))
            for each in self._categories.values()
            for chosen in [selected[each.name]]
            for outcome, count in ((1, chosen), (0, each.n - chosen))
        ]
        keys = [[cell[i] for cell in cells] for i in range(2)]
        counts = [cell[2] for cell in cells]
        return build(
            plan(asked),
            [Counted(keys, {"rows": counts})],
            rows=int(sum(counts)),
            known={self._feature: [*self._categories], "selected": [0, 1]},
        )


def whichever_unknown(
    verdict: Verdict, value: float, possible: tuple[float, float], unknown: int, limit: float
) -> Verdict:
    """Return a verdict that holds whichever categories the people of unknown category are in.

    As in an audit, what they could change is inconclusive: the interval reaches as far as the ratio
    does.
    """
    if {verdict.outcome} not in _DECIDED or verdict.interval is None:
        return verdict
    worst = WorstCase(*possible, unknown)
    low, high = interval_reached(verdict.interval, worst, value, ratio=True)
    if (low >= limit) if verdict.outcome is Outcome.PASS else (high < limit):
        return verdict
    reason = Reason.of(
        ReasonCode.MISSING_GROUPS,
        rows=unknown,
        unit="people",
        alone=str(verdict.outcome),
        low=low,
        high=high,
    )
    return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason)


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
