"""What a report calls things, and the document that its cover describes."""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Mapping
from typing import Any

from fairgauge.errors import display
from fairgauge.question.readers import Location
from fairgauge.start.records import dataclass, field, fields
from fairgauge.values import Json

_LONGEST = 60
"""The most characters of a word: sentences hold several."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _key(text: str) -> str:
    return field(default="", metadata={"text": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the first page of a report calls things; what is empty has a word by default.

    No number depends on them.
    """

    unit: str = _key("What a row is, in the plural (loan applications)")
    noun: str = _key("Who the rows are of, in the plural (applicants)")
    positive: str = _key("Participle for a positive decision (approved)")
    negative: str = _key("Participle for a negative decision (refused)")
    label_positive: str = _key("Verb phrase for a positive outcome (repaid)")
    label_negative: str = _key("Verb phrase for a negative outcome (did not repay)")
    groups: Mapping[str, str | Mapping[str, str]] = field(
        default_factory=dict,
        hash=False,
        metadata={
            "text": "Names of groups by feature and value, or a pattern such as {value} applicants"
        },
    )  # of an intersection a pattern of its features in braces, the name of the last in the plural

    def to_dict(self) -> dict[str, Json]:
        """Return the keys of a specification file, without those that are as by default."""
        words: dict[str, Json] = {each.name: getattr(self, each.name) for each in fields(self)}
        words["groups"] = {
            feature: names if isinstance(names, str) else dict(names)
            for feature, names in self.groups.items()
        }
        return {key: word for key, word in words.items() if word}


WORD_KEYS: dict[str, str] = {each.name: each.metadata["text"] for each in fields(Words)}
"""The keys of the table, each with its description."""


def _read_keys(value: object, keys: Mapping[str, str], at: Location) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        at.report(f"must be a table of {', '.join(keys)}, not {display(value)}")
        return {}
    at.report_unknown_keys(value, tuple(keys))
    return {key: value[key] for key in keys if value.get(key) is not None}


def read_words(value: object, at: Location) -> Words:
    """Read the table ``[words]``."""
    if isinstance(value, Words):
        return value
    given = _read_keys(value, WORD_KEYS, at)
    groups = _groups(given.pop("groups", {}), at["groups"])
    texts = {key: _text(text, at[key]) for key, text in given.items()}
    return Words(**texts, groups=groups)


def _groups(value: object, at: Location) -> Mapping[str, str | Mapping[str, str]]:
    if not isinstance(value, Mapping):
        at.report(f"must be a table of features, not {display(value)}")
        return {}
    return {
        str(feature): {str(name): _text(word, at[feature][name]) for name, word in names.items()}
        if isinstance(names, Mapping)
        else _text(names, at[feature])
        for feature, names in value.items()
    }


def _text(value: object, at: Location) -> str:
    if not isinstance(value, str):
        at.report(f"must be text, not {display(value)}")
        return ""
    seen = "".join(" " if c.isspace() else c for c in value)
    seen = " ".join("".join(c for c in seen if unicodedata.category(c) not in _UNSEEN).split())
    if len(seen) > _LONGEST:
        at.report(
            f"has {len(seen)} characters; sentences have room for {_LONGEST}: {display(seen)}"
        )
    return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Texts and dates that describe an audit, shown on the cover of a report unless empty.

    The caveat stands in the lead of reports and of comparisons of models.
    """

    title: str = _key("Title of the report")
    author: str = _key("Person who made the audit")
    organisation: str = _key("Organisation responsible for the audit")
    purpose: str = _key("Purpose of the audit")
    period: str = _key("Period that the data cover")
    source: str = _key("Source of the data")
    collected: str = _key("How and when the data were collected")
    notes: str = _key("Further remarks")
    audit_date: str = _key("Date of the audit (such as 2026-11-20)")
    first_used: str = _key("Date on which the audited tool was first used (such as 2026-01-01)")
    response: str = _key("What was done about the results")
    caveat: str = _key("What readers must know to judge the numbers, shown first in every report")

    def to_dict(self) -> dict[str, str]:
        """Return the keys of a specification file, without the empty ones."""
        texts = {each.name: getattr(self, each.name) for each in fields(self)}
        return {key: text for key, text in texts.items() if text}


DOCUMENT_KEYS: dict[str, str] = {each.name: each.metadata["text"] for each in fields(Document)}
_DATES = ("audit_date", "first_used")


def read_document(value: object, at: Location) -> Document:
    """Read the table ``[document]``."""
    if isinstance(value, Document):
        return value
    texts = _read_keys(value, DOCUMENT_KEYS, at)
    for key, text in texts.items():
        if key in _DATES and text and not _is_iso_date(str(text)):
            at[key].report(f"must be a date such as 2026-11-20, not {display(text)}")
        elif not isinstance(text, str) and key not in _DATES:
            at[key].report(f"must be text, not {display(text)}")
    return Document(**{key: str(text) for key, text in texts.items()})


def _is_iso_date(text: str) -> bool:
    try:
        return dt.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
