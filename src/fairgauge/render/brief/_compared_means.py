"""Comparisons of two groups in a mean or another number of theirs, in the words of its column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fairgauge.catalogue.moments import Mean, RegressionTerm
from fairgauge.catalogue.row_metrics import RowMetric
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import ClassKind
from fairgauge.render.brief._vocabulary import Vocabulary
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.numbers import minus, probability
from fairgauge.results.disadvantage import adverse_sign
from fairgauge.results.disparities import gap, is_ratio, singled_out
from fairgauge.results.estimates import Estimate

_DIGITS, _MOST_DECIMALS = 2, 6
_ANY = "any amount"
"""An end of an interval that the data do not bound."""
_ROUNDING, _LEAST = 1e-9, 1e-12
"""Numbers that are no further apart, relative to their size and absolutely, are the same."""
_COLUMN_OF = {RegressionTerm.LABEL: "label", RegressionTerm.PREDICTION: "prediction"}


class ComparedMeans:
    """A comparison of two groups in a number that is no share: a mean, an error, an AUC.

    It is read from the side that is worse off, where the words of the user, or the metric, state
    which direction that is; else, and without ``turn``, from the side of its group.

    Attributes
    ----------
    subject, other : what the people of both sides are called.
    alone : whether its interval is of the comparison by itself, not of all comparisons together.
    has_direction : whether one direction is the worse one for people.
    is_worse : whether the subject is worse off; False also where no direction is the worse one.
    """

    def __init__(
        self,
        words: Vocabulary,
        contrast: Estimate,
        row: Statistic | RowMetric,
        *,
        alone: bool = False,
        turn: bool = True,
    ) -> None:
        self.words, self.contrast, self.row = words, contrast, row
        self.alone = alone
        found = contrast if alone else singled_out(contrast)
        self.is_ratio = is_ratio(contrast.definition)
        self.subject = words.group(contrast.feature, contrast.group)
        self.other = words.reference(contrast)
        self.values = (contrast.rate_group, contrast.rate_reference)
        adverse = adverse_sign(row, words.favourable)
        self.has_direction = adverse != 0
        self.is_worse = adverse * gap(contrast) > 0
        ends = None if found.low is None or found.high is None else (found.low, found.high)
        if ends is not None and not self.is_ratio and gap(contrast) != contrast.value:
            ends = (-ends[1], -ends[0])
        if turn and adverse * gap(contrast) < 0 and words.other_group(contrast) is not None:
            self.subject, self.other, self.is_worse = self.other, self.subject, True
            self.values = (self.values[1], self.values[0])
            ends = None if ends is None else self._turned(ends)
        self.interval = ends

    def _turned(self, ends: tuple[float, float]) -> tuple[float, float] | None:
        if not self.is_ratio:
            return -ends[1], -ends[0]
        return (1 / ends[1], 1 / ends[0]) if ends[0] > 0 else None

    @property
    def known(self) -> bool:
        """Return whether both sides have a number."""
        return all(each is not None and math.isfinite(each) for each in self.values)

    @property
    def is_same(self) -> bool:
        """Return whether both sides have the same number, but for rounding."""
        mine, theirs = (value or 0.0 for value in self.values)
        return self.known and _is_same(mine, theirs)

    @property
    def name(self) -> str:
        """Return what is compared: "average rate spread", "F1 of rating = high"."""
        name, scope = quantity(self.words.spec, self.row), self.contrast.class_scope
        if scope.average is not None:
            name = f"{scope.average} average {name}"
        elif scope.name is not None:
            name = f"{name} = {called(scope.name)}"
        if self.contrast.threshold in self.words.decisions_by_cut:
            name = f"{name} at threshold {self.contrast.threshold:g}"
        return name

    @property
    def of_whom(self) -> str:
        """Return what of whom its sentence is of: "Average rate spread of women"."""
        return f"{capitalised(self.name)} of {self.subject}"

    @property
    def is_higher(self) -> bool:
        """Return whether the number of the subject is the higher one."""
        mine, theirs = (value or 0.0 for value in self.values)
        return mine > theirs

    @property
    def verb(self) -> str:
        """Return the verb of its name, which of odds is a plural."""
        return "are" if isinstance(self.row, Statistic) and self.row.plural else "is"

    def headline(self) -> str | None:
        """Return the comparison in few words: "Average pay is lower for women than for men"."""
        if not self.known:
            return None
        if self.is_same:
            name = capitalised(self.name)
            return f"{name} {self.verb} the same for {self.subject} as for {self.other}"
        if self.is_bias:
            return self._error_headline()
        name, direction = capitalised(self.name), "higher" if self.is_higher else "lower"
        return f"{name} {self.verb} {direction} for {self.subject} than for {self.other}"

    def _error_headline(self) -> str:
        """Return for whom predictions are further above or below the label, and by how much."""
        label, prediction = columns_of(self.words.spec)
        mine, theirs = (value or 0.0 for value in self.values)
        (apart, *_), _ = _agreeing([abs(mine - theirs), mine, theirs], self._scale)
        sides = f"for {self.subject} than for {self.other}"
        if mine * theirs <= 0:  # which of them is above the label for certain is not tested
            direction = "higher" if self.is_higher else "lower"
            return f"Relative to {label}, {prediction} is on average {apart} {direction} {sides}"
        if abs(mine) < abs(theirs):
            sides = f"for {self.other} than for {self.subject}"
        is_off = "exceeds" if mine > 0 else "falls short of"
        return f"On average {prediction} {is_off} {label} by {apart} more {sides}"

    @property
    def is_bias(self) -> bool:
        """Return whether it compares by how much predictions are too high or too low."""
        return isinstance(self.row, Mean) and self.row.of is RegressionTerm.ERROR

    def sentence(self) -> str | None:
        """Return both numbers: "Average rate spread: 0.31 higher for women (2.11) than for men"."""
        if not self.known:
            return None
        mine, theirs = (value or 0.0 for value in self.values)
        (apart, *shown), agree = _agreeing([abs(mine - theirs), mine, theirs], self._scale)
        by = f"{apart} " if agree else ""
        if self.is_bias:
            return self._error_sentence(shown)
        if self.is_same:
            return (
                f"{capitalised(self.name)}: the same for {self.subject} as for {self.other} "
                f"({shown[0]}).{worst_of_classes(self.contrast)}"
            )
        direction = "higher" if self.is_higher else "lower"
        return (
            f"{capitalised(self.name)}: {by}{direction} for {self.subject} ({shown[0]}) than for "
            f"{self.other} ({shown[1]}){self._times(mine, theirs)}."
            f"{worst_of_classes(self.contrast)}"
        )

    def _error_sentence(self, shown: Sequence[str]) -> str:
        """Return by how much predictions are too high or too low on average."""
        label, prediction = columns_of(self.words.spec)
        mine, theirs = (
            "neither too high nor too low"
            if _is_same(value or 0.0, 0.0)
            else f"{number.removeprefix('−')} {'too low' if (value or 0) < 0 else 'too high'}"
            for number, value in zip(shown, self.values, strict=True)
        )
        sides = f"{mine} for {self.subject} and {theirs} for {self.other}"
        if self.is_same:
            sides = f"{mine}, for {self.subject} as for {self.other}"
        return f"Compared with {label}, {prediction} is on average {sides}."

    def _times(self, mine: float, theirs: float) -> str:
        """Return how many times as large one mean is, where a ratio of it has a meaning."""
        of_amounts = isinstance(self.row, RowMetric) or (
            isinstance(self.row, Mean) and not self.row.signed
        )
        if not of_amounts or mine <= 0 or theirs <= 0:
            return ""
        return f", {_ratio(mine / theirs)} times as high"

    @property
    def _scale(self) -> float:
        """Return the smallest number that must not be rounded away: less so in a wide range."""
        mine, theirs = (value or 0.0 for value in self.values)
        ends = self.interval
        if ends is None or self.is_ratio or not ends[0] <= 0 <= ends[1]:
            return abs(mine - theirs)
        return max(abs(mine - theirs), max(map(abs, ends)) / 10)

    def not_shown(self, of: int) -> str | None:
        """Return both numbers of the largest of some differences, none of which is significant."""
        if (text := self.sentence()) is None:
            return None
        if self.is_same:
            return text
        mine, theirs = (value or 0.0 for value in self.values)
        size = f" of {_number(abs(mine - theirs), _decimals(self._scale))}" * self.is_bias
        which = f", the largest of {of:,}," if of > 1 else ""
        return f"{text} This difference{size}{which} is not statistically significant."

    def not_excluded(self) -> str | None:
        """Return the interval in words, and the largest difference that it includes."""
        text = self.interval_sentence()
        if text is None or self.interval is None or self.is_ratio or self.interval == (0, 0):
            return text
        most = _number(max(map(abs, self.interval)), _decimals(self._scale))
        up_to = "" if most == _ANY else "up to "
        return f"{text} The data do not exclude differences of {up_to}{most}."

    def interval_sentence(self) -> str | None:
        """Return the interval in words: "between 0.27 and 0.32 higher"."""
        if self.interval is None or not self.known:
            return None
        level = f"{100 * (self.contrast.confidence or 0):.4g}% CI"
        span = _range(self.interval, self._scale, self.is_ratio)
        p_value = probability(self.contrast.p_adjusted, "adjusted p") if self.alone else ""
        level = ", ".join(filter(None, [level, p_value]))
        return f"{capitalised(self.name)} for {self.subject}: {span} ({level})."

    def span(self, ends: tuple[float, float]) -> str:
        """Return the ends of a difference of the means: "between 0.27 and 0.32 higher"."""
        return _range(ends, self._scale, by_ratio=False)

    def of_interval(self, contrast: Estimate) -> str | None:
        """Return the interval of another contrast of the same people: the one within strata."""
        if contrast.interval is None or is_ratio(contrast.definition):
            return None
        low, high = contrast.interval
        if (contrast.value != gap(contrast)) != (self.values[0] != self.contrast.rate_group):
            low, high = -high, -low
        level = f"{100 * contrast.interval.level:.4g}% CI"
        return f"{_range((low, high), self._scale, by_ratio=False)} ({level})"


def _is_same(mine: float, theirs: float) -> bool:
    return math.isclose(mine, theirs, rel_tol=_ROUNDING, abs_tol=_LEAST)


def quantity(spec: Any, row: Statistic | RowMetric) -> str:
    """Return what a number of a group is, with the names of the columns that it is of."""
    label, prediction = columns_of(spec)
    if isinstance(row, RowMetric):
        return f"median {label}" if row.q == 0.5 else f"{row.q:g} quantile of {label}"
    if not isinstance(row, Mean):
        of = spec.get("score") or spec.get("prediction")
        return f"{row.title} of {called(of).replace('_', ' ')}" if of else row.title
    return {
        RegressionTerm.LABEL: f"average {label}",
        RegressionTerm.PREDICTION: f"average {prediction}",
        RegressionTerm.ERROR: f"average error of {prediction} ({prediction} minus {label})",
        RegressionTerm.ABSOLUTE_ERROR: f"average size of errors in {prediction}",
        RegressionTerm.SQUARED_ERROR: f"average squared error of {prediction}",
    }[row.of]


def worst_of_classes(contrast: Estimate) -> str:
    """Return that the class of a comparison was chosen from all, where it was."""
    if contrast.class_scope.kind is not ClassKind.WORST:
        return ""
    return f" No class differs more than class {called(contrast.class_)}."


def columns_of(spec: Any) -> tuple[str, str]:
    """Return the columns of the label and of the prediction as words."""
    label, prediction = (
        called(spec.get(role) or role).replace("_", " ") for role in ("label", "prediction")
    )
    return label, prediction


def _agreeing(values: Sequence[float], scale: float) -> tuple[list[str], bool]:
    """Return a distance and both its sides with decimals at which what is printed adds up."""
    first = _decimals(scale)
    while first < _MOST_DECIMALS and any(round(value, first) == 0 != value for value in values):
        first += 1
    for decimals in (first, first + 1):
        distance, mine, theirs = (round(value, decimals) for value in values)
        if math.isclose(abs(mine - theirs), distance, abs_tol=10.0 ** -(decimals + 1)):
            return [_number(value, decimals) for value in values], True
    return [_number(value, first) for value in values], False


def _decimals(scale: float) -> int:
    """Return how many decimals show two digits of a number."""
    if scale == 0 or not math.isfinite(scale):
        return _DIGITS
    return min(max(0, _DIGITS - 1 - math.floor(math.log10(scale))), _MOST_DECIMALS)


def _number(value: float, decimals: int) -> str:
    if math.isinf(value):
        return _ANY
    text = f"{value:,.{decimals}f}"
    return minus(text if float(text.replace(",", "")) else text.removeprefix("-"))


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.01 else f"{value:.2g}"


def _range(ends: tuple[float, float], scale: float, by_ratio: bool) -> str:
    """Return an interval in words; what is not "no difference" is not rounded onto it.

    >>> _range((0.271, 0.322), 0.3, by_ratio=False), _range((-0.4, 0.02), 0.3, by_ratio=False)
    ('between 0.27 and 0.32 higher', 'between 0.40 lower and 0.02 higher')
    >>> _range((-1.189, -1.171), 1.18, by_ratio=False)
    'between 1.17 and 1.19 lower'
    >>> _range((1.151, 1.179), 0.3, by_ratio=True)
    'between 1.15 and 1.18 times as high'
    >>> _range((0.0, 0.0), 0.0, by_ratio=False)
    'no difference'
    >>> _range((-math.inf, math.inf), 0.3, by_ratio=False)
    'between any amount lower and any amount higher'
    >>> _range((-math.inf, -0.3), 0.3, by_ratio=False), _range((1.2, math.inf), 1, by_ratio=True)
    ('at least 0.30 lower', 'at least 1.20 times as high')
    """
    if {*ends} == {1.0 if by_ratio else 0.0}:
        return "no difference"
    if by_ratio:
        decimals = 2
        while decimals < _MOST_DECIMALS and any(round(e, decimals) == 1 != e for e in ends):
            decimals += 1
        low, high = (f"{end:.{decimals}f}" for end in ends)
        if math.isinf(ends[1]):
            return f"at least {low} times as high"
        return f"between {low} and {high} times as high"
    decimals = _decimals(scale)
    while decimals < _MOST_DECIMALS and (
        any(round(e, decimals) == 0 != e for e in ends)
        or round(ends[0], decimals) == round(ends[1], decimals) != ends[0]
    ):
        decimals += 1
    near, far = (_number(abs(end), decimals) for end in sorted(ends, key=abs))
    if ends[0] < 0 < ends[1]:
        low, high = (_number(abs(end), decimals) for end in ends)
        return f"between {low} lower and {high} higher"
    side = "higher" if ends[1] > 0 else "lower"
    return f"at least {near} {side}" if far == _ANY else f"between {near} and {far} {side}"
