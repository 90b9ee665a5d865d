"""TOML, YAML and JSON read into plain values: every format strictly, and all alike.

YAML is read by the rules of YAML 1.2, so that ``positive: yes`` is the text "yes" and ``01`` the
text "01": only true and false are booleans, only plain numbers are numbers, all else is text as it
is written. Dates of TOML become text in ISO form. A duplicate key is an error in every format.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Hashable
from pathlib import Path
from typing import Literal

from fairgauge.errors import Problem, SpecError, quote
from fairgauge.values import unique_keys

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
