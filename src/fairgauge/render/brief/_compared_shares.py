"""Comparisons of two groups in a share of rows, as counts of people and in words."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from fairgauge.catalogue.cells import ALL, TN, TP
from fairgauge.catalogue.statistics import Rate, Statistic
from fairgauge.enums import DiagnosticCode, ReferenceKind, Task
from fairgauge.render._document_tree import Unit
from fairgauge.render.brief._compared_means import worst_of_classes
from fairgauge.render.brief._frequencies import Frequencies, Share, frequencies, range_words
from fairgauge.render.brief._vocabulary import Event, Vocabulary, joined, some, such
from fairgauge.render.words.display_names import capitalised
from fairgauge.render.words.metric_words import shown_ends
from fairgauge.results.disadvantage import OPPOSITES, adverse_sign, event_of, is_of_fit
from fairgauge.results.disparities import distance, gap, is_ratio, is_reference_first, singled_out
from fairgauge.results.estimates import Estimate, Group
from fairgauge.results.report import Report

_PER_HUNDRED = 100
_MANY_MISSING, _HARDLY_CHANCE, _BOTH = 0.01, 1e-3, 2
"""How far apart shares of missing outcomes are, and the p-value, from which one side lacks more."""


class RateWords:
    """The words of one rate: whom it is among, and what happened to those that it counts."""

    def __init__(self, words: Vocabulary, row: Rate) -> None:
        cells = event_of(row)
        self.words, self.row = words, row
        self.event = None if cells is None else words.event(cells)
        self.condition = words.among(row.among)
        """Whom the rate is among: "who repaid"; empty where it is of all."""

    @property
    def known(self) -> bool:
        """Return whether there are words for the rows that the rate is among, and its event."""
        of_known = self.row.among == ALL or bool(self.condition)
        return of_known and (self.event is not None or is_of_fit(self.row))

    def worse(self, difference: float) -> bool | None:
        """Return whether a difference is to the disadvantage of its group; None if of neither."""
        adverse = adverse_sign(self.row, self.words.favourable)
        return None if adverse == 0 else difference * adverse > 0

    def among(self, people: str) -> str:
        """Return people with whom the rate is among: "women who repaid"."""
        return joined(people, self.condition)

    def pair(self, one: str, other: str) -> str:
        """Return two groups with whom the rate is among: "women and men who repaid"."""
        both = f"{one} and {other}"
        if " with " in both and self.condition.startswith("with "):
            return f"{self.among(one)} and {self.among(other)}"
        return self.among(both)

    @property
    def clause(self) -> str:
        """Return what the rate counts where it is no event: that decisions match the outcome."""
        return self.words.fits[0 if self.row.of == TP + TN else 1]

    @property
    def how_often(self) -> str:
        """Return what is compared: "how often they are approved"."""
        if self.event is None:
            return f"how often {self.clause}"
        return f"how often they {self.event.happens}"

    def counted(self, of: str, people: str, hits: str, when: str = "") -> str:
        """Return a share as a count: "Of 100 women, 36 were approved"."""
        when = f" {when}" if when else ""
        if self.event is None:
            return f"{capitalised(self.clause)} for {hits} of {of} {some(people, of)}{when}"
        return f"Of {of} {self.among(some(people, of))}, {hits} {self.event.happened}{when}"

    def counted_beside(self, of: str, people: str, hits: str) -> str:
        """Return the share of others after :meth:`counted`: "of 100 men, 53"."""
        if self.event is None:
            return f"for {hits} of {of} {some(people, of)}"
        return f"of {of} {self.such(people)}, {hits}"

    def such(self, people: str) -> str:
        """Return the others after people with whom the rate is among: "such men"."""
        return such(people) if self.condition else some(people)

    def apart(self, ends: tuple[float, float], one: str, other: str) -> str:
        """Return a range: "between 3 and 9 fewer of 100 women than of 100 men were approved"."""
        sides = f"{self.among(some(one))} than of {_PER_HUNDRED} {self.such(other)}"
        size = f"{range_words(ends, _PER_HUNDRED)} {sides}"
        if self.event is None:
            return f"{self.clause} for {size}"
        return f"{size} {self.event.happened}"

    def times_as_often(self, ends: tuple[float, float], one: str, other: str) -> str | None:
        """Return a range: "women were approved between 0.3 and 0.6 times as often as men"."""
        if self.event is None:
            return None
        low, high = shown_ends(*ends, Unit.RATIO)
        return (
            f"{self.among(one)} {self.event.happened} between {low} and {high} times as often as "
            f"{such(other) if self.condition else other}"
        )

    def less_often(self, one: str, other: str, *, lower: bool) -> str:
        """Return who has it less often, or more often: "Women are approved less often than men"."""
        often = f"{'less' if lower else 'more'} often"
        if self.event is None:
            return f"{capitalised(self.clause)} {often} for {one} than for {other}"
        they = self.they_often(one, lower=lower).removeprefix("they ")
        other = other if not self.condition else such(other)
        return f"{capitalised(self.among(one))} {they} than {other}"

    def they_often(self, one: str, *, lower: bool) -> str:
        """Return that those who were named have it less often, or more often, elsewhere."""
        often = f"{'less' if lower else 'more'} often"
        if self.event is None:
            return f"{self.clause} {often} for them"
        verb = self.event.happens if self.among(one) == one else self.event.happened
        return f"they {verb} {often}"


def rate_words(words: Vocabulary, row: object) -> RateWords | None:
    """Return the words of a rate; None where it has none, and of what is no rate of rows."""
    rate = RateWords(words, row) if isinstance(row, Rate) else None
    return rate if rate is not None and rate.known else None


class ComparedShares:
    """A comparison of two groups in a share of rows, read from the side that is worse off.

    Without ``turn`` it is read from the side of its group, also where the other group is worse off.

    Attributes
    ----------
    contrast, row : the comparison, and the rate that it compares.
    subject, other : what the people of both sides are called.
    shares : of the subject, then of the other; None where it is not known.
    interval : of subject minus other, None where there is none.
    ratio : of subject to other, where the ratio is what is compared.
    lower : whether the share of the subject is the lower one.
    """

    def __init__(
        self,
        report: Report,
        words: Vocabulary,
        contrast: Estimate,
        row: Rate,
        *,
        turn: bool = True,
    ) -> None:
        words = words.at(contrast.class_scope, contrast.threshold)
        self.contrast, self.row, self.words = contrast, row, words
        self.rate = RateWords(words, row)
        group = words.group(contrast.feature, contrast.group)
        reference = words.reference(contrast)
        shown = singled_out(contrast)
        ends = ratio = None
        if shown.low is not None and shown.high is not None and is_ratio(contrast.definition):
            ratio = (shown.low, shown.high) if math.isfinite(shown.high) else None
        if shown.low is not None and shown.high is not None and contrast.definition.neutral == 0:
            turned = is_reference_first(contrast.definition)
            ends = (-shown.high, -shown.low) if turned else (shown.low, shown.high)
        # whether decisions fit outcomes of several classes is counted, though in no cell of one
        several, weighted = report.task is Task.MULTICLASS, report.spec.get("weight")
        self._exact = several and not weighted and contrast.bounds is None
        sides = (_share(report, contrast, row), _reference_share(report, contrast, row))
        better = self.rate.worse(gap(contrast)) is False
        measured = contrast.value is not None or contrast.interval is not None
        self.turned = turn and better and measured and words.other_group(contrast) is not None
        if self.turned:
            group, reference = reference, group
            sides = (sides[1], sides[0])
            ends = None if ends is None else (-ends[1], -ends[0])
            ratio = None if ratio is None or ratio[0] <= 0 else (1 / ratio[1], 1 / ratio[0])
        self.subject, self.other = group, reference
        self.shares, self.interval, self.ratio = sides, ends, ratio
        self.lower = (gap(contrast) < 0) != self.turned

    @property
    def is_worse(self) -> bool:
        """Return whether the subject is worse off."""
        return bool(self.rate.worse(-1.0 if self.lower else 1.0))

    @property
    def event(self) -> Event | None:
        """Return what the rate counts; None of a decision that matches the outcome, or does not."""
        return self.rate.event

    @property
    def counts(self) -> Frequencies | None:
        """Return both shares as counts of one number of people, None where they have none."""
        mine, theirs = self.shares
        if mine is None or theirs is None:
            return None
        return frequencies(mine, theirs, self.interval)

    def sentence(self) -> str | None:
        """Return both shares as counts: "Of 100 women, 36 were approved; of 100 men, 53."."""
        mine, theirs = self.shares
        found = self.counts if self.rate.known else None
        if found is None or mine is None or theirs is None:
            return None
        sizes = (mine.size, theirs.size) if found.of is None else (found.of, found.of)
        first, second = (f"{size:,}" for size in sizes if size is not None)
        estimated = "an estimated " if mine.hits is None and not self._exact else ""
        mine_in_words = self.rate.counted(first, self.subject, f"{estimated}{found.group:,}")
        return (
            f"{mine_in_words}; "
            f"{self.rate.counted_beside(second, self.other, f'{found.reference:,}')}."
            f"{worst_of_classes(self.contrast)}"
        )

    def interval_sentence(self) -> str | None:
        """Return the interval as counts: "between 14 and 20 fewer of 100 were approved"."""
        mine, theirs = self.shares
        level = f"{100 * (self.contrast.confidence or 0):.4g}% CI"
        if self.ratio is not None and self.rate.known:
            often = self.rate.times_as_often(self.ratio, self.subject, self.other)
            if often is not None:
                return f"{capitalised(often)} ({level})."
        if self.interval in (None, (0.0, 0.0)) or not self.rate.known:
            return None
        assert self.interval is not None
        found = frequencies(mine, theirs, self.interval) if mine and theirs else None
        of = _PER_HUNDRED if found is None or found.of is None else found.of
        if self.event is None:
            happened = f"{self.rate.clause} for {range_words(self.interval, of)}"
        else:
            happened = f"{range_words(self.interval, of)} {self.event.happened}"
        return f"{self.of_whom}: {happened} ({level})."

    @property
    def of_whom(self) -> str:
        """Return of whom its sentence is, which names those they are compared with: "Women"."""
        return capitalised(self.rate.among(self.subject))

    def of_interval(self, contrast: Estimate) -> str | None:
        """Return the interval of another contrast of the same people: the one within strata.

        "between 1 fewer and 5 more of 100 were admitted (95% CI)"
        """
        if contrast.interval is None or is_ratio(contrast.definition) or self.event is None:
            return None
        low, high = contrast.interval
        turned = is_reference_first(contrast.definition) != self.turned
        ends = (-high, -low) if turned else (low, high)
        level = f"{100 * contrast.interval.level:.4g}% CI"
        return f"{range_words(ends, _PER_HUNDRED)} {self.event.happened} ({level})"

    def rates_in(self, contrast: Estimate) -> str:
        """Return the shares of the same people elsewhere: " (82 of 100 women, 62 of 100 men)"."""
        if (shares := self.of_100(contrast)) is None:
            return ""
        subject, other = (self.rate.among(some(each)) for each in (self.subject, self.other))
        return f" ({shares[0]} of 100 {subject}, {shares[1]} of 100 {other})"

    def of_100(self, contrast: Estimate) -> tuple[str, str] | None:
        """Return both shares of a comparison, of 100 people each."""
        mine, theirs = (contrast.rate_group, contrast.rate_reference)[:: -1 if self.turned else 1]
        if mine is None or theirs is None:
            return None
        # rounded as the counts beside them are, of which 105 of 200 are a half
        shares = (Share(Fraction(side).limit_denominator(10**9)) for side in (mine, theirs))
        first, second = (f"{share.of(_PER_HUNDRED)}" for share in shares)
        return first, second

    def headline(self) -> str | None:
        """Return the comparison in words without numbers."""
        if not self.rate.known:
            return None
        return self.rate.less_often(self.subject, self.other, lower=self.lower)

    @property
    def opposite(self) -> str:
        """Return what happened to those to whom the event did not: "were refused"."""
        cells = event_of(self.row)
        other = None if cells is None else self.words.event(OPPOSITES[cells])
        return "" if other is None else other.happened


def _share(report: Report, contrast: Estimate, row: Rate) -> Share | None:
    found = _group(report, contrast, contrast.group)
    return None if found is None else _share_of(found, row)


def _share_of(group: Group, row: Rate) -> Share | None:
    value = group.rates.get(row.name)
    if value is None or value.value is None:
        return None
    weighted, protected = group.weight is not None, value.bounds is not None
    if value.numerator is None or not value.denominator or weighted or protected:
        return Share(Fraction(value.value))
    return Share.counted(int(value.numerator), int(value.denominator))


def _reference_share(report: Report, contrast: Estimate, row: Rate) -> Share | None:
    """Return the share of the reference: of all others, what is left of all rows together."""
    reference = contrast.reference
    if reference is None or contrast.rate_reference is None:
        return None
    if reference.group is not None:
        found = _group(report, contrast, reference.group)
        return None if found is None else _share_of(found, row)
    mine, every = _group(report, contrast, contrast.group), _total(report, contrast)
    if mine is not None and every is not None:
        own, whole = _share_of(mine, row), _share_of(every, row)
        if reference.kind is ReferenceKind.OVERALL:
            return whole
        if own and whole and own.size and whole.size and whole.size > own.size:
            hits = (whole.hits or 0) - (own.hits or 0)
            left = Share.counted(hits, whole.size - own.size)
            if math.isclose(left.rate, contrast.rate_reference, rel_tol=1e-9):
                return left
    return Share(Fraction(contrast.rate_reference))


def missing_could_reverse(report: Report, shares: ComparedShares) -> bool:
    """Return whether the rows that lack an outcome could turn the direction of a gap around.

    Of rates among all rows alone: which rows lack one of another kind is not known.
    """
    contrast = shares.contrast
    compared = _share(report, contrast, shares.row), _reference_share(report, contrast, shares.row)
    if shares.row.among != ALL:
        return False
    ends = [
        (share.rate, share.hits / rows, 1 - (share.size - share.hits) / rows)
        for share, rows in zip(compared, _sizes(report, contrast), strict=True)
        if share is not None and share.hits is not None and share.size and rows
    ]
    if len(ends) < len(compared):
        return False  # weighted or protected
    (_, _, most), (_, least, _) = sorted(ends)
    return most > least


def could_leave_none(report: Report, contrast: Estimate, row: Statistic) -> bool:
    """Return whether outcomes that one side lacks more often could leave no difference shown.

    They are those beyond the share that the other side lacks. A difference is shown while it has as
    many standard errors as half of its interval. Of what is no share of all rows they could.
    """
    needs = {*row.needs, *(["score"] if "prediction" in row.needs else [])}
    uneven = (
        each.code is DiagnosticCode.MISSING_OUTCOMES
        and each.feature == contrast.feature
        and each["what"] in needs
        and each["groups"] > 1
        and each["p"] < _HARDLY_CHANCE
        for each in report.diagnostics
    )
    if not any(uneven):
        return False
    interval = singled_out(contrast).interval
    sides = [
        (rate, n, 1 - n / rows)
        for rate, n, rows in zip(
            (contrast.rate_group, contrast.rate_reference),
            (contrast.n_group, contrast.n_reference),
            _sizes(report, contrast),
            strict=True,
        )
        if rate is not None and n and rows
    ]
    of_all = isinstance(row, Rate) and row.among == ALL and len(sides) == _BOTH
    if not of_all or interval is None or contrast.definition.neutral in interval:
        return True
    (rate, n, more), (other, m, fewer) = sorted(sides, key=lambda side: -side[2])
    if more - fewer < _MANY_MISSING:
        return False
    share = (more - fewer) / (1 - fewer)
    filled = rate * (1 - share) + share * (rate < other)
    if (filled - other) * (rate - other) <= 0:
        return True
    nearest = min(distance(replace(contrast, value=end)) for end in interval)
    widths = distance(contrast) / (distance(contrast) - nearest)  # by which it is shown: above 1
    before = _in_errors((rate, n), (other, m))
    return widths * _in_errors((filled, n / (1 - share)), (other, m)) <= before


def _in_errors(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return how far two shares of so many rows are apart, in standard errors."""
    variance = sum(rate * (1 - rate) / n for rate, n in (one, other))
    return abs(one[0] - other[0]) / math.sqrt(variance) if variance else math.inf


def _sizes(report: Report, contrast: Estimate) -> tuple[float, float]:
    """Return the rows of both sides of a comparison, those without an outcome included."""
    group, every = _group(report, contrast, contrast.group), _total(report, contrast)
    reference = contrast.reference
    if reference is None or group is None or every is None:
        return 0, 0
    others = every.n - group.n if reference.kind is ReferenceKind.OTHERS else every.n
    if reference.group is not None:
        others = getattr(_group(report, contrast, reference.group), "n", 0)
    return group.n, others


def _group(report: Report, contrast: Estimate, name: str | None) -> Group | None:
    return next((g for g in report.groups if g.group == name and _same_place(g, contrast)), None)


def _total(report: Report, contrast: Estimate) -> Group | None:
    return next(
        (
            g
            for g in report.totals
            if g.reference_kind is ReferenceKind.OVERALL and _same_place(g, contrast)
        ),
        None,
    )


def _same_place(group: Group, contrast: Estimate) -> bool:
    return (
        group.feature == contrast.feature
        and group.scope == contrast.scope
        and group.class_scope == contrast.class_scope.of_class
        and group.threshold == contrast.threshold
    )
