"""Comparisons of two groups in a share of rows, as counts of people and in words."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from fairgauge.catalogue.cells import FN, FP, TN, TP, Cells
from fairgauge.enums import Better, Favourable, ReferenceKind
from fairgauge.render.brief._frequencies import Share, frequencies, range_words
from fairgauge.render.words.display_names import capitalised
from fairgauge.results.disparities import gap, singled_out

if TYPE_CHECKING:
    from fairgauge.catalogue.statistics import Rate
    from fairgauge.render.brief._vocabulary import Event, Vocabulary
    from fairgauge.results.estimates import Estimate, Group
    from fairgauge.results.report import Report

_PER_HUNDRED = 100
_DECISIONS = (TP + FP, TN + FN)
_OUTCOMES = (TP + FN, TN + FP)


class ComparedShares:
    """A comparison of two groups in a share of rows, read from the side that is worse off.

    Attributes
    ----------
    contrast, row : the comparison, and the rate that it compares.
    subject, other : what the people of both sides are called.
    shares : of the subject, then of the other; None where it is not known.
    interval : of subject minus other, None where there is none.
    lower : whether the share of the subject is the lower one.
    """

    def __init__(self, report: Report, words: Vocabulary, contrast: Estimate, row: Rate) -> None:
        self.contrast, self.row, self.words = contrast, row, words
        group = words.group(contrast.feature, contrast.group)
        reference = words.reference(contrast)
        shown = singled_out(contrast)
        ends = None
        if shown.low is not None and shown.high is not None and contrast.definition.neutral == 0:
            turned = contrast.value is not None and gap(contrast) != contrast.value
            ends = (-shown.high, -shown.low) if turned else (shown.low, shown.high)
        sides = (_share(report, contrast, row), _reference_share(report, contrast, row))
        self.turned = self._worse(gap(contrast)) is False and _is_one_group(words, contrast)
        if self.turned:
            group, reference = reference, group
            sides = (sides[1], sides[0])
            ends = None if ends is None else (-ends[1], -ends[0])
        self.subject, self.other = group, reference
        self.shares, self.interval = sides, ends
        self.lower = (gap(contrast) < 0) != self.turned

    def _worse(self, difference: float) -> bool | None:
        """Return whether a difference is to the disadvantage of its group; None if of neither."""
        adverse = adverse_sign(self.row, self.words.favourable)
        return None if adverse == 0 else difference * adverse > 0

    @property
    def is_worse(self) -> bool:
        """Return whether the subject is worse off."""
        return bool(self._worse(-1.0 if self.lower else 1.0))

    @property
    def event(self) -> Event | None:
        """Return what the rate counts; None of a decision that fits the outcome, or does not."""
        cells = event_of(self.row)
        return None if cells is None else self.words.event(cells)

    @property
    def can_be_worded(self) -> bool:
        """Return whether there are words for the rows that the rate is among, and its event."""
        return self.words.knows(self.row.among) and (self.event is not None or _fits(self.row))

    def sentence(self) -> str | None:
        """Return both shares as counts: "Of 100 women, 36 were approved; of 100 men, 53."."""
        mine, theirs = self.shares
        found = None
        if mine is not None and theirs is not None and self.can_be_worded:
            found = frequencies(mine, theirs, self.interval)
        if found is None or mine is None or theirs is None:
            return None
        sizes = (mine.size, theirs.size) if found.of is None else (found.of, found.of)
        first, second = (f"{size:,}" for size in sizes if size is not None)
        estimated = "an estimated " if mine.hits is None else ""
        if self.event is None:
            return (
                f"For {first} {self.subject} the decision {self._fits} the outcome {estimated}"
                f"{found.group:,} times; for {second} {self.other}, {found.reference:,} times."
            )
        return (
            f"Of {first} {self._among(self.subject)}, {estimated}{found.group:,} "
            f"{self.event.happened}; of {second} {self.other}, {found.reference:,}."
        )

    def interval_sentence(self) -> str | None:
        """Return the interval as counts: "between 14 and 20 fewer of 100 were approved"."""
        mine, theirs = self.shares
        level = self.contrast.confidence
        if self.interval is None or mine is None or theirs is None or not self.can_be_worded:
            return None
        found = frequencies(mine, theirs, self.interval)
        of = _PER_HUNDRED if found is None or found.of is None else found.of
        event = "are decided as the outcome is" if self.event is None else self.event.happened
        if self.event is None and self._fits != "fits":
            event = "are decided unlike the outcome"
        return (
            f"{capitalised(self._among(self.subject))}, compared with {self.other}: "
            f"{range_words(self.interval, of)} {event} ({100 * (level or 0):.4g}% CI)."
        )

    def headline(self) -> str | None:
        """Return the comparison in words without numbers."""
        often = f"{'less' if self.lower else 'more'} often"
        if not self.can_be_worded:
            return None
        if self.event is None:
            return (
                f"The decision {self._fits} the outcome {often} for {self.subject} than for "
                f"{self.other}"
            )
        subject, other = self._among(self.subject), self._among(self.other)
        verb = self.event.happens if subject == self.subject else self.event.happened
        return f"{capitalised(subject)} {verb} {often} than {other}"

    def condition(self) -> str:
        """Return whom the rate is among: "who repaid"; empty where it is of all."""
        return self.words.among(self.row.among)

    def _among(self, people: str) -> str:
        return self.words.joined(people, self.condition())

    @property
    def _fits(self) -> str:
        return "fits" if self.row.of == TP + TN else "does not fit"


def adverse_sign(row: Rate, favourable: Favourable) -> int:
    """Return the sign of a difference that is to the disadvantage of a group; 0 of neither.

    Where the negative decision is the better one for a person, to be selected is a harm, as is to
    be selected wrongly. Predictive values have no direction: a higher one may mean a higher bar.
    """
    if favourable is Favourable.NEITHER or row.better is Better.NEITHER:
        return 0
    if _fits(row):
        return -1 if row.of == TP + TN else 1
    event = event_of(row)
    if event not in (TP + FP, TN + FN):
        return 0
    to_decision = event == TP + FP
    good = favourable is Favourable.POSITIVE
    if row.among == TN + FP and good:
        return 0  # a favourable decision in spite of the outcome may be a gift or a burden
    if row.among == TP + FN and not good:
        return 0
    return -1 if to_decision == good else 1


def event_of(row: Rate) -> Cells | None:
    """Return the sum of cells that a rate's event is among all rows: TP of TP + FN is TP + FP."""
    for event in (*_DECISIONS, *_OUTCOMES):
        if row.among != event and _overlap(event, row.among) == row.of:
            return event
    return None


def _fits(row: Rate) -> bool:
    """Return whether a rate is of decisions that fit the outcome, or that do not."""
    return row.of in (TP + TN, FP + FN)


def _overlap(event: Cells, among: Cells) -> Cells:
    coefficients = zip(event.coefficients, among.coefficients, strict=True)
    return Cells(*(a * b for a, b in coefficients))


def _is_one_group(words: Vocabulary, contrast: Estimate) -> bool:
    """Return whether the reference is one group, so that a comparison can be read backwards."""
    reference = contrast.reference
    if reference is None:
        return False
    if reference.group is not None:
        return True
    return reference.kind is ReferenceKind.OTHERS and len(words.others(contrast)) == 1


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
        and group.class_scope == contrast.class_scope
        and group.threshold == contrast.threshold
    )
