"""Sentences of a report, fitted to where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import Status
from fairgauge.render import numbers
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.estimate_sentences import comparison, qualification, reference_name
from fairgauge.render.metric_meanings import is_share, is_signed, reverses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairgauge.render.outline import Section
    from fairgauge.report.estimates import Estimate, Group
    from fairgauge.report.results import Reference
    from fairgauge.report.verdicts import Verdict

IN_SHORT = 3
"""How many features the few sentences speak of."""

TOO_FEW = "? rests on too few rows to decide anything"
"""What the question mark beside a number means."""

_SENTENCES = 2
_LONGEST_NAME = 40
_CENTRAL = (
    "base_rate", "selection_rate", "true_positive_rate", "false_positive_rate", "accuracy",
    "positive_predictive_value", "roc_auc", "mean_score", "brier_score", "mean_label",
    "mean_prediction", "mean_error", "mean_absolute_error", "root_mean_squared_error", "r2",
)  # fmt: skip


def reading(reference: Reference | None, most: int = _LONGEST_NAME) -> str:
    """Return a reference as it reads in a sentence."""
    return shorten(printable(reference_name(reference)), most)


def words(estimate: Estimate) -> str:
    """Return what an estimate states, without its subject and interval, which stand beside it."""
    return printable(f"{comparison(estimate)}{qualification(estimate)}")


def sentence(estimate: Estimate, most: int = _LONGEST_NAME, *, named: bool = False) -> str:
    """Return what an estimate says, with its subject; ``named`` with the feature's name too."""
    subject = shorten(printable(estimate.group), most)
    if named and estimate.feature and "*" not in estimate.feature:
        subject = f"{shorten(printable(estimate.feature), most)} {subject}"
    if named and estimate.class_ is not None:
        subject = f"{subject}, class {shorten(printable(estimate.class_), most)}"
    return f"{subject}: {words(estimate)}"


def certainty(estimate: Estimate, *, interval: bool = True) -> str:
    """Return how sure an estimate is, as the end of a sentence; nothing where it is not known."""
    found = []
    if interval and estimate.value is not None:
        signed = is_signed(estimate.metric)
        shown = numbers.interval(estimate.low, estimate.high, signed=signed)
        found.append(f"{estimate.metric} {numbers.number(estimate.value, signed=signed)} {shown}")
    if estimate.p_adjusted is not None:
        found.append(numbers.probability(estimate.p_adjusted, "adjusted p"))
    elif estimate.p_value is not None:
        found.append(numbers.probability(estimate.p_value))
    if not found:
        return ""
    return "; " + ", ".join(each.strip() for each in found)


def turning(margin: Estimate, pooled: Estimate, column: str) -> str:
    """Return a disparity overall and adjusted for the strata, and whether it reverses."""
    subject = shorten(printable(margin.group), _LONGEST_NAME)
    if margin.value is None or pooled.value is None:
        return f"{subject}: no comparison adjusted for {column}"
    direction = "reverses" if reverses(margin, pooled) else "keeps its direction"
    return (
        f"{subject}: the difference {direction} when adjusted for {column}. Overall "
        f"{words(margin)}; adjusted {words(pooled)}."
    )


def rate_shown(group: Group, rate: str) -> str:
    """Show a rate of a group: shares in per cent."""
    found = group.rates[rate].value if rate in group.rates else None
    return numbers.percent(found) if is_share(rate) else numbers.number(found)


def value(each: Estimate | None, *, interval: bool = False) -> str:
    """Show the value of an estimate for a table; a question mark says that it rests on too few."""
    if each is None:
        return "-"
    signed = is_signed(each.metric)
    shown = numbers.number(each.value, signed=signed)
    if interval and each.low is not None:
        shown += f" {numbers.interval(each.low, each.high, signed=signed)}"
    return f"{shown}?" if each.status is Status.TOO_FEW else shown


def tallied(verdicts: Sequence[Verdict]) -> str:
    """Say how often each outcome was reached: ``2 fail, 1 pass``."""
    outcomes = [str(each.outcome) for each in verdicts]
    return ", ".join(f"{outcomes.count(each):,} {each}" for each in dict.fromkeys(outcomes))


def in_short(sections: Sequence[Section], column: str) -> list[str]:
    """Return the few sentences that matter: of the first features, what is farthest and sure."""
    said = []
    for section in sections[:IN_SHORT]:
        turns = section.turns() if section.focus else []
        told = {margin.metric for margin, _ in turns}
        said += [turning(*pair, column) for pair in turns]
        headlines = [each for each in section.headlines() if each.metric not in told]
        said += [f"{sentence(e, named=True)}{certainty(e)}" for e in headlines[:_SENTENCES]]
    return list(dict.fromkeys(said))


def central_rates(groups: Iterable[Group]) -> list[str]:
    """Return the rates to show of groups, those that have a value, in order of use."""
    present = {
        name for group in groups for name, rate in group.rates.items() if rate.value is not None
    }
    central = [name for name in _CENTRAL if name in present]
    return central or sorted(present)
