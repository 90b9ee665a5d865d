"""Specification files: TOML, YAML or JSON with the keys of `fairgauge.audit`; their JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from fairgauge.errors import Problem, SpecError, listing, refuse, shown
from fairgauge.question.conditions import plain_conditions, read_conditions
from fairgauge.question.file_formats import parse
from fairgauge.question.option_types import one_or_many
from fairgauge.question.options import OPTIONS, Options, Spec
from fairgauge.question.readers import items
from fairgauge.question.recoding import plain_recodings, read_recodings
from fairgauge.values import Json

Config: TypeAlias = "str | Path | Mapping[str, Any] | None"
"""A specification file, or its keys; None where there is none."""

_OF_COLUMNS: dict[str, tuple[Callable[..., Any], Callable[..., Json]]] = {
    "recode": (read_recodings, plain_recodings),
    "where": (read_conditions, plain_conditions),
}
MONITOR = "monitor"
"""The table of a specification file that `fairgauge.monitor` alone reads."""


def schema() -> dict[str, Json]:
    """Return the JSON Schema of a specification file.

    Examples
    --------
    >>> schema()["properties"]["label"]["description"]
    'Column of the observed outcome.'
    """
    from fairgauge.catalogue.catalogue import METRICS, RATES
    from fairgauge.catalogue.lookup import SETS
    from fairgauge.catalogue.own_by_name import KEYS

    text: dict[str, Json] = {"type": "string"}
    keys: dict[str, Json] = {**dict.fromkeys(KEYS, text), "cite": one_or_many(text)}
    own: Json = {
        "description": "A metric of one's own, by sums of cells such as 5 FN + FP.",
        "type": "object",
        "properties": keys,
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


def with_config(
    config: Config, options: Options, *, judges: bool = False, counts: bool = False
) -> Options:
    """Return the options of a specification file, and those given beside it, which override them.

    An option that is None has its default, whatever the file has. See `overridden`.

    An audit of a monitor's file ``judges`` by the rules of the monitor, where it has none of its
    own: a rule in the file is never passed over. ``counts`` carry those that an audit of them can
    judge by; see `without_baselines` for the others.
    """
    if config is None:
        return options
    if not isinstance(config, (str, Path, Mapping)):
        message = "must be the path of a specification file, or a mapping of its keys"
        raise SpecError(Problem("config", f"{message}, not {shown(config)}"))
    keys = dict(config) if isinstance(config, Mapping) else read_options(config)
    monitor = keys.pop(MONITOR, None)
    keys = {name: value for name, value in keys.items() if options.get(name, value) is not None}
    given = {name: value for name, value in options.items() if value is not None}
    rules = monitor.get("rules") if isinstance(monitor, Mapping) else None
    if rules is not None and keys.get("rules") is None and "rules" not in given:
        of_baselines = _of_baselines(rules)
        if judges:
            refuse([_needs_baseline(i) for i in of_baselines])
        if judges or counts:
            keys["rules"] = [rule for i, rule in enumerate(items(rules)) if i not in of_baselines]
    return cast("Options", overridden(keys, given))


def overridden(keys: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a specification with those given beside it.

    These replace them; recodings and conditions replace those of the same column alone.

    >>> file = {"label": "y", "where": {"year": 2025, "site": "A"}}
    >>> overridden(file, {"label": "z", "where": ["site = B"]})
    {'label': 'z', 'where': [{'year': [2025]}, 'site = B']}
    """
    found = {**keys, **given}
    for name, (read, plain) in _OF_COLUMNS.items():
        if keys.get(name) is None or given.get(name) is None:
            continue
        columns = {each.column for each in read(given[name], name, [])}
        problems: list[Problem] = []
        kept = tuple(e for e in read(keys[name], name, problems) if e.column not in columns)
        refuse(problems)
        found[name] = [*([plain(kept)] if kept else []), *items(given[name])]
    return found


def labels_come_later(config: Config) -> bool:
    """Return whether a specification is of a monitor whose rows have their labels later.

    >>> labels_come_later({"monitor": {"labels": "later"}}), labels_come_later({"label": "y"})
    (True, False)
    """
    if not isinstance(config, (str, Path, Mapping)):
        return False
    monitor = (config if isinstance(config, Mapping) else read_options(config)).get(MONITOR)
    return isinstance(monitor, Mapping) and monitor.get("labels") == "later"


def without_baselines(config: Config) -> str | None:
    """Return a sentence on the rules of a monitor that counts cannot carry; None without any.

    >>> near = {"metric": "recall.difference", "within": 0.05, "of": "2024.cube.json"}
    >>> without_baselines({"monitor": {"rules": ["DI >= 0.8", near]}})[:40]
    'monitor.rules[1]: counts do not carry a '
    """
    if not isinstance(config, (str, Path, Mapping)):
        return None
    keys = config if isinstance(config, Mapping) else read_options(config)
    monitor = keys.get(MONITOR)
    if not isinstance(monitor, Mapping) or keys.get("rules") is not None:
        return None
    named = [f"{MONITOR}.rules[{i}]" for i in _of_baselines(monitor.get("rules"))]
    if not named:
        return None
    return (
        f"{', '.join(named)}: counts do not carry a rule that holds rows against a baseline; an "
        "audit of them does not judge by it, a monitor does (fairgauge monitor run)"
    )


def _of_baselines(rules: object) -> list[int]:
    return [
        i
        for i, rule in enumerate(items(rules))
        if isinstance(rule, Mapping) and ("of" in rule or "within" in rule)
    ]


def _needs_baseline(i: int) -> Problem:
    return Problem(
        f"{MONITOR}.rules[{i}].of",
        "an audit has no baseline to hold rows against; give the rules that it judges by "
        "(rules, --rule), or let the monitor judge (fairgauge monitor run)",
    )


def read_options(path: str | Path) -> dict[str, object]:
    """Read a specification file into options of `fairgauge.audit`, which `ask` checks."""
    options = parse(Path(path))
    options = {} if options is None else options  # an empty YAML file
    if not isinstance(options, dict):
        message = f"must be a table of keys such as label and sensitive, not {shown(options)}"
        raise SpecError(Problem(str(path), message))
    if str(options.get("schema", "")).startswith("fairgauge."):
        message = "is a saved result of fairgauge, not a specification; fairgauge.load reads it"
        raise SpecError(Problem(str(path), message))
    if options.get("recode"):
        options["recode"] = _located(options["recode"], Path(path).parent)
    for key in ("sensitive", "probabilities"):
        every = options.get(key)
        for each in every if isinstance(every, list) else [every]:
            if (
                isinstance(each, dict)
                and "probabilities" in each
                and isinstance(each.get("table"), str)
            ):
                each["table"] = str(Path(path).parent / each["table"])
    from fairgauge.catalogue.own_by_name import ALLOW, not_imported  # not for --help

    code = _import_paths(options)
    if modules := not_imported(code):
        message = (
            f"names code, {listing(code)}: reading it would import {listing(modules)} from "
            f"{Path(path).parent}; {ALLOW} allows it"
        )
        raise SpecError(Problem(str(path), message))
    return options


def import_code(path: str | Path) -> None:
    """Import the modules that a specification file names, which are in its folder."""
    from fairgauge.catalogue.own_by_name import import_beside, not_imported  # not for --help

    for module in not_imported(_import_paths(parse(Path(path)))):
        import_beside(module, Path(path).parent)


def _import_paths(keys: object) -> list[str]:
    from fairgauge.catalogue.own_by_name import import_paths  # not for --help

    keys = keys if isinstance(keys, Mapping) else {}
    monitor = keys.get(MONITOR)
    tables = (keys, monitor) if isinstance(monitor, Mapping) else (keys,)
    rules = [each for table in tables for each in items(table.get("rules"))]
    tables_of_rules = [each for each in rules if isinstance(each, Mapping)]
    rules += [other for each in tables_of_rules for other in items(each.get("alternatives"))]
    named = (each.get("metric") if isinstance(each, Mapping) else each for each in rules)
    return import_paths([*items(keys.get("metrics")), *named])


def _located(recode: object, folder: Path) -> object:
    if isinstance(recode, str):
        return recode if "=" in recode else str(folder / recode)
    if isinstance(recode, list):
        return [_located(each, folder) for each in recode]
    if isinstance(recode, dict):
        named = {column: v for column, v in recode.items() if isinstance(v, str)}
        return recode | {column: str(folder / name) for column, name in named.items()}
    return recode


def toml_value(value: Json) -> str:
    """Return a value as TOML, which JSON writes alike but for tables and the DEL character."""
    if isinstance(value, dict):
        keys = (f"{key} = {toml_value(each)}" for key, each in value.items())
        return f"{{{', '.join(keys)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
