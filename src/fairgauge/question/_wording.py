"""What a report calls things, and the document that its cover describes."""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections.abc import Mapping
from contextlib import suppress

from fairgauge.errors import display
from fairgauge.question.readers import Location, read_table
from fairgauge.start.records import dataclass, field, fields
from fairgauge.values import Json

_LONGEST = 60
"""The most characters of a word: sentences hold several."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def _key(text: str) -> str:
    return field(default="", metadata={"text": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Texts:
    def to_dict(self) -> dict[str, Json]:
        """Return the keys of a specification file, without the empty ones."""
        return {each.name: text for each in fields(self) if (text := getattr(self, each.name))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(_Texts):
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


WORD_KEYS: dict[str, str] = {each.name: each.metadata["text"] for each in fields(Words)}
"""The keys of the table, each with its description."""


def read_words(value: object, at: Location) -> Words:
    """Read the table ``[words]``."""
    if isinstance(value, Words):
        return value
    return Words(**read_table(value, {**dict.fromkeys(WORD_KEYS, _word), "groups": _groups}, at))


def _groups(value: object, at: Location) -> Mapping[str, str | Mapping[str, str]]:
    if not isinstance(value, Mapping):
        at.report(f"must be a table of features, not {display(value)}")
        return {}
    return {
        str(feature): {str(name): _word(word, at[feature][name]) for name, word in names.items()}
        if isinstance(names, Mapping)
        else _word(names, at[feature])
        for feature, names in value.items()
    }


def _text(value: object, at: Location) -> str:
    if not isinstance(value, str):
        at.report(f"must be text, not {display(value)}")
    return str(value)


def _word(value: object, at: Location) -> str:
    seen = "".join(" " if c.isspace() else c for c in _text(value, at))
    seen = " ".join("".join(c for c in seen if unicodedata.category(c) not in _UNSEEN).split())
    if isinstance(value, str) and len(seen) > _LONGEST:
        at.report(
            f"has {len(seen)} characters; sentences have room for {_LONGEST}: {display(seen)}"
        )
    return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(_Texts):
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


DOCUMENT_KEYS: dict[str, str] = {each.name: each.metadata["text"] for each in fields(Document)}


def read_document(value: object, at: Location) -> Document:
    """Read the table ``[document]``."""
    if isinstance(value, Document):
        return value
    dates = dict.fromkeys(("audit_date", "first_used"), _date)
    return Document(**read_table(value, {**dict.fromkeys(DOCUMENT_KEYS, _text), **dates}, at))


def _date(value: object, at: Location) -> str:
    text = str(value)
    with suppress(ValueError):
        if not text or dt.date.fromisoformat(text).isoformat() == text:
            return text
    at.report(f"must be a date such as 2026-11-20, not {display(value)}")
    return text
