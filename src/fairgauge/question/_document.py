"""The document of an audit: what its cover states about author, subject and purpose."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TypeGuard

from fairgauge.errors import Problem, shown
from fairgauge.question.readers import unknown_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Texts and dates that describe an audit, shown on the cover of a report unless empty.

    The caveat stands in the lead of reports and of comparisons of models.

    `DESCRIPTIONS` describes what each of them holds.
    """

    title: str = ""
    author: str = ""
    organisation: str = ""
    purpose: str = ""
    period: str = ""
    source: str = ""
    collected: str = ""
    notes: str = ""
    audit_date: str = ""
    first_used: str = ""
    caveat: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the keys of a specification file, without the empty ones."""
        texts = {each.name: getattr(self, each.name) for each in fields(self)}
        return {key: text for key, text in texts.items() if text}


DESCRIPTIONS = {
    "title": "Title of the report",
    "author": "Person who made the audit",
    "organisation": "Organisation responsible for the audit",
    "purpose": "Purpose of the audit",
    "period": "Period that the data cover",
    "source": "Source of the data",
    "collected": "How and when the data were collected",
    "notes": "Further remarks",
    "audit_date": "Date of the audit (such as 2026-11-20)",
    "first_used": "Date on which the audited tool was first used (such as 2026-01-01)",
    "caveat": "What readers must know to judge the numbers, shown first in every report",
}
"""The keys of the table, each with its description."""


_DATES = ("audit_date", "first_used")


def read_document(value: object, path: str, problems: list[Problem]) -> Document:
    """Read the table ``[document]``."""
    if isinstance(value, Document):
        return value
    if not isinstance(value, Mapping):
        message = f"must be a table of {', '.join(DESCRIPTIONS)}, not {shown(value)}"
        problems.append(Problem(path, message))
        return Document()
    problems += unknown_keys(value, tuple(DESCRIPTIONS), path)
    texts = {key: value[key] for key in DESCRIPTIONS if value.get(key) is not None}
    texts |= {key: texts[key].isoformat() for key in _DATES if _is_date(texts.get(key))}
    for key, text in texts.items():
        if not isinstance(text, str):
            problems.append(Problem(f"{path}.{key}", f"must be text, not {shown(text)}"))
        elif key in _DATES and text and not _is_iso_date(text):
            message = f"must be a date such as 2026-11-20, not {shown(text)}"
            problems.append(Problem(f"{path}.{key}", message))
    return Document(**{key: str(text) for key, text in texts.items()})


def _is_date(value: object) -> TypeGuard[dt.date]:
    """Return whether a value is a date, as TOML and YAML read them, without a time."""
    return isinstance(value, dt.date) and not isinstance(value, dt.datetime)


def _is_iso_date(text: str) -> bool:
    try:
        return dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
