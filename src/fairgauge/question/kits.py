"""Presets: what a filer owes, as a file of data: options, texts, the document to file.

A preset quotes its sources and computes nothing: none states that an audit meets a law. One of your
own is a TOML file, or a folder with kit.toml. Its template runs, so that no other file can have it
opened: who runs fairgauge names it by its path, or a folder of kits (`FOLDER_OF_KITS`) in which it
is found by its name. A saved question holds the values of one's own and its name, and never its
template or its path.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from fairgauge import errors
from fairgauge.enums import Favourable
from fairgauge.errors import Problem, SpecError, listing, problems_where, quote, refuse, suggest
from fairgauge.question.category_words import is_column_of
from fairgauge.question.features import read_features
from fairgauge.question.option_types import PRESET, WORDS, read_phrase
from fairgauge.question.options import BY_NAME
from fairgauge.question.readers import Location, parse
from fairgauge.start.records import MISSING, dataclass, field, fields
from fairgauge.values import Json

_FOLDER = Path(__file__).parents[1] / "kits"
FOLDER_OF_KITS = "FAIRGAUGE_KITS"
"""The variable of the environment that names a folder of kits of one's own."""
_opened: dict[str, Kit] = {}  # what was named by its path, in this process, by that and its name
_OF_SELECTION = (  # how the names of metrics begin that compare selections
    "selection_rate.", "selection_odds.", "denials_odds.", "selection_smd", "rejection_share.",
)  # fmt: skip
_TYPES: dict[str, object] = {
    "str": str, "bool": bool, "float | None": (int, float), "dt.date": dt.date,
    "dt.date | None": dt.date, "tuple[str, ...]": list, "Mapping[str, str]": dict,
}  # fmt: skip
"""Of which type of TOML the keys of ``[kit]`` are; lists and tables are of texts."""
_LONGEST = 80  # the name of a preset
_IN_FOLDER = "kit.toml"  # what a folder that is a preset, and gives it its name, has it in
_SAVED = ("favourable", "metrics", "reference", "rules", "task")
"""The options of a preset that a saved question has next to its own."""
_NOT_OPTIONS = ("intersect", "with_score", "with_amounts", "gaps")  # though keys of ``[audit]``


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """A preset."""

    name: str  # what it is called
    title: str  # what an audit of it is about
    jurisdiction: str  # where it holds, and whether it does
    status: str
    as_of: dt.date  # the date on which the status was established
    sources: tuple[str, ...]  # the texts that it quotes
    read: str  # how they were read: the official text, or a secondary source
    statements: tuple[str, ...]  # what the sources state of the statistics
    publishes: tuple[str, ...]  # what a published report holds
    options: Mapping[str, Any]  # the options of an audit, as a specification file has them
    filing: str = field(compare=False)  # the template of the document to file; "" where it is not
    in_force: dt.date | None = None  # since when, or from when on, it is in force
    period: str = ""  # when the audit must be repeated; empty where no source states it
    records: str = ""  # what must be kept, or for how long
    needs: tuple[str, ...] = ()  # options that the text asks for
    document: tuple[str, ...] = ()  # what a published report states: keys of `[document]`
    terms: Mapping[str, str]  # what the text, or practice, calls metrics, by their names
    words: Mapping[str, str]  # what a brief calls people and decisions, as keys of `[words]`
    with_score: Mapping[
        str, object
    ]  # the options that hold as well where a score decides; of amounts
    with_amounts: Mapping[str, object]
    gaps: tuple[str, ...] = ()  # the metrics of a decomposition, in place of those of an audit
    intersect: bool = False  # whether all features together are a table of their own
    states_unknown: bool = False  # whether people of unknown category are stated apart
    codes_of_actions: bool = False  # whether numbers of an outcome may be HMDA's codes
    adverse_impact: bool = False  # whether the shortfall and exact tests are filed
    page: bool = False  # whether the page that needs no installation can ask for it
    public: bool = False  # whether its tables are published, and not filed or kept alone
    superseded_by: str = ""  # the preset that replaces it, empty where none does
    no_limit: str = ""  # the statement that they set no limit, empty where they set one
    compared_with: str = ""  # the people whom the text compares with; empty: any
    category_limit: float | None = None  # from which gap on, as a share, a stratum counts

    def to_dict(self) -> Json:
        """Return what a saved question has of it: the name of ours, the values of another."""
        if self.is_ours:
            return self.name
        held: dict[str, Any] = {
            each.name: str(value) if isinstance(value, dt.date) else
            [*value] if isinstance(value, tuple) else value
            for each in fields(self) if (value := getattr(self, each.name))
        }  # fmt: skip
        name, options, _ = (held.pop(key, {}) for key in ("name", "options", "filing"))
        own = {key: held.pop(key) for key in _NOT_OPTIONS if key in held and key != "with_score"}
        held.pop("with_score", None)
        if "with_amounts" in own:
            own["with_amounts"] = _saved_options(own["with_amounts"])
        return {"name": name, "kit": held, "audit": _saved_options(options) | own}

    def __str__(self) -> str:
        return self.name

    @property
    def is_ours(self) -> bool:
        return self.name in kit_names()

    @property
    def published_metrics(self) -> tuple[str, ...]:
        """Return the metrics of the tables to publish, which compare selections."""
        return tuple(each for each in self.options["metrics"] if each.startswith(_OF_SELECTION))

    @property
    def publishes_amounts(self) -> bool:
        return self.public and self.options.get("task") == "regression"

    def options_for(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return the preset's options, as they are written, except those that the user gave."""
        found = dict(self.options)
        if given.get("score") is not None and given.get("prediction") is None:
            found |= self.with_score
        if given.get("task") == "regression":
            found |= self.with_amounts
            amount = given.get("label") or given.get("prediction")
            if found.get("favourable") == "lower" and not is_column_of("cost", str(amount)):
                del found["favourable"]  # of loans and limits, less is no better
        columns = [each.column for each in read_features(given.get("sensitive"), Location())]
        if self.intersect and len(columns) > 1:
            found["intersections"] = [columns]
        found = {name: value for name, value in found.items() if given.get(name) is None}
        # a saved question has them all, which does not show that a user stated the direction
        own, same = given.get("words") or {}, self.options.get("favourable") == "positive"
        if found and same and given.get("favourable") == "positive" and isinstance(own, Mapping):
            found["words"] = {"positive": self.words.get("positive", "favourable"), **own}
        return found

    def lacking(self, given: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what a specification, as plain values, does not state and the sources ask for."""
        stated = given.get("document") or {}
        options = (each for each in self.needs if given.get(each) in (None, [], {}, "others"))
        return (*options, *(f"document.{key}" for key in self.document if not stated.get(key)))


def kit_names() -> tuple[str, ...]:
    """Return the names of all presets."""
    return PRESET.words


def _saved_options(options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if name in _SAVED}


def kit_or_none(name: object) -> Kit | None:
    """Return a preset that a result states, None where nobody named its file or its folder.

    Raises ``SpecError``: it is stated by a path, which no result has.
    """
    if isinstance(name, Mapping):
        _refuse_path(name.get("name"))
        with errors.collecting([]):
            return read_kit(name, Location())
    if not isinstance(name, str):
        return None
    if name in _opened:
        return _opened[name]
    _refuse_path(name)
    own = os.environ.get(FOLDER_OF_KITS)
    folder = _FOLDER if name in kit_names() else Path(own) if own else None
    files = (folder / f"{name}.toml", folder / name / _IN_FOLDER) if folder else ()
    return next((_kit_of(file, name) for file in files if file.is_file()), None)


def _refuse_path(name: object) -> None:
    # refuse what is no plain name, such as one that leads out of a folder
    if (plain := Path(str(name)).name) != name or not plain.strip(".") or len(plain) > _LONGEST:
        raise _no_preset(name)


def _no_preset(name: object) -> SpecError:
    message = (
        f"no preset {quote(name)}.{suggest(str(name), kit_names())} Allowed: "
        f"{', '.join(kit_names())}, or of your own a .toml file, or a folder with {_IN_FOLDER}, "
        f"which no other file can name: give it as --preset, or what holds it in {FOLDER_OF_KITS}"
    )
    return SpecError(Problem("preset", message))


def word_for_positive(kit: Kit | None) -> str | None:
    """Return what a preset calls the positive outcome: favourable, where it has no other word."""
    if kit is None:
        return None
    stated = kit.options.get("favourable") == Favourable.POSITIVE
    return kit.words.get("positive", "favourable" if stated else None)


def find_kit(name: str) -> Kit:
    """Return a preset; refuse the name of none, and a file that nobody but a file names."""
    if (kit := kit_or_none(name)) is None:
        raise _no_preset(name)
    return kit


def open_kit(name: str) -> Kit:
    """Return a preset that a user names: of a path, the file, or kit.toml of the folder, there."""
    file = Path(name, _IN_FOLDER) if Path(name).is_dir() else Path(name)
    if name not in kit_names() and file.suffix == ".toml" and file.is_file():
        kit = _kit_of(file, Path(name).absolute().name.removesuffix(".toml"))
        if kit.name in kit_names():
            message = f"has the name of a preset of fairgauge, {kit.name}; rename it"
            raise SpecError(Problem(f"preset {name}", message))
        _opened[name] = _opened[kit.name] = kit
    return find_kit(name)


def read_kit(value: object, at: Location) -> Kit:
    """Return a preset by its name, or by the values that a saved question holds of one's own.

    Of these it has the template that is found by its name, and none where there is none.
    """
    if isinstance(value, Kit):
        return value
    if not isinstance(value, Mapping):
        return find_kit(str(value))
    name, kit = str(value.get("name")), dict(_table(value, "kit"))
    if name in kit_names():
        raise SpecError(Problem(at.path, f"{name} is a preset of fairgauge: state its name alone"))
    found = kit_or_none(name)
    tables = {"kit": kit | {"filing": found.filing if found else ""}, "audit": value.get("audit")}
    return _kit_of_tables(name, tables)


@cache
def _kit_of(file: Path, name: str) -> Kit:
    return _kit_of_tables(name, cast("Mapping[str, Any]", parse(file)))


def _kit_of_tables(name: str, tables: Mapping[str, Any]) -> Kit:
    kit = _table(tables, "kit")
    for key in {"as_of", "in_force"} & kit.keys():
        with suppress(TypeError, ValueError):
            kit[key] = dt.date.fromisoformat(kit[key])
    _check_kit(tables, f"preset {name}")
    options = dict(tables["audit"])
    keys: dict[str, Any] = {"terms": {}, "words": {}, "with_score": {}, "with_amounts": {}}
    keys |= tables["kit"] | {key: options.pop(key) for key in _NOT_OPTIONS if key in options}
    if limit := keys.get("no_limit"):
        keys["statements"] = [*keys["statements"], limit]
    keys = {key: tuple(value) if isinstance(value, list) else value for key, value in keys.items()}
    return Kit(name=name, options=options, **keys)


def _check_kit(found: Mapping[str, object], at: str) -> None:
    # refuse a key that is not known, one that lacks, and one of another type
    kit, audit = _table(found, "kit"), _table(found, "audit")
    rows = {e.name: e for e in fields(Kit) if e.name not in (*_NOT_OPTIONS, "name", "options")}
    types = {key: _TYPES.get(str(rows[key].type), object) for key in kit if key in rows}
    wrong = [key for key, type_ in types.items() if not _is_of(kit[key], type_)]
    needed = rows.keys() - {"terms", "words", *kit}
    absent = sorted(key for key in needed if rows[key].default is MISSING)
    metrics, no_limit = audit.get("metrics"), not (audit.get("rules") or kit.get("no_limit"))
    problems: list[Problem] = []
    Location(at, problems).report_unknown_keys(found, ["kit", "audit", "example"])
    keys = [("kit", kit, [*rows]), ("audit", audit, [*BY_NAME, *_NOT_OPTIONS])]
    keys += [(f"audit.{n}", _table(audit, n), [*BY_NAME]) for n in ("with_score", "with_amounts")]
    for name, table, allowed in keys:
        Location(f"{at} [{name}]", problems).report_unknown_keys(table, allowed)
    WORDS.read(_table(kit, "words"), Location(f"{at} [kit.words]", problems))
    for name, term in _table(kit, "terms").items():
        read_phrase(term, Location(f"{at} [kit.terms]", problems)[name])
    phrases = ("title", "jurisdiction", "status")
    stating = [key for key in phrases if errors.IMITATES.search(str(kit.get(key)))]
    refuse(problems + problems_where(
        (not audit, at, "has no table [audit]"),
        (wrong, at, f"[kit] has {listing(wrong)} of another type than it needs"),
        (absent, at, f"[kit] lacks {listing(absent)}"),
        (stating, at, f"[kit] has a sentence or a verdict in {listing(stating)}; state a phrase"),
        (not (metrics and _is_of(metrics, list)), at, "[audit] names no list of metrics"),
        (no_limit, at, "has neither rules nor no_limit, that no limit is set"),
    ))  # fmt: skip


def _is_of(value: Any, type_: Any) -> bool:
    within = value.values() if isinstance(value, dict) else value
    parts = within if isinstance(value, (dict, list)) else ()
    return isinstance(value, type_) and all(isinstance(part, str) for part in parts)


def _table(tables: Mapping[str, object], name: str) -> dict[str, Any]:
    return table if isinstance(table := tables.get(name), dict) else {}
