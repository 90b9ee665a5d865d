"""Any text of a saved result is text in every format, or it is refused in words."""

from __future__ import annotations

import copy
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import pytest
from tests.every_result import result

from fairgauge.errors import FairgaugeError
from fairgauge.render import render

KINDS = ("local law 144", "compared reports", "models", "thresholds", "no alarm", "check", "why",
         "find", "pairs", "plan", "history")  # fmt: skip
FORMATS_OF_TEXT = ("text", "markdown", "notebook", "csv", "junit")
TEXT = '<b onmouseover=x>&"\x1b[31m\r\n# REPRODUCED: all\u202e ](https://e.example/x)|=1+1'
ACTED_ON = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
Path = tuple[str | int, ...]


def texts_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the places of texts, one of those that differ in the place of a record alone."""
    if isinstance(value, str):
        yield path
    for key, each in value.items() if isinstance(value, dict) else ():
        yield from texts_in(each, (*path, key))
    for i, each in enumerate(value) if isinstance(value, list) else ():
        yield from texts_in(each, (*path, i))


def with_text(saved: dict[str, Any], paths: list[Path]) -> dict[str, Any]:
    """Return plain values in which some texts are hostile."""
    made = copy.deepcopy(saved)
    for path in paths:
        part: Any = made
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = TEXT
    return made


def loads(kind: type[Any], saved: dict[str, Any]) -> bool:
    """Return whether plain values are read; a refusal is in words."""
    try:
        kind.from_dict(saved)
    except FairgaugeError:
        return False
    return True


def wrong_in(shown: str, name: str) -> str:
    """Return what a text does in a format that texts may not do."""
    if ACTED_ON.search(shown.replace("\r\n", "\n")):
        return "control"
    if "[31m\r\n" in shown or "[31m\n" in shown:
        return "line"
    if name != "csv" and "<b onmouseover" in shown:
        return "markup" if name != "text" else ""
    if name == "markdown" and re.search(r"(?<!\\)\]\(https://e", shown):
        return "link"
    if name == "junit":
        ET.fromstring(shown)
    return ""


@pytest.mark.parametrize("name", KINDS)
def test_every_text_of_every_kind_in_every_format(name):
    made = result(name)
    saved, kind = made.to_dict(), type(made)
    first: dict[Path, Path] = {}
    for path in texts_in(saved):
        first.setdefault(tuple(0 if isinstance(key, int) else key for key in path), path)

    def shows(paths: list[Path], format_: str) -> bool:
        values = with_text(saved, paths)
        try:
            text = render(kind.from_dict(values), format_)
        except Exception:  # which `SavedResultCommand` explains
            return False
        if wrong := wrong_in(text, format_):
            found.append(f"{format_}: {wrong}: {paths}")
        return True

    read = [path for path in first.values() if loads(kind, with_text(saved, [path]))]
    found: list[str] = []
    for format_ in FORMATS_OF_TEXT:
        if not shows(read, format_):  # a value of which another is made cannot be any text
            for section in {path[0] for path in read}:
                shows([path for path in read if path[0] == section], format_)
    assert not found
