"""TOML, YAML and JSON read into plain values: every format strictly, and all alike.

YAML is read by the rules of YAML 1.2, so that ``positive: yes`` is the text "yes" and ``01`` the
text "01": only true and false are booleans, only plain numbers are numbers, the rest is text as it
is written. Dates of TOML become text in ISO form. A key that stands twice is an error everywhere.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import yaml

from fairgauge.errors import Problem, SpecError, quote

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LARGEST = 1_000_000  # bytes; a specification is written by hand


def parse(path: Path) -> Any:
    """Read a file by its suffix: .toml, .yaml, .yml or .json.

    Raises
    ------
    SpecError
        The file cannot be read, or is not what its suffix says.
    """
    readers: dict[str, Callable[[str], Any]] = {
        ".toml": tomllib.loads,
        ".yaml": _read_yaml,
        ".yml": _read_yaml,
        ".json": _read_json,
    }
    read = readers.get(path.suffix.lower())
    if read is None:
        message = f"a specification is a {', '.join(readers)} file, by its suffix"
        raise SpecError(Problem(str(path), message))
    try:
        text = path.read_text(encoding="utf-8-sig") if _is_small_file(path) else None
        if text is not None:
            return _dates_as_text(read(text))
    except OSError as error:
        raise SpecError(Problem(str(path), f"cannot be read: {error.strerror}")) from None
    except UnicodeDecodeError:
        raise SpecError(Problem(str(path), "is not UTF-8 text")) from None
    except RecursionError:
        raise SpecError(Problem(str(path), "is nested too deeply")) from None
    except (ValueError, yaml.YAMLError) as error:
        what = path.suffix.lower().removeprefix(".").upper().replace("YML", "YAML")
        reason = _yaml_reason(error) if isinstance(error, yaml.MarkedYAMLError) else str(error)
        reason = " ".join(reason.split())[:300]
        raise SpecError(Problem(str(path), f"is not valid {what}: {reason}")) from None
    message = "is not a specification: it is a folder, a device, or larger than 1 MB"
    raise SpecError(Problem(str(path), message))


def _is_small_file(path: Path) -> bool:
    return path.stat().st_size <= _LARGEST and path.is_file()


def _yaml_reason(error: yaml.MarkedYAMLError) -> str:
    line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
    return f"{error.problem}{line}"


def _read_json(text: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise ValueError(f"the key {quote(key)} stands twice")
            found[key] = value
        return found

    return json.loads(text, object_pairs_hook=once)


def _read_yaml(text: str) -> Any:
    return yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader


class _Loader(yaml.SafeLoader):
    """YAML 1.2's plain values, no key twice, no aliases (which could make a file explode)."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"aliases (*name) are not supported, line {mark.line + 1}")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: ARG002
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            line = key_node.start_mark.line + 1
            if key is None:
                raise yaml.YAMLError(f"a key must be text, line {line}")
            if key in found:
                raise yaml.YAMLError(f"the key {quote(key)} stands twice, line {line}")
            found[key] = self.construct_object(value_node, deep=True)
        return found


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.\d+|(?:0|[1-9]\d*)(?:\.\d*)?)(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf)|\.(?:nan|NaN)",
        list("-+.0123456789"),
    ),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first
    )


def _dates_as_text(value: Any) -> Any:
    """Return dates in ISO form: groups are named by text, and TOML has dates of its own."""
    if isinstance(value, dict):
        return {str(key): _dates_as_text(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_dates_as_text(each) for each in value]
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value
