"""Comparison: what changed between two reports, as one frozen value."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from fairgauge.catalogue.facts import facts_of, own_rates
from fairgauge.catalogue.lookup import Catalogue
from fairgauge.comparison.changes import Change, Seen
from fairgauge.enums import Direction, Outcome, Status, Turn
from fairgauge.errors import FairgaugeError

if TYPE_CHECKING:
    from pathlib import Path

    from fairgauge.catalogue.statistics import Statistic

SCHEMA = "fairgauge.comparison/1"

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
    old: Any
    new: Any
    says: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A verdict that changed: of one rule, for one group.

    Attributes
    ----------
    rule, metric, feature, group : which verdict.
    old, new, turn : what it came to in the two reports, and whether that is worse.
    old_reason, new_reason : why.
    """

    rule: str
    metric: str
    feature: str | None
    group: str
    old: Outcome
    new: Outcome
    turn: Turn
    old_reason: str
    new_reason: str


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
class Comparison:
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
    changes : what became of every disparity, the most important first.
    alone : what only one of the reports has.
    groups : the sizes of the groups.
    own : the rates of the user's own, as far as they can be shown.
    """

    version: str
    old: Origin
    new: Origin
    same_rows: bool
    refused: str | None
    differences: tuple[Difference, ...]
    turn: Turn | None
    flips: tuple[Flip, ...]
    stayed: int
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
        """Return whether a verdict got worse, or a disparity went further beyond doubt."""
        turns = {self.turn, *(flip.turn for flip in self.flips)}
        further = (each.sure and each.direction is Direction.FURTHER for each in self.changes)
        return Turn.WORSE in turns or any(further)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, in the order and names of its JSON."""
        found = {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "own"}
        found.pop("version")
        found["metrics"] = facts_of((), (rate.name for rate in self.own), self.catalogue)
        tool = {"name": "fairgauge", "version": self.version}
        return {"schema": SCHEMA, "tool": tool, "worse": self.worse} | found

    def to_json(self, indent: int | None = 2) -> str:
        """Return strict JSON: infinities are the strings "Infinity" and "-Infinity"."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Comparison:
        """Read what `to_dict` wrote.

        Raises
        ------
        FairgaugeError
            The values are no comparison of this version.
        """
        try:
            return _read(found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FairgaugeError(f"this is not a comparison of fairgauge: {error}") from None

    def save(self, path: str | Path) -> None:
        """Write the comparison, whole or not at all; the format follows the suffix.

        Raises
        ------
        DataError
            The suffix is of no known format, or the file cannot be written.
        """
        from fairgauge.render.compared import save

        save(self, path)

    def __str__(self) -> str:
        from fairgauge.render.compared import render

        return render(self, "text")

    def __repr__(self) -> str:
        moved = sum(each.moved for each in self.changes)
        return (
            f"<Comparison of two reports: {len(self.flips):,} verdicts and {moved:,} of "
            f"{len(self.changes):,} estimates changed; print() shows it>"
        )


_RENAMED = {"class_": "class"}
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}
_NUMBERS = frozenset({"change", "low", "high", "value", "rate_group", "rate_reference"})


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, StrEnum):
        return str(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return {_RENAMED.get(f.name, f.name): _plain(getattr(value, f.name)) for f in fields(value)}


def _read(found: Mapping[str, Any]) -> Comparison:
    if found["schema"] != SCHEMA:
        raise ValueError(f"its schema is not {SCHEMA}")
    return Comparison(
        version=found["tool"]["version"],
        old=_origin(found["old"]),
        new=_origin(found["new"]),
        same_rows=found["same_rows"],
        refused=found["refused"],
        differences=tuple(Difference(**each) for each in found["differences"]),
        turn=_word(Turn, found["turn"]),
        flips=tuple(_flip(each) for each in found["flips"]),
        stayed=found["stayed"],
        changes=tuple(_change(each) for each in found["changes"]),
        alone=tuple(Alone(**each) for each in found["alone"]),
        groups=tuple(GroupChange(**each) for each in found["groups"]),
        own=own_rates(found.get("metrics", {})),
    )


def _word(kind: type[StrEnum], found: str | None) -> Any:
    return None if found is None else kind(found)


def _fields(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with class renamed, and the infinities of numbers as numbers."""
    read = {"class_" if key == "class" else key: value for key, value in found.items()}
    for key in _NUMBERS & read.keys():
        read[key] = _INFINITIES.get(read[key], read[key])
    return read


def _origin(found: Mapping[str, Any]) -> Origin:
    return Origin(**{**found, "verdict": Outcome(found["verdict"])})


def _flip(found: Mapping[str, Any]) -> Flip:
    words = {"old": Outcome(found["old"]), "new": Outcome(found["new"])}
    return Flip(**dict(found) | words | {"turn": Turn(found["turn"])})


def _change(found: Mapping[str, Any]) -> Change:
    sides = {
        side: Seen(**_fields(found[side]) | {"status": Status(found[side]["status"])})
        for side in ("old", "new")
    }
    direction = _word(Direction, found["direction"])
    return Change(**_fields(found) | sides | {"direction": direction})
