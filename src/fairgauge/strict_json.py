"""Reading JSON in which every key and every number has one meaning."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from fairgauge.errors import quote


def read_json(text: str) -> Any:
    """Return the values of a JSON text.

    Raises
    ------
    ValueError
        It is no JSON, has a key twice (readers differ in which one they take), holds NaN or an
        infinity, which JSON does not have, or is nested too deeply.

    Examples
    --------
    >>> read_json('{"verdict": "pass", "verdict": "fail"}')
    Traceback (most recent call last):
    ...
    ValueError: the key 'verdict' is given twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {quote(key)} is given twice")
        found[key] = value
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
