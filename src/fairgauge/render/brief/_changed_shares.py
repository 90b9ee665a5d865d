"""A comparison of two groups before and after: of two reports, or under two models on one table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairgauge.catalogue.comparisons import Contrast, is_of_all_groups
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import Direction, ScopeKind
from fairgauge.render._document_tree import Unit
from fairgauge.render.brief._compared_shares import RateWords
from fairgauge.render.brief._frequencies import (
    Share,
    counted_changes,
    size_words,
)
from fairgauge.render.brief._vocabulary import Vocabulary
from fairgauge.render.words.change_words import (
    ARROW,
    DIRECTIONS,
    describe_disparity,
    scope_words,
    shift_words,
    sides_words,
)
from fairgauge.render.words.display_names import capitalised
from fairgauge.render.words.metric_words import (
    compared_rate,
    metric_words,
    unit,
)
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.comparison import Candidate
from fairgauge.results.disparities import is_significant
from fairgauge.results.scopes import Interval
from fairgauge.results.threshold_choice import ThresholdEffect

_PER_HUNDRED = 100
_LEAST = 1e-9
_REVERSED = "reference - group"


@dataclass(frozen=True, slots=True)
class Times:
    """What is before and what is after.

    Attributes
    ----------
    before, after : after a verb: "in the old report", "under boosted".
    than_before : after a comparative: "in the new report than in the old one".
    reverse : of who is worse off: "in the new report, the reverse of the old one".
    """

    before: str
    after: str
    than_before: str
    reverse: str


class ChangedShares:
    """A disparity before and after, read from the side that is worse off after.

    Where both sides are alike after it is read from the side that was worse off before.

    Attributes
    ----------
    change : the disparity.
    row : the rate that it compares.
    subject, other : what the people of both sides are called.
    mine, theirs : the shares of the subject, and of the other side, before and after.
    lower : whether the share of the subject is the lower one after.
    of_two : whether it is of two groups that are compared with each other.
    turned : whether the subject is the reference.
    """

    def __init__(
        self,
        words: Vocabulary,
        change: DisparityChange,
        row: Rate,
        mine: tuple[Share, Share],
        theirs: tuple[Share, Share],
    ) -> None:
        self.change, self.row = change, row
        self.words = RateWords(words.at(change.class_scope, change.threshold), row)
        group = words.group(change.feature, change.group)
        sides = [(group, mine), (words.reference(change), theirs)]
        gap = float(mine[1].rate - theirs[1].rate) or float(mine[0].rate - theirs[0].rate)
        self.of_two = words.other_group(change) is not None
        self.turned = self.words.worse(gap) is False and self.of_two
        if self.turned:
            sides.reverse()
            gap = -gap
        (self.subject, self.mine), (self.other, self.theirs) = sides
        self.lower = gap < 0

    @property
    def is_worse(self) -> bool:
        """Return whether the subject is worse off after."""
        return bool(self.words.worse(-1.0 if self.lower else 1.0))

    @property
    def is_of_worse_off(self) -> bool:
        """Return whether the subject is worse off, or was where after no difference is shown.

        Of two groups that are compared with each other one is.
        """
        new = self.change.after
        if new is None or is_significant(new):
            return self.is_worse
        worse = self.words.worse(self.gaps[0])
        return worse is not None if self.of_two else bool(worse)

    def sentence(self, times: Times) -> str | None:
        """Return all four shares as counts, or nothing where no number of people serves them."""
        found = counted_changes((self.mine, self.theirs), self._is_faithful)
        if found is None:
            return None
        (of, old, new), (of_other, old_other, new_other) = found[1]
        mine = self.words.counted(of, self.subject, old, times.before)
        theirs = self.words.counted_beside(of_other, self.other, f"{old_other} and {new_other}")
        return f"{mine} and {new} {times.after}; {theirs}."

    def _is_faithful(self, rates: Sequence[Fraction]) -> bool:
        """Return whether stated rates come to a change within its interval, in its direction."""
        before, after = rates[0] - rates[2], rates[1] - rates[3]
        moved = abs(after) - abs(before)
        direction = self.change.direction
        if moved == 0 and direction in (Direction.FURTHER, Direction.CLOSER):
            return False
        if (moved > 0) is (direction is Direction.CLOSER) and moved != 0 and direction is not None:
            return False
        return after == 0 or (after < 0) == self.lower

    @property
    def gaps(self) -> tuple[float, float]:
        """Return by how much the share of the subject is the higher one, before and after."""
        before, after = (
            float(m.rate - t.rate) for m, t in zip(self.mine, self.theirs, strict=True)
        )
        return before, after

    @property
    def _as_defined(self) -> bool:
        """Return whether the subject is the side that the metric takes first."""
        return self.turned == (getattr(self.change.definition, "order", "") == _REVERSED)

    def as_compared(self) -> tuple[str, tuple[float, float]]:
        """Return who is compared, and the gaps, in the direction of the values of the metric."""
        if self._as_defined:
            return self.words.pair(self.subject, self.other), self.gaps
        before, after = self.gaps
        return self.words.pair(self.other, self.subject), (-before, -after)

    def headline(self, times: Times) -> str:
        """Return what became of it, in words without numbers."""
        pair = self.words.pair(self.subject, self.other)
        if self.change.other_side:
            than = self.words.less_often(self.subject, self.other, lower=self.lower)
            return f"{than} {times.reverse}"
        if self.change.significant:
            further = self.change.direction is Direction.FURTHER
            if further and self.change.crossed:
                than = self.words.less_often(self.subject, self.other, lower=self.lower)
                return f"{than} {times.after}, and they differ more than {times.before}"
            apart = "further apart" if further else "closer together"
            return f"{capitalised(pair)} are {apart} in {self.words.how_often} {times.than_before}"
        return (
            f"The difference between {pair} in {self.words.how_often} is not what it "
            f"was {times.before}"
        )

    def span(self) -> str | None:
        """Return the interval of the change of the distance as counts, in a sentence."""
        if (apart := self.apart()) is None:
            return None
        pair = capitalised(self.words.pair(self.subject, self.other))
        stated = self.words.event is not None and self.words.words.cut is None
        how = "" if stated else f" in {self.words.how_often}"
        return f"{pair}: {apart[0]}{how} ({apart[1]})."

    def apart(self) -> tuple[str, str] | None:
        """Return that interval, as "6 to 11 of 100 closer together", and what it is called."""
        if (found := _distance(self.change)) is None:
            return None
        low, high, level = found
        if low * high < 0:
            closer, further = (size_words((0.0, abs(end)), _PER_HUNDRED)[1] for end in (low, high))
            return f"{closer} of 100 closer together to {further} of 100 further apart", level
        near, far = size_words((low, high), _PER_HUNDRED)
        return f"{near} to {far} of 100 {'further apart' if high > 0 else 'closer together'}", level


class FoundChange:
    """A change that is stated: as shares where it has some, else in the values of its metric."""

    def __init__(
        self,
        words: Vocabulary,
        change: DisparityChange,
        shares: ChangedShares | None,
        source: str,
    ) -> None:
        self.words, self.change, self.shares, self.source = words, change, shares, (source,)

    @property
    def order(self) -> tuple[bool, bool, bool, bool]:
        """Return its place: decisions that make somebody worse off first, those further apart."""
        change = self.change
        return (
            self.shares is None or not self.shares.is_of_worse_off,
            not (change.significant and change.direction is Direction.FURTHER),
            not change.other_side,
            self.shares is None or self.shares.words.event is None,
        )

    @property
    def size(self) -> float:
        """Return by how much it changes, whichever way; of ratios the logarithm."""
        change = self.change.change
        if self.change.by == "ratio":
            return abs(math.log(change)) if change else math.inf
        return abs(change or 0.0)

    @property
    def subject(self) -> object:
        """Return what it is about: a difference and a ratio of the same rates are about one."""
        if self.shares is None:
            return self.source
        return (self.shares.row.name, self.change.feature, self.shares.subject, self.shares.other,
                self.change.threshold, self.change.class_scope)  # fmt: skip

    @property
    def is_shown(self) -> bool:
        """Return whether the change is statistically significant."""
        change = self.change
        return change.significant or bool(getattr(change, "changed", False))

    def not_shown(self) -> str:
        """Return that no change of a difference is shown, with the interval of what it may be."""
        if self.shares is None:
            return f"{subject_words(self.words, self.change)}: no change is shown."
        rate = self.shares.words
        pair = rate.pair(self.shares.subject, self.shares.other)
        apart = self.shares.apart()
        range_ = f" ({apart[0]}, {apart[1]})" if apart is not None else ""
        return f"The difference between {pair} in {rate.how_often}: no change is shown{range_}."

    def headline(self, times: Times) -> str:
        """Return it in words without numbers."""
        if self.shares is not None:
            return self.shares.headline(times)
        if self.change.significant:
            further = self.change.direction is Direction.FURTHER
            row, contrast = self.change.definition, self.change
            if isinstance(row, Contrast) and contrast.reference is not None:
                group = capitalised(self.words.group(contrast.feature, contrast.group))
                other = self.words.reference(contrast)
                differ = f"{group} and {other} differ"
                rate = metric_words(row.of)
                rate += scope_words(contrast.scope, contrast.class_scope, contrast.threshold)
                if further and self.change.crossed:
                    above = (self.change.new or 0.0) > row.neutral
                    how = "higher" if above == (row.order != _REVERSED) else "lower"
                    return (
                        f"{group} have a {how} {rate} than {other} {times.after}, and they differ "
                        f"more than {times.before}"
                    )
                return f"{differ} {'more' if further else 'less'} in {rate} {times.than_before}"
            went = f"is {'further from' if further else 'closer to'} no difference"
            return f"{subject_words(self.words, self.change)}, {went} {times.than_before}"
        return f"{subject_words(self.words, self.change)}, is not what it was {times.before}"

    def sentence(self, times: Times) -> str:
        """Return it as counts of people, or in the values of its metric where it has none."""
        text = self.shares.sentence(times) if self.shares is not None else None
        return text or describe_change(self.words, self.change)

    def interval(self) -> str | None:
        """Return the interval of the change, as counts where it leads one way.

        Without counts its sentence states the interval already.
        """
        if self.shares is None:
            return None
        return (
            self.shares.span()
            or f"{subject_words(self.words, self.change)}: {shift_words(self.change)}."
        )


def each_once(found: Iterable[FoundChange]) -> list[FoundChange]:
    """Return changes once for each pair of groups and rate, by counts if it can.

    Of a metric the largest change is first, whatever the groups are called.
    """
    by_subject: dict[object, FoundChange] = {}
    for each in sorted(found, key=lambda each: each.order):
        kept = by_subject.setdefault(each.subject, each)
        by_counts = (kept.change.by, each.change.by) == ("ratio", "difference")
        if by_counts and each.order == kept.order:
            by_subject[each.subject] = each
    metrics = list(dict.fromkeys(each.change.metric for each in by_subject.values()))
    return sorted(
        by_subject.values(),
        key=lambda each: (each.order, metrics.index(each.change.metric), -each.size),
    )


def changed_shares(words: Vocabulary, change: DisparityChange) -> ChangedShares | None:
    """Return a disparity of two reports as shares, None where it compares none of all rows."""
    row = _rate(change)
    old, new = change.before, change.after
    if old is None or new is None:
        return None
    rates = (old.rate_group, new.rate_group, old.rate_reference, new.rate_reference)
    same_reference = words.reference(old) == words.reference(new)
    if row is None or None in rates or not same_reference or not RateWords(words, row).known:
        return None
    sizes = (old.n_group, new.n_group, old.n_reference, new.n_reference)
    exact = all(one.bounds is None for one in (old, new)) and not words.spec.get("weight")
    shares = [
        Share.of_rate(rate or 0.0, size if exact else None)
        for rate, size in zip(rates, sizes, strict=True)
    ]
    return ChangedShares(words, change, row, (shares[0], shares[1]), (shares[2], shares[3]))


def candidate_shares(
    words: Vocabulary, candidate: Candidate | ThresholdEffect, one: DisparityChange
) -> ChangedShares | None:
    """Return a disparity under two models or at two thresholds as shares, None without rates."""
    row = _rate(one)
    if row is None or one.reference is None or not RateWords(words, row).known:
        return None
    other = words.other_group(one)
    if other is None:
        return None
    sides = []
    for group in (one.group, other):
        found = next(
            (
                each
                for each in candidate.rates
                if (each.rate, each.feature, each.group) == (row.name, one.feature, group)
                and (each.scope, each.class_scope) == (one.scope, one.class_scope)
                and each.threshold == one.threshold
            ),
            None,
        )
        shares = found and shares_of(words, found)
        if not shares:
            return None
        sides.append(shares)
    return ChangedShares(words, one, row, sides[0], sides[1])


def shares_of(words: Vocabulary, change: RateChange) -> tuple[Share, Share] | None:
    """Return a rate before and after, None where either is not known."""
    if change.old is None or change.new is None:
        return None
    size = None if words.spec.get("weight") else change.n
    return Share.of_rate(change.old, size), Share.of_rate(change.new, size)


def _rate(change: DisparityChange) -> Rate | None:
    """Return the rate that a disparity of all rows compares, None of any other."""
    row, contrast = compared_rate(change.definition), change
    whole = contrast.scope.kind is ScopeKind.OVERALL and contrast.class_scope.is_single
    return row if isinstance(row, Rate) and whole else None


def _distance(change: DisparityChange) -> tuple[float, float, str] | None:
    """Return the interval of the change of the distance of two shares, and what it is called."""
    if change.crossed or change.by == "ratio" or unit(change.definition) is not Unit.POINTS:
        return None
    interval: Interval | None
    if change.before is not None:
        interval, turned = change.interval, (change.new or 0.0) < 0
    else:
        interval, turned = change.distance_adjusted, False
    if interval is None:
        return None
    low, high = (-interval.high, -interval.low) if turned else (interval.low, interval.high)
    return low, high, f"{100 * interval.level:.4g}% CI"


def describe_change(words: Vocabulary, change: DisparityChange) -> str:
    """Return a disparity before and after in the values of its metric, where it has no shares."""
    values = [describe_disparity(change.definition, e) for e in (change.old, change.new)]
    went = DIRECTIONS[change.direction] if change.significant else ""
    sides = sides_words(change, words.favourable)
    became = "; ".join(filter(None, [shift_words(change), sides, went]))
    return f"{subject_words(words, change)}: {f' {ARROW} '.join(values)} ({became})."


def subject_words(words: Vocabulary, change: DisparityChange) -> str:
    """Return what a disparity is of: "Selection rate difference of women, compared with men"."""
    contrast = change
    text = capitalised(metric_words(change.definition))
    if contrast.feature is not None and not is_of_all_groups(change.definition):
        text += f" of {words.group(contrast.feature, contrast.group)}"
        if contrast.reference is not None:
            other = words.reference(contrast)
            before = other if change.before is None else words.reference(change.before)
            text += f", compared with {other}"
            if before != other:
                text += f" (in the old report with {before})"
    elif contrast.feature is not None:
        text += f", {contrast.feature}"
    return text + scope_words(contrast.scope, contrast.class_scope, contrast.threshold)
