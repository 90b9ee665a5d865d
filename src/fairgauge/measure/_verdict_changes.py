"""Verdicts that changed between two reports, rule by rule and group by group."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from fairgauge.enums import Direction, Outcome, ScopeKind, Turn
from fairgauge.reasons import Reason, ReasonCode
from fairgauge.results.comparison import (
    Alone,
    Subject,
    UnmatchedVerdict,
    VerdictChange,
    is_of_all_groups,
    subject_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from fairgauge.results.comparison import Change, Which
    from fairgauge.results.report import Report
    from fairgauge.results.verdicts import Verdict

_Key: TypeAlias = tuple[str | int | None, ...]

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


class VerdictChanges(NamedTuple):
    """The verdicts of two reports held against each other.

    Attributes
    ----------
    flips : the verdicts that changed, those that got worse first.
    stayed : how many did not.
    unmatched : the verdicts that only one of the reports has, of rules that both have.
    alone : the rules that only one of the reports has.
    """

    flips: tuple[VerdictChange, ...]
    stayed: int
    unmatched: tuple[UnmatchedVerdict, ...]
    alone: tuple[Alone, ...]


def verdict_changes(old: Report, new: Report, changes: Iterable[Change]) -> VerdictChanges:
    """Hold the verdicts of two reports against each other.

    A verdict on a metric of all groups is matched by its feature, whichever groups are now furthest
    apart; any other by its group.
    """
    proven: dict[Subject, set[Direction]] = {}
    other_reference: set[Subject] = set()
    for each in changes:
        subject = subject_of(each.new)
        if each.significant and each.direction and each.new.scope.kind is not ScopeKind.STRATUM:
            proven.setdefault(subject, set()).add(each.direction)
        if each.old.reference != each.new.reference and subject[2] is not None:
            other_reference.add(subject)
    before, after = (_keyed(report.verdicts) for report in (old, new))
    _match_unfeatured(before, after)
    shared = [key for key in before if key in after]
    found = []
    for key in shared:
        metric, feature, group = subject_of(after[key])
        sides = {(metric, feature, side) for side in (group, after[key].mirror or group)}
        comparable = not sides & other_reference
        directions = set().union(*(proven.get(side, set()) for side in sides))
        flip = _flip(before[key], after[key], directions, comparable=comparable)
        found += [flip] if flip else []
    stayed = len(shared) - len(found)
    found.sort(key=lambda each: _FIRST.index(each.turn))
    unmatched = (
        *_unmatched(before, after, "old", new),
        *_unmatched(after, before, "new", old),
    )
    rules = (*_rules(old, new, "old"), *_rules(new, old, "new"))
    return VerdictChanges(tuple(found), stayed, unmatched, rules)


def overall_turn(old: Outcome, new: Outcome, changed: VerdictChanges) -> Turn | None:
    """Return what became of the verdict as a whole: worse only where one of its verdicts is.

    It is better only where nothing that did not pass is without a counterpart.
    """
    turns = {each.turn for each in changed.flips}
    proven = {Direction.FURTHER} if Turn.WORSE in turns else set()
    gone = (each.verdict.outcome for each in changed.unmatched if each.report == "old")
    if Turn.BETTER in turns and all(outcome is Outcome.PASS for outcome in gone):
        proven.add(Direction.CLOSER)
    return turned(old, new, proven)


def _flip(
    old: Verdict, new: Verdict, proven: Collection[Direction], *, comparable: bool
) -> VerdictChange | None:
    """Return how a verdict changed, None where it did not.

    With ``comparable``, both hold a group against the same reference: an interval that went from
    one side of a limit to the other then proves a direction.
    """
    if old.outcome == new.outcome:
        return None
    directions = set(proven)
    if {old.outcome, new.outcome} == {Outcome.PASS, Outcome.FAIL} and all(
        each.reason.code in _BY_INTERVAL and comparable for each in (old, new)
    ):
        fails = new.outcome is Outcome.FAIL
        directions.add(Direction.FURTHER if fails else Direction.CLOSER)
    turn = turned(old.outcome, new.outcome, directions) or Turn.OTHER
    return VerdictChange(old=old, new=new, turn=turn)


def _keyed(verdicts: Iterable[Verdict]) -> dict[_Key, Verdict]:
    """Return verdicts by rule and subject; rules of the same words by their order."""
    found: dict[_Key, Verdict] = {}
    seen: Counter[tuple[str | None, ...]] = Counter()
    for each in verdicts:
        metric, feature, group = subject_of(each)
        if each.mirror is not None and group is not None:  # whichever of both sides is judged
            group = min(group, each.mirror)
        key = (each.rule, metric, feature, group)
        seen[key] += 1
        found[*key, seen[key]] = each
    return found


def _match_unfeatured(before: dict[_Key, Verdict], after: dict[_Key, Verdict]) -> None:
    """Give a verdict on a named group that no feature has the key of the other report's verdict."""
    for mine, theirs in ((before, after), (after, before)):
        for key, verdict in list(mine.items()):
            if verdict.feature is not None or verdict.group is None or key in theirs:
                continue
            twins = [
                other for other, each in theirs.items()
                if other not in mine and (each.rule, each.group) == (verdict.rule, verdict.group)
            ]  # fmt: skip
            if len(twins) == 1:
                mine[twins[0]] = mine.pop(key)


def _unmatched(
    mine: Mapping[_Key, Verdict],
    theirs: Mapping[_Key, Verdict],
    name: Which,
    other: Report,
) -> Iterator[UnmatchedVerdict]:
    """Yield the verdicts of one report that the other has not, though it has the rule."""
    rules = {verdict.rule for verdict in theirs.values()}
    lacking = "new" if name == "old" else "old"
    for key, verdict in mine.items():
        if key not in theirs and verdict.rule in rules:
            reason = _why_unmatched(verdict, other, lacking)
            yield UnmatchedVerdict(verdict=verdict, report=name, reason=reason)


def _why_unmatched(verdict: Verdict, other: Report, name: str) -> Reason:
    groups = {(group.feature, group.group) for group in other.groups}
    if verdict.feature not in {feature for feature, _ in groups}:
        return Reason.of(ReasonCode.ABSENT, what="feature", report=name)
    of_all_groups = is_of_all_groups(verdict.definition)
    if not of_all_groups and (verdict.feature, verdict.group) not in groups:
        return Reason.of(ReasonCode.ABSENT, what="group", report=name)
    references = {
        each.reference.group
        for each in other.estimates
        if (each.metric, each.feature) == (verdict.metric, verdict.feature) and each.reference
    }
    if verdict.group in references and not of_all_groups:
        return Reason.of(ReasonCode.IS_REFERENCE, report=name)
    return Reason.of(ReasonCode.NOT_JUDGED, report=name)


def _rules(report: Report, other: Report, name: Which) -> tuple[Alone, ...]:
    known = {verdict.rule for verdict in other.verdicts}
    counts = Counter(verdict.rule for verdict in report.verdicts if verdict.rule not in known)
    return tuple(
        Alone(what="rule", feature=None, name=rule, report=name, count=count)
        for rule, count in counts.items()
    )
