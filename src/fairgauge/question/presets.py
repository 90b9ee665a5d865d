"""Presets: options that a regulation calls for, with its status, its date and its source.

A preset is one file of data. It quotes a text and computes nothing else: no preset states that an
audit meets a law.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from fairgauge.errors import Problem, SpecError, nearest, quote
from fairgauge.question.features import read_features
from fairgauge.values import Json

_FOLDER = Path(__file__).with_name("preset_files")
_SUFFIX = ".toml"
_OF_SELECTION = ("selection_rate.", "selection_odds.", "selection_smd", "rejection_share.")
"""How the names of metrics begin that compare selections."""
_INTERSECT, _WITH_SCORE, _GAPS = "intersect", "with_score", "gaps"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """A preset.

    Attributes
    ----------
    name : what it is called: ``nyc-ll144``.
    title : what an audit of it is about.
    jurisdiction, status : where it holds, and whether it does.
    as_of : the date on which the status was established.
    superseded_by : the preset that replaces it, empty where none does.
    sources : the texts that it quotes.
    statements : what they state of the statistics.
    no_limit : the statement that they set no limit, empty where they set one.
    publishes : what a published report holds.
    compared_with : the people of a group that the text compares with, and that the user must name;
        empty where any reference serves.
    category_limit : from which gap on, as a share of the reference, a stratum counts; None where no
        text states one.
    document : what a published report states of the audit, as keys of ``[document]``.
    terms : what the text, or practice, calls metrics, by their names.
    words : what a brief calls people and decisions, as keys of ``[words]``.
    options : the options of an audit, as a specification file has them.
    gaps : the metrics of a decomposition, in place of those of an audit.
    with_score : the options that hold as well where a score decides.
    intersect : whether all features together are a table of their own.
    """

    name: str
    title: str
    jurisdiction: str
    status: str
    as_of: dt.date
    sources: tuple[str, ...]
    statements: tuple[str, ...]
    publishes: tuple[str, ...]
    terms: Mapping[str, str]
    words: Mapping[str, str]
    options: Mapping[str, Any]
    with_score: Mapping[str, Any]
    document: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    intersect: bool = False
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
        if self.intersect and len(columns := _columns(given.get("sensitive"))) > 1:
            found["intersections"] = [columns]
        return {name: value for name, value in found.items() if given.get(name) is None}

    def to_dict(self) -> dict[str, Json]:
        """Return the preset as plain values."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {name: list(value) for name, value in named.items() if isinstance(value, tuple)}
        return named | lists | {"as_of": self.as_of.isoformat()}


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of all presets."""
    return tuple(sorted(path.stem for path in _FOLDER.glob(f"*{_SUFFIX}")))


@cache
def preset(name: str) -> Preset:
    """Return a preset.

    Raises
    ------
    SpecError
        There is none of that name.

    Examples
    --------
    >>> preset("nyc-ll144").status
    'in force'
    """
    names = preset_names()
    if name not in names:
        allowed = ", ".join(names)
        message = f"no preset {quote(name)}.{nearest(name, names)} Allowed: {allowed}"
        raise SpecError(Problem("preset", message))
    import tomllib  # not for --help

    found = tomllib.loads((_FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8"))
    about, options = found["preset"], dict(found["audit"])
    no_limit = about.get("no_limit", "")
    return Preset(
        name=name,
        title=about["title"],
        jurisdiction=about["jurisdiction"],
        status=about["status"],
        as_of=about["as_of"],
        superseded_by=about.get("superseded_by", ""),
        sources=tuple(about["sources"]),
        statements=(*about["statements"], *([no_limit] if no_limit else [])),
        no_limit=no_limit,
        compared_with=about.get("compared_with", ""),
        category_limit=about.get("category_limit"),
        publishes=tuple(about["publishes"]),
        document=tuple(about.get("document", ())),
        terms=about.get("terms", {}),
        words=about.get("words", {}),
        gaps=tuple(options.pop(_GAPS, ())),
        intersect=options.pop(_INTERSECT, False),
        with_score=options.pop(_WITH_SCORE, {}),
        options=options,
    )


def presets() -> tuple[Preset, ...]:
    """Return every preset, by name."""
    return tuple(map(preset, preset_names()))


def _columns(sensitive: object) -> list[str]:
    return [each.column for each in read_features(sensitive, "sensitive", [])]
