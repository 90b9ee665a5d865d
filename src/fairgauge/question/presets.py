"""Presets: what a filer owes, as a folder of data: options, texts, the document to file.

A preset quotes its sources and computes nothing: none states that an audit meets a law. One of your
own is a folder, named by its path.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from fairgauge.errors import Problem, SpecError, listing, nearest, quote
from fairgauge.question.features import read_features
from fairgauge.values import Json

_FOLDER = Path(__file__).parents[1] / "kits"
_KIT, _FILING = "kit.toml", "filing.md.j2"
_OF_SELECTION = (
    "selection_rate.", "selection_odds.", "denials_odds_ratio", "selection_smd", "rejection_share.",
)  # fmt: skip
"""How the names of metrics begin that compare selections."""
_NOT_OPTIONS = ("intersect", "with_score", "with_amounts", "gaps")
"""Keys of ``[audit]`` that are no options of an audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A preset.

    Attributes
    ----------
    name : what it is called: ``nyc-ll144``; of a folder of one's own, its path.
    title : what an audit of it is about.
    jurisdiction, status : where it holds, and whether it does.
    as_of : the date on which the status was established.
    in_force : since when, or from when on, it is in force.
    superseded_by : the preset that replaces it, empty where none does.
    sources : the texts that it quotes.
    read : how they were read: the official text, or a secondary source.
    period : when the audit must be repeated; empty where no source states it.
    records : what must be kept, or for how long.
    statements : what the sources state of the statistics.
    no_limit : the statement that they set no limit, empty where they set one.
    publishes : what a published report holds.
    compared_with : the people of a group that the text compares with, and that the user must name;
        empty where any reference serves.
    category_limit : from which gap on, as a share of the reference, a stratum counts; None where no
        text states one.
    adverse_impact : whether the shortfall and exact tests of selections are part of the filing.
    alternatives : whether it ends in the search for a less discriminatory alternative.
    public : whether its tables are published, and not filed or kept alone.
    page : whether the page that needs no installation can ask for it.
    needs : options without which a specification lacks what the text asks for.
    document : what a published report states of the audit, as keys of ``[document]``.
    terms : what the text, or practice, calls metrics, by their names.
    words : what a brief calls people and decisions, as keys of ``[words]``.
    options : the options of an audit, as a specification file has them.
    gaps : the metrics of a decomposition, in place of those of an audit.
    with_score, with_amounts : the options that hold as well where a score decides; of amounts.
    intersect : whether all features together are a table of their own.
    filing : the template of the document to file.
    """

    name: str
    title: str
    jurisdiction: str
    status: str
    as_of: dt.date
    sources: tuple[str, ...]
    read: str
    statements: tuple[str, ...]
    publishes: tuple[str, ...]
    options: Mapping[str, Any]
    filing: str
    in_force: dt.date | None = None
    period: str = ""
    records: str = ""
    needs: tuple[str, ...] = ()
    document: tuple[str, ...] = ()
    terms: Mapping[str, str]
    words: Mapping[str, str]
    with_score: Mapping[str, Any]
    with_amounts: Mapping[str, Any]
    gaps: tuple[str, ...] = ()
    intersect: bool = False
    adverse_impact: bool = False
    alternatives: bool = False
    page: bool = False
    public: bool = False
    superseded_by: str = ""
    no_limit: str = ""
    compared_with: str = ""
    category_limit: float | None = None

    @property
    def published_metrics(self) -> tuple[str, ...]:
        """Return the metrics of the tables to publish, which compare selections."""
        return tuple(each for each in self.options["metrics"] if each.startswith(_OF_SELECTION))

    @property
    def states_unknown(self) -> bool:
        """Return whether a published report states apart who is of unknown category."""
        return any("unknown category" in each for each in self.publishes)

    def options_for(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of the preset that are not given themselves.

        Parameters
        ----------
        given : mapping
            The options that are asked beside the preset, as they are written.
        """
        found = dict(self.options)
        if given.get("score") is not None and given.get("prediction") is None:
            found |= self.with_score
        if given.get("task") == "regression":
            found |= self.with_amounts
        if self.intersect and len(columns := _columns(given.get("sensitive"))) > 1:
            found["intersections"] = [columns]
        return {name: value for name, value in found.items() if given.get(name) is None}

    def lacking(self, given: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what a specification does not state and the sources ask for.

        Parameters
        ----------
        given : mapping
            The specification as plain values, defaults included.
        """
        stated = given.get("document") or {}
        options = (each for each in self.needs if given.get(each) in (None, [], {}, "others"))
        return (*options, *(f"document.{key}" for key in self.document if not stated.get(key)))

    def to_dict(self) -> dict[str, Json]:
        """Return the preset as plain values."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {name: list(value) for name, value in named.items() if isinstance(value, tuple)}
        dates = {name: value.isoformat() for name, value in named.items() if _is_date(value)}
        return named | lists | dates


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of all presets."""
    return tuple(sorted(path.parent.name for path in _FOLDER.glob(f"*/{_KIT}")))


def find_preset(name: object) -> Preset | None:
    """Return a preset, None where there is none: also of a folder that is elsewhere."""
    return preset(name) if isinstance(name, str) and _folder(name) is not None else None


def _folder(name: str) -> Path | None:
    """Return the folder of a preset: one of ours by its name, any other by its path."""
    folder = _FOLDER / name if name in preset_names() else Path(name)
    return folder if (folder / _KIT).is_file() else None


@cache
def preset(name: str) -> Preset:
    """Return a preset.

    Raises
    ------
    SpecError
        There is none of that name, or its folder lacks something.

    Examples
    --------
    >>> preset("nyc-ll144").status
    'in force'
    """
    folder = _folder(name)
    if folder is None:
        names = preset_names()
        allowed = f"{', '.join(names)}, or a folder with {_KIT} and {_FILING}"
        message = f"no preset {quote(name)}.{nearest(name, names)} Allowed: {allowed}"
        raise SpecError(Problem("preset", message))
    found = _read(folder)
    about, options = dict(found["kit"]), dict(found["audit"])
    apart = {key: options.pop(key) for key in _NOT_OPTIONS if key in options}
    held: dict[str, Any] = {"terms": {}, "words": {}, "with_score": {}, "with_amounts": {}}
    held |= about | apart
    if limit := held.get("no_limit"):
        held["statements"] = [*held["statements"], limit]
    lists = {key: tuple(value) for key, value in held.items() if isinstance(value, list)}
    filing = (folder / _FILING).read_text(encoding="utf-8")
    return Preset(name=name, options=options, filing=filing, **held | lists)


def _read(folder: Path) -> Mapping[str, Any]:
    """Return what ``kit.toml`` holds, each key of which is known and none lacking."""
    import tomllib  # not for --help

    try:
        found = tomllib.loads((folder / _KIT).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(Problem(f"preset {folder}", f"{_KIT}: {error}")) from None
    problems = [
        f"{_KIT} has no table [{name}]"
        for name in ("kit", "audit")
        if not isinstance(found.get(name), dict)
    ]
    if not (folder / _FILING).is_file():
        problems.append(f"{_FILING}, the document to file, is not there")
    if not problems:
        own = {*_NOT_OPTIONS, "name", "options", "filing"}
        allowed = {each.name for each in fields(Preset)} - own
        required = {e.name for e in fields(Preset) if e.default is MISSING} - own
        required -= {"terms", "words"}
        if unknown := sorted(set(found["kit"]) - allowed):
            of = ", ".join(sorted(allowed))
            problems.append(f"[kit] of {_KIT} has {listing(unknown)}. Allowed: {of}")
        if absent := sorted(required - set(found["kit"])):
            problems.append(f"[kit] of {_KIT} lacks {listing(absent)}")
        if not found["audit"].get("metrics"):
            problems.append(f"[audit] of {_KIT} names no metrics")
    if problems:
        raise SpecError([Problem(f"preset {folder}", each) for each in problems])
    return found


def presets() -> tuple[Preset, ...]:
    """Return every preset, by name."""
    return tuple(map(preset, preset_names()))


def _is_date(value: object) -> bool:
    return isinstance(value, dt.date)


def _columns(sensitive: object) -> list[str]:
    return [each.column for each in read_features(sensitive, "sensitive", [])]
