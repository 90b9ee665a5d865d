"""Specification files: TOML, YAML or JSON with the keys of `fairgauge.audit`; their JSON Schema.

Every format is read strictly, and all alike: YAML by the rules of YAML 1.2, so that
``positive: yes`` is the text "yes" and ``01`` the text "01"; dates of TOML become text in ISO form;
a duplicate key is an error.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from fairgauge.errors import Problem, SpecError, display, quote, refuse
from fairgauge.question.option_types import one_or_many
from fairgauge.question.options import BY_NAME, OPTIONS, Options, Spec
from fairgauge.question.readers import Location, items
from fairgauge.values import Json, unique_keys

Config: TypeAlias = "str | Path | Mapping[str, Any] | None"
"""A specification file, or its keys; None where there is none."""

MONITOR = "monitor"
"""The table of a specification file that `fairgauge.monitor` alone reads."""


def schema() -> dict[str, Json]:
    """Return the JSON Schema of a specification file."""
    from fairgauge.catalogue.catalogue import METRICS, RATES
    from fairgauge.catalogue.lookup import SETS
    from fairgauge.catalogue.own import KEYS

    text: dict[str, Json] = {"type": "string"}
    own: Json = {
        "description": "A metric of one's own, by sums of cells such as 5 FN + FP.",
        "type": "object",
        "properties": {**dict.fromkeys(KEYS, text), "cite": one_or_many(text)},
        "required": ["name"],
        "additionalProperties": False,
    }
    rows = [*(metric.name for metric in METRICS), *(rate.name for rate in RATES)]
    names: dict[str, list[Json]] = {"Name": [*SETS, *rows], "Metric": [*rows]}
    usual = Spec().to_dict()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Specification of a fairgauge audit",
        "description": "Every key is optional here or on the command line.",
        "type": "object",
        "properties": {
            option.name: {
                "description": f"{option.description}.",
                "default": usual[option.name],
                "anyOf": [option.type.schema, {"type": "null"}],
            }
            for option in OPTIONS
        },
        "additionalProperties": False,
        "$defs": {
            key: {
                "description": "A catalogue name (listed) or a synonym; see: fairgauge metrics.",
                "anyOf": [{"enum": listed}, text, own],
            }
            for key, listed in names.items()
        },
    }


def with_config(config: Config, options: Options, *, judges: bool = False) -> Options:
    """Return the options of a specification file, and those given beside it, which override them.

    An option that is None has its default, whatever the file has. See `overridden`. What ``judges``
    is refused where the file has rules of a monitor alone: a rule in the file is never passed over.
    """
    if config is None:
        return options
    if not isinstance(config, (str, Path, Mapping)):
        message = "must be the path of a specification file, or a mapping of its keys"
        raise SpecError(Problem("config", f"{message}, not {display(config)}"))
    keys = dict(config) if isinstance(config, Mapping) else read_options(config)
    monitor = keys.pop(MONITOR, None)
    keys = {name: value for name, value in keys.items() if options.get(name, value) is not None}
    given = {name: value for name, value in options.items() if value is not None}
    ruled = isinstance(monitor, Mapping) and monitor.get("rules") is not None
    if judges and ruled and keys.get("rules") is None and "rules" not in given:
        message = (
            "are for periods (fairgauge monitor run); give the rules of this audit (rules, --rule)"
        )
        raise SpecError(Problem(f"{MONITOR}.rules", message))
    return cast("Options", overridden(keys, given))


def overridden(keys: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a specification with those given beside it.

    These replace them; recodings and conditions replace those of the same column alone, and texts
    of the document those of the same key.

    >>> file = {"label": "y", "where": {"year": 2025, "site": "A"}}
    >>> overridden(file, {"label": "z", "where": ["site = B"]})
    {'label': 'z', 'where': [{'year': [2025]}, 'site = B']}
    """
    found = {**keys, **given}
    if isinstance(keys.get("document"), Mapping) and isinstance(given.get("document"), Mapping):
        found["document"] = {**keys["document"], **given["document"]}
    for name in ("recode", "where"):
        if keys.get(name) is not None and given.get(name) is not None:
            of, at = BY_NAME[name].type, Location(name)
            columns = {e.column for e in cast("Any", of.read(given[name], Location(name)))}
            former = cast("Any", of.read(keys[name], at))
            refuse(at.problems)
            kept = tuple(each for each in former if each.column not in columns)
            found[name] = [*([of.plain(kept)] if kept else []), *items(given[name])]
    return found


def labels_come_later(config: Config) -> bool:
    """Return whether a specification is of a monitor whose rows have their labels later."""
    if not isinstance(config, (str, Path, Mapping)):
        return False
    found = (config if isinstance(config, Mapping) else read_options(config)).get(MONITOR)
    return isinstance(found, Mapping) and found.get("labels_within") is not None


def read_options(path: str | Path) -> dict[str, object]:
    """Read a specification file into options of `fairgauge.audit`, which `ask` checks."""
    options = parse(Path(path))
    options = {} if options is None else options  # an empty YAML file
    if not isinstance(options, dict):
        message = f"must be a table of keys such as label and sensitive, not {display(options)}"
        raise SpecError(Problem(str(path), message))
    if str(options.get("schema", "")).startswith("fairgauge."):
        message = "is a saved result of fairgauge, not a specification; fairgauge.load reads it"
        raise SpecError(Problem(str(path), message))
    if options.get("recode"):
        options["recode"] = _resolve_paths(options["recode"], Path(path).parent)
    for key in ("sensitive", "probabilities"):
        for each in items(options.get(key)):
            if isinstance(each, dict) and isinstance(each.get("table"), str):
                each["table"] = str(Path(path).parent / each["table"])
    return options


def _resolve_paths(recode: object, folder: Path) -> object:
    if isinstance(recode, str):
        return recode if "=" in recode else str(folder / recode)
    if isinstance(recode, list):
        return [_resolve_paths(each, folder) for each in recode]
    if isinstance(recode, dict):
        named = {column: v for column, v in recode.items() if isinstance(v, str)}
        return recode | {column: str(folder / name) for column, name in named.items()}
    return recode


_LARGEST = 256_000
"""Bytes: a specification is written by hand, and a larger YAML file takes seconds to read."""


def parse(path: Path) -> object:
    """Read a file by its suffix: .toml, .yaml, .yml or .json."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        message = f"has no suffix of a specification file; use {', '.join(_KINDS)}"
        raise SpecError(Problem(str(path), message))
    try:
        if path.stat().st_size > _LARGEST or not path.is_file():
            message = "is not a specification: it is a folder, a device, or larger than 256 kB"
            raise SpecError(Problem(str(path), message))
        return loads(path.read_text(encoding="utf-8-sig"), kind)
    except OSError as error:
        raise SpecError(Problem(str(path), f"cannot be read: {error.strerror}")) from None
    except UnicodeDecodeError:
        raise SpecError(Problem(str(path), "is not UTF-8 text")) from None
    except Unreadable as error:
        raise SpecError(Problem(str(path), str(error))) from None


class Unreadable(ValueError):  # noqa: N818 - a reason, which the caller adds to the file's name
    """A text is not in its format; the message gives the reason, as the predicate of a sentence."""


def loads(text: str, kind: Literal["TOML", "YAML", "JSON"]) -> object:
    """Read a text in a format, in time bounded by its length whatever it holds."""
    import tomllib  # most questions are in no file

    try:
        if kind == "JSON":
            return json.loads(text, object_pairs_hook=unique_keys)
        return _dates_as_text(tomllib.loads(text) if kind == "TOML" else _read_yaml(text))
    except RecursionError:
        raise Unreadable("is nested too deeply") from None
    except ValueError as error:
        reason = " ".join(str(error).split())[:300]
        raise Unreadable(f"is not valid {kind}: {reason}") from None


_KINDS: dict[str, Literal["TOML", "YAML", "JSON"]] = {
    ".toml": "TOML",
    ".yaml": "YAML",
    ".yml": "YAML",
    ".json": "JSON",
}


def _read_yaml(text: str) -> object:
    import yaml  # most questions are in no YAML file

    class Loader(yaml.SafeLoader):
        """YAML 1.2's plain values, no key twice, no aliases (which could make a file explode)."""

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                raise yaml.YAMLError(f"aliases (*name) are not supported, line {mark.line + 1}")
            return super().compose_node(parent, index)

        def construct_mapping(
            self,
            node: yaml.MappingNode,
            deep: bool = False,  # noqa: ARG002
        ) -> dict[Hashable, object]:
            found: dict[Hashable, object] = {}
            for key_node, value_node in node.value:
                line = f"line {key_node.start_mark.line + 1}"
                if not isinstance(key_node, yaml.ScalarNode):
                    raise yaml.YAMLError(f"a key must be text, {line}")
                key = key_node.value
                if key in found:
                    raise yaml.YAMLError(f"the key {quote(key)} is given twice, {line}")
                found[key] = self.construct_object(value_node, deep=True)
            return found

    Loader.yaml_implicit_resolvers = {}
    for tag, pattern, first in _PLAIN_YAML:
        resolved = re.compile(f"^(?:{pattern})$")
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", resolved, first)
    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ValueError(f"{error.problem}{line}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


_NUMBER_YAML = r"[-+]?(?:\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?)(?:[eE][-+]?\d+)?"
_PLAIN_YAML = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", rf"{_NUMBER_YAML}|[-+]?\.(?:inf|Inf)|\.(?:nan|NaN)", list("-+.0123456789")),
)


def _dates_as_text(value: object) -> object:
    # dates in ISO form: groups are named by text, and TOML has dates of its own
    if isinstance(value, dict):
        return {str(key): _dates_as_text(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_dates_as_text(each) for each in value]
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value
