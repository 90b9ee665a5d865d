"""Reading JSON in which every key and every number has one meaning."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from fairgauge.errors import quote


class AmbiguousJsonError(ValueError):
    """JSON that programs read in different ways, or not at all."""


def read_json(text: str) -> Any:
    """Return the values of a JSON text.

    Raises
    ------
    AmbiguousJsonError
        It has a key twice, or holds NaN or an infinity, which JSON does not have.
    ValueError
        It is no JSON, or is nested too deeply.

    Examples
    --------
    >>> read_json('{"verdict": "pass", "verdict": "fail"}')
    Traceback (most recent call last):
    ...
    fairgauge.strict_json.AmbiguousJsonError: the key 'verdict' is given twice
    """
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON, as the hook of the standard library for its pairs."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise AmbiguousJsonError(f"the key {quote(key)} is given twice")
        found[key] = value
    return found


def _refuse(name: str) -> NoReturn:
    raise AmbiguousJsonError(f"{name} is no number of JSON")
