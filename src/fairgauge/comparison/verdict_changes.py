"""Verdicts that changed between two reports, rule by rule and group by group."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairgauge.comparison.comparison import Alone, VerdictChange
from fairgauge.comparison.subjects import Subject, subject_of
from fairgauge.enums import Direction, Outcome, ScopeKind, Turn
from fairgauge.reasons import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairgauge.catalogue.lookup import Catalogue
    from fairgauge.comparison.changes import Change
    from fairgauge.comparison.comparison import Which
    from fairgauge.report.report import Report
    from fairgauge.report.verdicts import Verdict

_BADNESS = {
    Outcome.PASS: 0,
    Outcome.INCONCLUSIVE: 1,
    Outcome.NOT_EVALUATED: 1,
    Outcome.FAIL: 2,
}
_FIRST = (Turn.WORSE, Turn.OTHER, Turn.BETTER)
_BY_INTERVAL = (ReasonCode.INSIDE, ReasonCode.BELOW, ReasonCode.ABOVE)


def turned(old: Outcome, new: Outcome, proven: Collection[Direction]) -> Turn | None:
    """Return what became of an outcome; None where it stayed or one side was not judged.

    An outcome may change by sampling variation: it is worse, or better, only where a disparity is
    statistically significantly.

    Parameters
    ----------
    old, new : the outcome in each report.
    proven : in which directions disparities went statistically significantly.

    Examples
    --------
    >>> turned(Outcome.PASS, Outcome.FAIL, {Direction.FURTHER})
    <Turn.WORSE: 'worse'>
    >>> turned(Outcome.PASS, Outcome.INCONCLUSIVE, ())
    <Turn.OTHER: 'other'>
    """
    if old == new or Outcome.NONE in (old, new):
        return None
    before, after = _BADNESS[old], _BADNESS[new]
    if after > before and Direction.FURTHER in proven:
        return Turn.WORSE
    if after < before and Direction.CLOSER in proven and new is not Outcome.NOT_EVALUATED:
        return Turn.BETTER
    return Turn.OTHER


def flips(
    old: Report, new: Report, changes: Iterable[Change], catalogue: Catalogue
) -> tuple[tuple[VerdictChange, ...], int, tuple[Alone, ...]]:
    """Hold the verdicts of two reports against each other.

    A verdict on a metric of all groups is matched by its feature, whichever groups are now furthest
    apart; any other by its group.

    Returns
    -------
    flips : tuple of VerdictChange
        The verdicts that changed, those that got worse first.
    stayed : int
        How many did not.
    alone : tuple of Alone
        Rules that only one of the reports has.
    """
    proven: dict[Subject, set[Direction]] = {}
    for each in changes:
        if each.significant and each.direction and each.new.scope.kind is not ScopeKind.STRATUM:
            proven.setdefault(subject_of(each.new, catalogue), set()).add(each.direction)
    before, after = (_keyed(report.verdicts, catalogue) for report in (old, new))
    shared = [key for key in before if key in after]
    found = []
    for key in shared:
        directions = proven.get(subject_of(after[key], catalogue), set())
        flip = _flip(before[key], after[key], directions)
        found += [flip] if flip else []
    stayed = len(shared) - len(found)
    found.sort(key=lambda each: _FIRST.index(each.turn))
    return tuple(found), stayed, (*_rules(old, new, "old"), *_rules(new, old, "new"))


def overall_turn(old: Outcome, new: Outcome, changed: Iterable[VerdictChange]) -> Turn | None:
    """Return what became of the verdict as a whole: worse only where one of its verdicts is."""
    directions = {Turn.WORSE: Direction.FURTHER, Turn.BETTER: Direction.CLOSER}
    return turned(old, new, {directions[c.turn] for c in changed if c.turn in directions})


def _flip(old: Verdict, new: Verdict, proven: Collection[Direction]) -> VerdictChange | None:
    directions = set(proven)
    if {old.outcome, new.outcome} == {Outcome.PASS, Outcome.FAIL} and all(
        each.reason.code in _BY_INTERVAL for each in (old, new)
    ):  # the whole interval went from one side of a limit to the other
        fails = new.outcome is Outcome.FAIL
        directions.add(Direction.FURTHER if fails else Direction.CLOSER)
    turn = turned(old.outcome, new.outcome, directions)
    return None if turn is None else VerdictChange(old=old, new=new, turn=turn)


def _keyed(
    verdicts: Iterable[Verdict], catalogue: Catalogue
) -> dict[tuple[str | int | None, ...], Verdict]:
    """Return verdicts by rule and subject; rules of the same words by their order."""
    found: dict[tuple[str | int | None, ...], Verdict] = {}
    seen: Counter[tuple[str | None, ...]] = Counter()
    for each in verdicts:
        key = (each.rule, *subject_of(each, catalogue))
        seen[key] += 1
        found[*key, seen[key]] = each
    return found


def _rules(report: Report, other: Report, name: Which) -> tuple[Alone, ...]:
    known = {verdict.rule for verdict in other.verdicts}
    counts = Counter(verdict.rule for verdict in report.verdicts if verdict.rule not in known)
    return tuple(
        Alone(what="rule", feature=None, name=rule, report=name, count=count)
        for rule, count in counts.items()
    )
