"""Comparison: what changed between two reports, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

from fairgauge.catalogue.facts import facts_of, own_rates
from fairgauge.catalogue.lookup import Catalogue
from fairgauge.enums import Direction, Outcome, Turn
from fairgauge.errors import FairgaugeError
from fairgauge.reasons import ReasonCode
from fairgauge.results.changes import Change
from fairgauge.results.definitions import defined_by
from fairgauge.results.plain_values import (
    number,
    plain,
    plain_estimate,
    plain_interval,
    plain_reason,
    plain_verdict,
    read_estimate,
    read_interval,
    read_reason,
    read_verdict,
    reading,
)
from fairgauge.results.shown_result import ShownResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairgauge.catalogue.statistics import Statistic
    from fairgauge.reasons import Reason
    from fairgauge.results.plain_values import Plain
    from fairgauge.results.verdicts import Verdict
    from fairgauge.values import Saved

SCHEMA = "fairgauge.comparison/2"
SCHEMA_1 = "fairgauge.comparison/1"

What = Literal["feature", "metric", "group", "stratum", "class", "threshold", "estimate", "rule"]
Which = Literal["old", "new"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """One of the two reports.

    Attributes
    ----------
    name : the file that the report was read from, None of a report at hand.
    source, fingerprint : what was audited, and the digest of its counts.
    created, version : when, and by which fairgauge.
    rows, cases, used, excluded : its data, as in the report.
    verdict : what its rules came to.
    """

    name: str | None
    source: str
    fingerprint: str
    created: str
    version: str
    rows: int
    cases: float
    used: int
    excluded: Mapping[str, int]
    verdict: Outcome


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that the two reports were asked differently, and what follows from it."""

    key: str
    old: object
    new: object
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictChange:
    """A verdict that changed: of one rule, for one group.

    Attributes
    ----------
    old, new : the verdict in each report.
    turn : whether it got worse.
    """

    old: Verdict
    new: Verdict
    turn: Turn

    @property
    def feature(self) -> str | None:
        """Return the sensitive feature of both verdicts."""
        return self.new.feature

    @property
    def group(self) -> str | None:
        """Return the group of both verdicts; of a metric of all groups, that of the new one."""
        return self.new.group


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedVerdict:
    """A verdict without a counterpart in the other report, which has the rule.

    Nothing is known of how it changed: it is neither better nor worse, nor as before.

    Attributes
    ----------
    verdict : the verdict.
    report : the report that has it.
    reason : why the other has none: the group is absent there, or is the reference.
    """

    verdict: Verdict
    report: Which
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """What only one of the two reports has.

    Attributes
    ----------
    what, feature, name : a feature, a metric, a group of a feature, a rule ..., and which.
    report : the one that has it.
    count : how many estimates (of a rule: verdicts) have no counterpart because of it.
    """

    what: What
    feature: str | None
    name: str
    report: Which
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """The size of a group, and its share of the known rows, in both reports."""

    feature: str
    group: str
    old_n: float | None
    new_n: float | None
    old_share: float | None
    new_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(ShownResult):
    """What changed between two reports; `print` shows it.

    Attributes
    ----------
    version : of the fairgauge that compared.
    old, new : the two reports.
    same_rows : whether both are taken to rest on the same rows.
    refused : why no change has an interval; None where changes have one.
    differences : what was asked differently, the grave first.
    turn : what became of the verdict as a whole; None where it stayed, or no rules were set.
    flips : the verdicts that changed, those that got worse first.
    stayed : how many verdicts did not change.
    unmatched : the verdicts that only one of the reports has, of rules that both have.
    changes : what became of every disparity, the most important first.
    alone : what only one of the reports has.
    groups : the sizes of the groups.
    own : the rates of the user's own, as far as they can be shown.
    """

    version: str
    old: Origin
    new: Origin
    same_rows: bool
    refused: Reason | None
    differences: tuple[Difference, ...]
    turn: Turn | None
    flips: tuple[VerdictChange, ...]
    stayed: int
    unmatched: tuple[UnmatchedVerdict, ...]
    changes: tuple[Change, ...]
    alone: tuple[Alone, ...]
    groups: tuple[GroupChange, ...]
    own: tuple[Statistic, ...] = ()

    @property
    def catalogue(self) -> Catalogue:
        """Return what the names in the comparison stand for."""
        return Catalogue(self.own)

    @property
    def worse(self) -> bool:
        """Return whether a disparity or a verdict got statistically significantly worse.

        Without any change, that has a probability of at most one minus the confidence: all changes
        of disparities are one family (Holm), and a verdict goes from pass to fail, by intervals
        that share no value, far less often.
        """
        turns = {flip.turn for flip in self.flips}
        further = (
            each.significant and each.direction is Direction.FURTHER for each in self.changes
        )
        return Turn.WORSE in turns or any(further)

    @property
    def incomplete(self) -> bool:
        """Return whether a verdict of the old report has no counterpart in the new one.

        A group that is the reference of the new report is accounted for.
        """
        return any(
            each.report == "old" and each.reason.code is not ReasonCode.IS_REFERENCE
            for each in self.unmatched
        )

    def to_dict(self) -> Plain:
        """Return the comparison as plain values, in the order and names of its JSON."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "fairgauge", "version": self.version},
            "worse": self.worse,
            "old": _fields(self.old),
            "new": _fields(self.new),
            "same_rows": self.same_rows,
            "refused": plain_reason(self.refused),
            "differences": [_fields(each) for each in self.differences],
            "turn": plain(self.turn),
            "flips": [_plain_flip(each) for each in self.flips],
            "stayed": self.stayed,
            "unmatched": [_plain_unmatched(each) for each in self.unmatched],
            "changes": [_plain_change(each) for each in self.changes],
            "alone": [_fields(each) for each in self.alone],
            "groups": [_fields(each) for each in self.groups],
            "metrics": facts_of((), (rate.name for rate in self.own), self.catalogue),
        }

    @classmethod
    def from_dict(cls, found: Saved) -> Comparison:
        """Read what `to_dict` wrote.

        Raises
        ------
        FairgaugeError
            The values are no comparison of this version.
        """
        with reading("a comparison of fairgauge"):
            comparison = _read(found)
        return defined_by(comparison.catalogue, comparison)

    def __repr__(self) -> str:
        moved = sum(each.moved for each in self.changes)
        return (
            f"<Comparison of two reports: {len(self.flips):,} verdicts and {moved:,} of "
            f"{len(self.changes):,} estimates changed; print() shows it>"
        )


def _fields(value: Origin | Difference | Alone | GroupChange) -> Plain:
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def _plain_flip(each: VerdictChange) -> Plain:
    old, new = plain_verdict(each.old), plain_verdict(each.new)
    return {"old": old, "new": new, "turn": str(each.turn)}


def _plain_unmatched(each: UnmatchedVerdict) -> Plain:
    return {
        "verdict": plain_verdict(each.verdict),
        "report": each.report,
        "reason": plain_reason(each.reason),
    }


def _plain_change(each: Change) -> Plain:
    return {
        "old": plain_estimate(each.old),
        "new": plain_estimate(each.new),
        "by": each.by,
        "change": plain(each.change),
        **plain_interval(each.interval),
        "p_value": each.p_value,
        "p_adjusted": each.p_adjusted,
        "direction": plain(each.direction),
        "crossed": each.crossed,
        "significant": each.significant,
        "size": plain(each.size),
        "reason": plain_reason(each.reason),
    }


def _read(values: Saved) -> Comparison:
    if values["schema"] == SCHEMA_1:
        raise FairgaugeError(
            f"an older version of fairgauge wrote this comparison ({SCHEMA_1}), which this version "
            "does not read; compare the two saved reports again: fairgauge compare OLD.json "
            "NEW.json, or fairgauge.compare"
        )
    if values["schema"] != SCHEMA:
        raise ValueError(f"its schema is not {SCHEMA}")
    return Comparison(
        version=values["tool"]["version"],
        old=_origin(values["old"]),
        new=_origin(values["new"]),
        same_rows=values["same_rows"],
        refused=read_reason(values["refused"]),
        differences=tuple(Difference(**each) for each in values["differences"]),
        turn=None if values["turn"] is None else Turn(values["turn"]),
        flips=tuple(_flip(each) for each in values["flips"]),
        stayed=values["stayed"],
        unmatched=tuple(_unmatched(each) for each in values["unmatched"]),
        changes=tuple(_change(each) for each in values["changes"]),
        alone=tuple(Alone(**each) for each in values["alone"]),
        groups=tuple(GroupChange(**each) for each in values["groups"]),
        own=own_rates(values.get("metrics", {})),
    )


def _origin(values: Saved) -> Origin:
    return Origin(**{**values, "verdict": Outcome(values["verdict"])})


def _flip(values: Saved) -> VerdictChange:
    old, new = read_verdict(values["old"]), read_verdict(values["new"])
    return VerdictChange(old=old, new=new, turn=Turn(values["turn"]))


def _unmatched(values: Saved) -> UnmatchedVerdict:
    reason = read_reason(values["reason"])
    if reason is None:
        raise ValueError("a verdict without a counterpart has no reason")
    verdict = read_verdict(values["verdict"])
    return UnmatchedVerdict(verdict=verdict, report=values["report"], reason=reason)


def _change(values: Saved) -> Change:
    direction = values["direction"]
    return Change(
        old=read_estimate(values["old"]),
        new=read_estimate(values["new"]),
        by=values["by"],
        change=number(values["change"]),
        interval=read_interval(dict(values)),
        p_value=values["p_value"],
        p_adjusted=values["p_adjusted"],
        direction=None if direction is None else Direction(direction),
        crossed=values["crossed"],
        significant=values["significant"],
        size=number(values["size"]),
        reason=read_reason(values["reason"]),
    )
