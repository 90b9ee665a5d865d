"""A comparison of two groups before and after: of two reports, or under two models on one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairgauge.catalogue.comparisons import is_of_all_groups
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import Direction, ScopeKind
from fairgauge.render.brief._compared_shares import RateWords
from fairgauge.render.brief._frequencies import (
    Share,
    counted_changes,
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
)
from fairgauge.results.changes import DisparityChange, RateChange
from fairgauge.results.comparison import Candidate
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
