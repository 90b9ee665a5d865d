"""A gap and its parts as counts of people, in the words of the user."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from fairgauge.catalogue.moments import Mean
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import ClassKind, GapPartKind, GapVerdict, WhyInconclusive
from fairgauge.identity import FeatureId, GroupId
from fairgauge.render._document_tree import Unit
from fairgauge.render.brief._compared_means import ComparedMeans
from fairgauge.render.brief._compared_shares import RateWords
from fairgauge.render.brief._frequencies import Share, frequencies
from fairgauge.render.brief._vocabulary import Vocabulary
from fairgauge.render.words.decomposition_sentences import (
    direction,
    outlying_places,
    strata_words,
)
from fairgauge.render.words.metric_words import compared_rate, shown
from fairgauge.results.disparities import gap as distance
from fairgauge.results.gap_decomposition import Decomposition, Gap, StratumGap

_MOST_STRATA = 2
_PER_HUNDRED = 100


def gap_words(found: Decomposition) -> Vocabulary:
    """Return the words of a decomposition."""
    named: dict[tuple[str, str], tuple[FeatureId | None, GroupId | None]] = {}
    for each in (gap.estimate for gap in found.gaps):
        feature = str(each.feature)
        if each.mirror_of is not None:
            named.setdefault((feature, each.mirror_of), (None, None))
        named[feature, str(each.group)] = (each.feature_id, each.group_id)
    return Vocabulary(found.spec, [(*key, *ids) for key, ids in named.items()])


class GapInWords:
    """A gap in a share of people, or in an average, read from the side that is worse off.

    Attributes
    ----------
    known : whether there are words for it: it is of a share of a decision or an outcome, or of the
        mean of a column.
    """

    def __init__(self, words: Vocabulary, gap: Gap) -> None:
        estimate = gap.estimate
        row = compared_rate(estimate.definition)
        of_class = estimate.class_scope.kind is not ClassKind.NONE
        self.gap, self.known = gap, isinstance(row, Rate | Mean) and not of_class
        self.means: ComparedMeans | None = None
        if isinstance(row, Mean) and not of_class:
            self.means = ComparedMeans(words, estimate, row)
            self.known = self.means.known
            self.subject, self.other = self.means.subject, self.means.other
            self.turned = self.subject != words.group(estimate.feature, estimate.group)
        if not isinstance(row, Rate) or of_class:
            return
        self.rate = RateWords(words.at(estimate.class_scope, estimate.threshold), row)
        self.known = self.rate.known and self.rate.event is not None
        self.subject = words.group(estimate.feature, estimate.group)
        self.other = words.reference(estimate)
        better = self.rate.worse(distance(estimate)) is False
        self.turned = better and words.is_one_group(estimate)
        if self.turned:
            self.subject, self.other = self.other, self.subject
        self.weighted = bool(words.spec.get("weight"))

    def headline(self) -> str:
        """Return who has it less often, and what becomes of that within strata."""
        within = f"within {strata_words(self.gap)}"
        text = self._compared()
        reason = self.gap.reason
        becomes = {
            GapVerdict.REMAINS: f", also {within}{' on average' if self.gap.varies else ''}",
            GapVerdict.REVERSES: f", but the reverse holds {within}",
            GapVerdict.WITHIN_MARGIN: f", but {within} by no more than the margin",
            GapVerdict.ACCOUNTED_FOR: f", but {within} no difference is shown",
            GapVerdict.NO_GAP: "",
            GapVerdict.INCONCLUSIVE: f"; what remains {within} is inconclusive",
        }
        if reason is WhyInconclusive.VARIES:  # a stratum that is named states how
            named = outlying_places(self.gap)
            return text if named else f"{text}; {within} the difference varies"
        if reason is WhyInconclusive.OFFSET:
            return f"{text}, but {within} there is one"
        return f"{text}{becomes[self.gap.verdict]}"

    def _compared(self) -> str:
        """Return who has it less often or a lower average, or that no difference is shown."""
        if self.means is not None:
            none = f"No difference between {self.subject} and {self.other} in the {self.means.name}"
            return (self.gap.is_shown and self.means.headline()) or f"{none} is shown"
        if self.gap.is_shown:
            lower = (distance(self.gap.estimate) < 0) != self.turned
            return self.rate.less_often(self.subject, self.other, lower=lower)
        pair = self.rate.pair(self.subject, self.other)
        return f"No difference between {pair} in {self.rate.how_often} is shown"

    def sentences(self) -> Iterator[str]:
        """Yield both shares as counts, the parts of their difference, and strata that stand out."""
        estimate = self.gap.estimate
        if self.means is not None:
            yield self.means.sentence() or f"{estimate.says}."
            if parts := self._parts():
                yield parts
            return
        counted = self._counted(
            (estimate.rate_group, estimate.n_group), (estimate.rate_reference, estimate.n_reference)
        )
        yield f"{counted}." if counted else f"{estimate.says}."
        if parts := self._parts():
            yield parts
        stand_out = [
            (name, each) for name, each in outlying_places(self.gap) if isinstance(each, StratumGap)
        ]
        for name, each in stand_out[:_MOST_STRATA]:
            counted = self._counted(
                (each.rate_group, each.n_group), (each.rate_reference, each.n_reference)
            )
            if counted:
                how = direction(self.gap, each)
                yield f"In {name} the difference is {how}: {counted[0].lower()}{counted[1:]}."

    def _counted(
        self, mine: tuple[float | None, float | None], theirs: tuple[float | None, float | None]
    ) -> str | None:
        shares = [self._share(*side) for side in (mine, theirs)]
        if self.turned:
            shares.reverse()
        one, other = shares
        if one is None or other is None or (found := frequencies(one, other)) is None:
            return None
        sizes = (one.size, other.size) if found.of is None else (found.of, found.of)
        first, second = (f"{size:,}" for size in sizes if size is not None)
        beside = self.rate.counted_beside(second, self.other, f"{found.reference:,}")
        return f"{self.rate.counted(first, self.subject, f'{found.group:,}')}; {beside}"

    def _share(self, rate: float | None, n: float | None) -> Share | None:
        if rate is None or not n:
            return None
        if self.weighted:
            return Share(Fraction(rate), size=math.floor(n))
        return Share.counted(round(rate * n), round(n))

    def _parts(self) -> str | None:
        """Return what composition accounts for and what is within strata, of 100 or on average."""
        if self.gap.scale != "difference":
            return None
        values = {part.part: part.value for part in self.gap.parts if part.column is None}
        try:
            within = self.gap.part(GapPartKind.WITHIN).value
            composition = self.gap.part(GapPartKind.COMPOSITION).value
        except KeyError:
            return None
        if within is None or composition is None or values.get(GapPartKind.NOT_COMPARABLE):
            return None
        sign = -1 if self.turned else 1
        worded = _of_hundred if self.means is None else _as_amount
        by_strata, inside = (worded(sign * value) for value in (composition, within))
        strata = strata_words(self.gap)
        accounts = f"Composition by {strata} accounts for"
        if self.means is not None:
            return f"{accounts} an average {by_strata}; within {strata} the average is {inside}."
        return f"{accounts} {by_strata} of 100; within {strata} the difference is {inside}."


def _as_amount(value: float) -> str:
    """Return a difference of averages: lower or higher by so much."""
    return f"{shown(abs(value), Unit.NUMBER)} {'lower' if value < 0 else 'higher'}"


def _of_hundred(value: float) -> str:
    """Return a difference of shares as a count of 100, which may be a part of one.

    >>> _of_hundred(-0.178), _of_hundred(0.0364), _of_hundred(-0.0003)
    ('17.8 fewer', '3.6 more', 'less than 0.1')
    """
    text = f"{abs(_PER_HUNDRED * value):.1f}"
    return "less than 0.1" if text == "0.0" else f"{text} {'fewer' if value < 0 else 'more'}"
