"""The document of an audit: what its cover states about author, subject and purpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from fairgauge.errors import Problem, shown
from fairgauge.spec.readers import unknown_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """Texts that describe an audit, shown on the cover of a report unless empty.

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
    "caveat": "What readers must know to judge the numbers, shown first in every report",
}
"""The keys of the table, each with its description."""


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
    problems += [
        Problem(f"{path}.{key}", f"must be text, not {shown(text)}")
        for key, text in texts.items()
        if not isinstance(text, str)
    ]
    return Document(**{key: str(text) for key, text in texts.items()})
