"""Sentences of a choice of thresholds: what was asked, what was chosen, and what decides it."""

from __future__ import annotations

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Accepts, Better, ChosenBy, DiagnosticCode, Outcome, Status
from fairgauge.reasons import Reason
from fairgauge.render.words import numbers
from fairgauge.render.words.display_names import called
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.render.words.rule_words import written_rule_words
from fairgauge.results.changes import RateChange
from fairgauge.results.threshold_choice import FeatureThresholds, ThresholdChoice, ThresholdEffect

_OUTCOMES = {
    Outcome.PASS: "the whole confidence interval of every group that is judged meets the goal",
    Outcome.FAIL: "the whole confidence interval of at least one group is outside the goal",
    Outcome.INCONCLUSIVE: "the confidence interval of at least one group includes a limit of the "
    "goal",
    Outcome.NOT_EVALUATED: "the data of at least one group are insufficient, and no other group "
    "fails to meet the goal with its whole confidence interval",
}
_ACCEPTED = {
    Accepts.FROM: "a score at or above the threshold",
    Accepts.ABOVE: "a score above the threshold",
    Accepts.BELOW: "a score below the threshold",
    Accepts.UP_TO: "a score at or below the threshold",
}
HOW = {
    ChosenBy.MARGIN: "with a margin",
    ChosenBy.INTERVAL: "with their whole confidence intervals",
    ChosenBy.VALUE: "by their values alone",
}
_STRONGLY = 0.05
"""By how much a rate of wrong decisions grows strongly: by as many of 100 as the usual margin."""


def question_sentence(choice: ThresholdChoice, goal: str, decided: str) -> str:
    """Return what was asked: the goal in words, what is kept, and today's threshold.

    ``decided`` is what becomes of people whose score is accepted: "are approved".
    """
    names = numbers.listing([called(each.feature) for each in choice.features])
    lead = (
        f"Goal: {goal or written_rule_words(choice.goal)}, for every group of {names}, and "
        f"{choice.kept_rate.title} is worse by at most "
        f"{points(choice.kept_rate, choice.margin)}. The threshold of "
        f"{called(choice.score)} is {choice.today:g} today; those with {_ACCEPTED[choice.accepts]} "
        f"{decided}."
    )
    if len(choice.features) > 1:
        lead += " Thresholds are chosen for each feature by itself."
    return lead


def choice_sentence(choice: ThresholdChoice, effect: ThresholdEffect) -> str:
    """Return which threshold was chosen, and how surely."""
    cut = effect.threshold
    how = HOW[effect.chosen_by]
    if cut == choice.today and effect.chosen_by is not ChosenBy.VALUE:
        data = " with sufficient data" if _insufficient(effect) else ""
        return (
            f"Today's threshold, {cut:g}, already meets the goal with the whole confidence "
            f"interval of every group{data} in the half of the rows that chooses."
        )
    return (
        f"One random half of the rows chose {cut:g}: of the thresholds that meet the goal and keep "
        f"{kept_words(choice)} {how} in that half, it is the closest to today's {choice.today:g}."
    )


def none_proposed(choice: ThresholdChoice, of: FeatureThresholds) -> str:
    """Return that no threshold is proposed, and why."""
    if of.outcome is Outcome.NOT_EVALUATED:
        if why := alone(choice, of):
            return f"No single threshold is proposed: {why}."
        return (
            "No single threshold is proposed: at those that may keep "
            f"{choice.kept_rate.title}, the data of at least one group are insufficient."
        )
    none = (
        "No single threshold is proposed: in the half of the rows that chooses, none both meets "
        f"the goal and keeps {kept_words(choice)}."
    )
    if of.outcome is Outcome.FAIL:
        return none
    return f"{none} The other half, which tests them, cannot rule out that one does."


def alone(choice: ThresholdChoice, of: FeatureThresholds) -> str:
    """Return that there is one group, with which nothing can be compared; nothing of several."""
    one = any(
        note.code is DiagnosticCode.ONE_GROUP and note.feature == of.feature
        for note in choice.diagnostics
    )
    return f"{called(of.feature)} has one group, and nothing to compare it with" if one else ""


def grown_error(choice: ThresholdChoice, effect: ThresholdEffect) -> RateChange | None:
    """Return the rate by which wrong decisions of one kind grow strongly, by its whole interval.

    The false positive rate where it rises, the true positive rate where it falls.
    """
    if not changes_decisions(choice, effect):
        return None
    grown = []
    for each in effect.rates:
        judged = each.feature is None and "label" in each.definition.needs
        if judged and each.interval is not None:
            lower = each.definition.better is Better.LOWER
            least = each.interval.low if lower else -each.interval.high
            grown += [(least, each)] if least > _STRONGLY else []
    return max(grown, key=lambda one: one[0])[1] if grown else None


def decided(choice: ThresholdChoice, effect: ThresholdEffect) -> str:
    """Return what goal and kept rate come to in the other half."""
    part, goal = "the choice", _OUTCOMES[_alone(effect.goal_outcome, effect.goal_reason)]
    kept = _non_inferior(choice, _alone(effect.kept_outcome, effect.kept_reason))
    open_ = [each for each in (effect.goal_reason, effect.kept_reason) if each is not None]
    also = ""
    if not changes_decisions(choice, effect):
        part = f"the decision to keep {choice.today:g}"
        kept = f"no decision changes, so that {choice.kept_rate.title} is kept"
        also = " An audit at this threshold judges it by all rows."
    found = (
        f"Measured in a random half of the rows that had no part in {part}: "
        f"{goal}, and {kept}.{also}{_insufficient(effect)}"
    )
    for why in dict.fromkeys(map(describe_reason, open_)):
        what = ", and whether ".join(
            text
            for text, reason in (
                ("the goal is met", effect.goal_reason),
                (f"{choice.kept_rate.title} is kept", effect.kept_reason),
            )
            if reason is not None and describe_reason(reason) == why
        )
        if Outcome.INCONCLUSIVE in {Outcome(each["alone"]) for each in open_}:
            found += f" More rows do not decide whether {what}: {why}."
        else:
            found += f" Whether {what} is open all the same: {why}."
    return found


def _alone(outcome: Outcome, reason: Reason | None) -> Outcome:
    """Return what the rows that lack nothing come to."""
    return outcome if reason is None else Outcome(reason["alone"])


def _insufficient(effect: ThresholdEffect) -> str:
    """Return which groups are not judged, and why."""
    groups: dict[str, list[str]] = {}
    for each in effect.disparities:
        if each.status is Status.TOO_FEW and each.reason is not None:
            groups.setdefault(describe_reason(each.reason), []).append(called(each.group))
    return "".join(
        f" Not evaluated for {numbers.listing(names)}: {why}." for why, names in groups.items()
    )


def _non_inferior(choice: ThresholdChoice, outcome: Outcome) -> str:
    """Return on which side of the margin the change of the kept rate is."""
    lower = choice.kept_rate.better is Better.LOWER
    sign = ("+" if lower else "−") if choice.margin else ""
    limit = f"{sign}{points(choice.kept_rate, choice.margin)}"
    interval = f"confidence interval of the change in {choice.kept_rate.title}"
    if outcome is Outcome.INCONCLUSIVE:
        return f"the {interval} includes {limit}"
    below = (outcome is Outcome.PASS) == lower
    return f"the whole {interval} is {'below' if below else 'above'} {limit}"


def changes_decisions(choice: ThresholdChoice, effect: ThresholdEffect) -> bool:
    """Return whether a choice is another than today's threshold."""
    return effect.threshold != choice.today


def kept_words(choice: ThresholdChoice) -> str:
    """Return what is kept, within its margin: "accuracy within 2 pp"."""
    return f"{choice.kept_rate.title} within {points(choice.kept_rate, choice.margin)}"


def points(rate: Statistic, margin: float) -> str:
    """Return a margin of a rate with its unit: "2 percentage points"."""
    size = f"{100 * margin:g}"
    named = "percentage point" if size == "1" else "percentage points"
    return f"{size} {named}" if rate.is_share else f"{margin:g}"
