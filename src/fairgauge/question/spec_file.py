"""Specification files: TOML, YAML or JSON with the keys of `fairgauge.audit`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

from fairgauge.errors import Problem, SpecError, display, refuse
from fairgauge.question.kits import find_kit, open_kit
from fairgauge.question.options import BY_NAME, Options
from fairgauge.question.readers import Location, items, parse, refuse_costly

Config: TypeAlias = "str | Path | Mapping[str, Any] | None"  # a specification file, or its keys
MONITOR = "monitor"  # the table of a specification file that `fairgauge.monitor` alone reads


def with_config(config: Config, options: Options, *, judges: bool = False) -> Options:
    """Return the options of a specification file, and those given beside it, which override them.

    A preset given beside it may be a file, which is opened; the file cannot name one.
    An option that is None has its default, whatever the file has. See `overridden`. What ``judges``
    is refused where the file has rules of a monitor alone: a rule in the file is never passed over.
    """
    if isinstance(preset := options.get("preset"), str):
        open_kit(preset)
    if config is None:
        return options
    if not isinstance(config, (str, Path, Mapping)):
        message = "must be the path of a specification file, or a mapping of its keys"
        raise SpecError(Problem("config", f"{message}, not {display(config)}"))
    keys = dict(config) if isinstance(config, Mapping) else read_options(config)
    monitor = keys.pop(MONITOR, None)
    if isinstance(stated := keys.get("preset"), str) and preset is None:
        (open_kit if isinstance(config, Mapping) else find_kit)(stated)
    keys = {name: value for name, value in keys.items() if options.get(name, value) is not None}
    given = {name: value for name, value in options.items() if value is not None}
    ruled = isinstance(monitor, Mapping) and monitor.get("rules") is not None
    if judges and ruled and keys.get("rules") is None and "rules" not in given:
        message = "are for periods (fairgauge monitor run); give the rules of this audit"
        raise SpecError(Problem(f"{MONITOR}.rules", f"{message} (rules, --rule)"))
    return cast("Options", overridden(keys, given))


def overridden(keys: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a specification with those given beside it.

    These replace them; recodings and conditions replace those of the same column alone, and texts
    of the document those of the same key.
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
    refuse_costly(options.get("replicates"), options.get("threshold"))
    folder = Path(path).parent
    if options.get("recode"):
        options["recode"] = [
            str(folder / each) if isinstance(each, str) and "=" not in each else each
            for each in items(options["recode"])
        ]
    for key in ("sensitive", "probabilities"):
        for each in items(options.get(key)):
            if isinstance(each, dict) and isinstance(each.get("table"), str):
                each["table"] = str(folder / each["table"])
    return options
