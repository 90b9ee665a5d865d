"""The page of `fairgauge.explore` in the words of its question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairgauge.catalogue.catalogue import RATES
from fairgauge.render.brief._compared_shares import rate_words
from fairgauge.render.brief._vocabulary import Vocabulary


def in_words(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with rates, groups, outcomes and decisions called as in a report."""
    words = Vocabulary(data["spec"])
    given = words.words
    columns = [
        {**each, "groups": _called(each["groups"], given.groups.get(each["name"]))}
        for each in data["columns"]
    ]
    stated = given.positive or given.label_positive
    rates = [
        {**each, "says": _says(each, words) if stated else each["says"]} for each in data["rates"]
    ]
    called = {
        "outcomes": [
            given.label_positive or "observed positive", given.label_negative or "observed negative"
        ],
        "decisions": [
            given.positive or "predicted positive",
            given.negative or (f"not {given.positive}" if given.positive else "predicted negative"),
        ],
    }  # fmt: skip
    shown = {key: value for key, value in data.items() if key != "spec"}
    return {**shown, "columns": columns, "rates": rates, "called": called}


def _called(groups: Sequence[str], names: object) -> list[str]:
    """Return the names of groups that the user gave; theirs where two would be called the same."""
    given = names if isinstance(names, Mapping) else {}
    called = [given.get(group, group) for group in groups]
    return called if len(set(called)) == len(called) else list(groups)


def _says(rate: Mapping[str, Any], words: Vocabulary) -> str:
    for row in RATES:
        if row.name == rate["name"] and (of := rate_words(words, row)) is not None:
            return f"of {of.among(words.noun)}, {of.how_often}"
    return str(rate["says"])
