"""Verdicts that changed between two reports, rule by rule and group by group."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairgauge.comparison.comparison import Alone, VerdictChange
from fairgauge.comparison.subjects import subject_of
from fairgauge.enums import Outcome, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairgauge.catalogue.lookup import Catalogue
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


def flips(
    old: Report, new: Report, catalogue: Catalogue
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
    before, after = (_keyed(report.verdicts, catalogue) for report in (old, new))
    shared = [key for key in before if key in after]
    found = [flip for key in shared if (flip := _flip(before[key], after[key]))]
    stayed = len(shared) - len(found)
    found.sort(key=lambda each: _FIRST.index(each.turn))
    return tuple(found), stayed, (*_rules(old, new, "old"), *_rules(new, old, "new"))


def _flip(old: Verdict, new: Verdict) -> VerdictChange | None:
    turn = turned(old.outcome, new.outcome)
    if turn is None:
        return None
    return VerdictChange(old=old, new=new, turn=turn)


def _keyed(
    verdicts: Iterable[Verdict], catalogue: Catalogue
) -> dict[tuple[str | int | None, ...], Verdict]:
    """Return verdicts by rule and subject; rules of the same words, by their order."""
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
