"""Verdicts that changed between two reports, rule by rule and group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.comparison import Alone, Flip
from fairgauge.words import Outcome, Turn

if TYPE_CHECKING:
    from fairgauge.comparison import Which
    from fairgauge.estimate import Estimate
    from fairgauge.report import Report
    from fairgauge.verdict import Verdict

_BADNESS = {
    Outcome.PASS: 0,
    Outcome.INCONCLUSIVE: 1,
    Outcome.NOT_EVALUATED: 1,
    Outcome.FAIL: 2,
}
_FIRST = (Turn.WORSE, Turn.OTHER, Turn.BETTER)

Of = tuple[str | None, ...]
Place = tuple[str | None, str | None, float | None]


def turned(old: Outcome, new: Outcome) -> Turn | None:
    """Return what became of an outcome; None where it stayed or one side was not judged.

    What can no longer be evaluated has not got better, whatever it was.

    Examples
    --------
    >>> turned(Outcome.PASS, Outcome.FAIL)
    <Turn.WORSE: 'worse'>
    """
    if old == new or Outcome.NONE in (old, new):
        return None
    before, after = _BADNESS[old], _BADNESS[new]
    if after > before:
        return Turn.WORSE
    if after < before and new is not Outcome.NOT_EVALUATED:
        return Turn.BETTER
    return Turn.OTHER


def flips(old: Report, new: Report) -> tuple[tuple[Flip, ...], int, tuple[Alone, ...]]:
    """Hold the verdicts of two reports against each other.

    Returns
    -------
    flips : tuple of Flip
        The verdicts that changed, those that got worse first.
    stayed : int
        How many did not.
    alone : tuple of Alone
        Rules that only one of the reports has.
    """
    before, after = _placed(old), _placed(new)
    found = [
        flip
        for key, verdict in before.items()
        if key in after and (flip := _flip(key[-1], verdict, after[key]))
    ]
    stayed = len(before.keys() & after.keys()) - len(found)
    found.sort(key=lambda each: _FIRST.index(each.turn))
    return tuple(found), stayed, (*_rules(old, new, "old"), *_rules(new, old, "new"))


def _flip(place: Place, old: Verdict, new: Verdict) -> Flip | None:
    turn = turned(old.outcome, new.outcome)
    if turn is None:
        return None
    stratum, class_, threshold = place
    return Flip(
        rule=new.rule,
        metric=new.metric,
        feature=new.feature,
        group=new.group,
        stratum=stratum,
        class_=class_,
        threshold=threshold,
        old=old.outcome,
        new=new.outcome,
        turn=turn,
        old_reason=old.reason,
        new_reason=new.reason,
    )


def _placed(report: Report) -> dict[tuple[Of, int, Place], Verdict]:
    """Return verdicts by rule and group, and by the stratum, class and threshold judged.

    A verdict does not name the latter, but a rule judges its estimates in their order.
    """
    estimates: dict[Of, list[Estimate]] = {}
    for each in report.estimates:
        estimates.setdefault((each.metric, each.feature, each.group), []).append(each)
    single = len({each.threshold for each in report.estimates} - {None}) <= 1
    placed: dict[tuple[Of, int, Place], Verdict] = {}
    seen: dict[Of, int] = {}
    for verdict in report.verdicts:
        of = (verdict.rule, verdict.metric, verdict.feature, verdict.group)
        judged = estimates.get(of[1:], [])
        at = seen[of] = seen.get(of, -1) + 1
        turn, i = divmod(at, len(judged) or 1)
        place: Place = (None, None, None)
        if judged:
            each = judged[i]
            place = (each.stratum, each.class_, None if single else each.threshold)
        placed[of, turn, place] = verdict
    return placed


def _rules(report: Report, other: Report, name: Which) -> tuple[Alone, ...]:
    known = {verdict.rule for verdict in other.verdicts}
    counts: dict[str, int] = {}
    for verdict in report.verdicts:
        if verdict.rule not in known:
            counts[verdict.rule] = counts.get(verdict.rule, 0) + 1
    return tuple(
        Alone(what="rule", feature=None, name=rule, report=name, count=count)
        for rule, count in counts.items()
    )
