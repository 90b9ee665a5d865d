"""Disadvantage: which side of a comparison is worse off, by what is better for a person.

What is better is the user's to state (``favourable``), or follows from the rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP, Cells
from fairgauge.catalogue.comparisons import RowMetric
from fairgauge.catalogue.lookup import selections_called
from fairgauge.catalogue.score_statistics import Mean
from fairgauge.catalogue.statistics import Quotient, Rate, Statistic
from fairgauge.enums import Better, Favourable, ReferenceKind
from fairgauge.errors import alternatives, quote
from fairgauge.values import name_of

if TYPE_CHECKING:
    from fairgauge.results.estimates import DisparityChange, Estimate
    from fairgauge.results.scopes import ClassScope

AnyComparison: TypeAlias = "Estimate | DisparityChange"

AMOUNTS = {Favourable.HIGHER: -1, Favourable.LOWER: 1}
"""The sign of a difference of amounts to the disadvantage of a group, by what is better."""
OPPOSITES = {TP + FP: TN + FN, TN + FN: TP + FP, TP + FN: TN + FP, TN + FP: TP + FN}
"""The decisions and the outcomes, each with its opposite."""
_SIGN_OF_RATE = {Better.HIGHER: -1, Better.LOWER: 1, Better.NEITHER: 0}
_TURNED = {Better.HIGHER: Better.LOWER, Better.LOWER: Better.HIGHER}
_OF_AMOUNTS = {Favourable.HIGHER: Better.HIGHER, Favourable.LOWER: Better.LOWER}


def favourable_of(spec: Mapping[str, Any]) -> Favourable:
    """Return what is better for a person, as a result was asked."""
    return Favourable(spec.get("favourable") or Favourable.POSITIVE)


def harm_in_words(spec: Mapping[str, Any]) -> tuple[Statistic, ...]:
    """Return the rates of decisions in words of harm, where the positive one is: not "selected"."""
    column, values = spec.get("prediction"), spec.get("positive") or [1]
    words = spec.get("words") or {}
    event, opposite = words.get("positive"), words.get("negative")
    if favourable_of(spec) is not Favourable.NEGATIVE or spec.get("preset"):
        return ()
    if event or opposite:
        return selections_called(event or f"not {opposite}", opposite or f"not {event}", "is")
    if not column or not isinstance(values, (list, tuple)):
        return ()
    named = alternatives(map(name_of, values))
    first, second = (quote(f"{column} {which} {named}")[1:-1] for which in ("=", "other than"))
    return selections_called(first, second, "has", quoted="“{}”")


def favourable_in(favourable: Favourable, scope: ClassScope) -> Favourable:
    """Return what is better in one class: which of several classes is better nobody stated."""
    one_class = scope.name is not None
    return Favourable.NEITHER if one_class else favourable


def better_of(row: Statistic, favourable: Favourable | None) -> Better:
    """Return which direction of a number favours a group, by what is favourable for a person.

    Of a mean of the table's own numbers only the user states it: a price, or a pay.
    """
    if isinstance(row, Mean) and row.better is Better.NEITHER:
        return _OF_AMOUNTS.get(favourable or Favourable.POSITIVE, Better.NEITHER)
    if not counts_outcomes(row) or favourable not in (Favourable.NEGATIVE, Favourable.NEITHER):
        return row.better
    turned = favourable is Favourable.NEGATIVE
    return _TURNED.get(row.better, Better.NEITHER) if turned else Better.NEITHER


def counts_outcomes(row: Statistic) -> bool:
    """Return whether a number only counts how often an outcome, or a decision, is positive."""
    if isinstance(row, Quotient):
        return OPPOSITES.get(row.over) == row.under
    return isinstance(row, Rate) and row.among == ALL and row.of in OPPOSITES


def has_direction(row: Statistic, favourable: Favourable | None) -> bool:
    """Return whether one direction of a rate is the worse one for a group."""
    ambivalent = row.ambivalent
    if favourable is Favourable.NEGATIVE and isinstance(row, Rate):
        ambivalent = row.among == TP + FN and event_of(row) in (TP + FP, TN + FN)
    return not ambivalent and better_of(row, favourable) is not Better.NEITHER


def favours_the_least(row: Statistic, favourable: Favourable | None) -> bool:
    """Return whether the least number is the best: of negative outcomes, such as labels, too."""
    better = better_of(row, favourable)
    if better is not Better.NEITHER:
        return better is Better.LOWER
    of_negatives = isinstance(row, Rate) and not row.of[0]
    return of_negatives != (favourable is Favourable.NEGATIVE)


def is_worse_off(row: Statistic | RowMetric, difference: float, favourable: Favourable) -> bool:
    """Return whether a difference is to the disadvantage of its group."""
    if isinstance(row, RowMetric):
        return adverse_sign(row, favourable) * difference > 0
    stated = favourable is Favourable.NEGATIVE and counts_outcomes(row)
    if not stated and not has_direction(row, favourable):
        return False
    return difference > 0 if favours_the_least(row, favourable) else difference < 0


def adverse_sign(row: Statistic | RowMetric, favourable: Favourable) -> int:
    """Return the sign of a difference that is to the disadvantage of a group; 0 of neither.

    Predictive values have no direction: a higher one may mean a higher bar.
    """
    if isinstance(row, RowMetric):
        if row.q is not None:  # a quantile of the table's own numbers
            return AMOUNTS.get(favourable, 0)
        good = {Favourable.POSITIVE: -1, Favourable.NEGATIVE: 1}.get(favourable, 0)
        return good if row.kind in ("top", "exposure") else 0
    if isinstance(row, Rate):
        return _sign_of_share(row, favourable)
    return _SIGN_OF_RATE[better_of(row, favourable)]


def _sign_of_share(row: Rate, favourable: Favourable) -> int:
    if favourable is Favourable.NEITHER or row.better is Better.NEITHER:
        return 0
    if is_of_fit(row):
        return -1 if row.of == TP + TN else 1
    event = event_of(row)
    if event not in (TP + FP, TN + FN):
        return 0
    good = favourable is Favourable.POSITIVE
    if row.among == (TN + FP if good else TP + FN):
        return 0  # a favourable decision in spite of the outcome may be a gift or a burden
    return -1 if good == (event == TP + FP) else 1


def event_of(row: Rate) -> Cells | None:
    """Return the sum of cells that a rate's event is among all rows: TP of TP + FN is TP + FP."""
    for event in OPPOSITES:
        both = Cells(*(a * b for a, b in zip(event, row.among, strict=True)))
        if row.among != event and both == row.of:
            return event
    return None


def is_of_fit(row: Rate) -> bool:
    """Return whether a rate is of decisions that match the outcome, or do not."""
    return row.of in (TP + TN, FP + FN)


def other_group(groups: Iterable[tuple[str, str]], contrast: AnyComparison) -> str | None:
    """Return the one group that a group is compared with: of two groups all others are one.

    None where it is compared with several together. ``groups`` are features with their groups.
    """
    reference = contrast.reference
    if reference is None or reference.kind is not ReferenceKind.OTHERS:
        return None if reference is None else reference.group
    mine = contrast.feature, contrast.group
    others = {group for feature, group in groups if feature == mine[0] and group != mine[1]}
    return others.pop() if len(others) == 1 else None
