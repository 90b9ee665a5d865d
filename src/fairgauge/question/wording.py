"""The words of an audit: what a report calls rows, people, outcomes and groups."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from fairgauge.enums import Favourable
from fairgauge.errors import Problem, nearest, shown
from fairgauge.question.readers import one_of, unknown_keys

if TYPE_CHECKING:
    from fairgauge.values import Json

_LONGEST = 60
"""The most characters of a word: sentences hold several."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the first page of a report calls things; what is empty has a word by default.

    No number depends on them: ``favourable`` alone decides who a sentence calls worse off.

    Attributes
    ----------
    unit, noun : what a row is (``loan applications``), and who the rows are of (``applicants``).
    positive, negative : participles after "were", of a decision: ``approved``, ``refused``.
    label_positive, label_negative : verb phrases after "who", of an outcome: ``repaid``.
    favourable : which decision is the better one for a person; of an amount, higher or lower.
    groups : by feature, a name for each value, or a pattern of ``{value}`` and ``{noun}``; of an
        intersection a pattern of its features in braces, the name of the last in the plural.
    """

    unit: str = ""
    noun: str = ""
    positive: str = ""
    negative: str = ""
    label_positive: str = ""
    label_negative: str = ""
    favourable: Favourable = Favourable.POSITIVE
    groups: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict, hash=False)

    def to_dict(self) -> dict[str, Json]:
        """Return the keys of a specification file, without those that are as by default."""
        given: dict[str, Json] = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name != "groups" and getattr(self, each.name) != each.default
        }
        groups: dict[str, Json] = {
            feature: names if isinstance(names, str) else dict(names)
            for feature, names in self.groups.items()
        }
        return given | ({"groups": groups} if groups else {})


DESCRIPTIONS = {
    "unit": "What a row is, in the plural (loan applications)",
    "noun": "Who the rows are of, in the plural (applicants)",
    "positive": "Participle for a positive decision (approved)",
    "negative": "Participle for a negative decision (refused)",
    "label_positive": "Verb phrase for a positive outcome (repaid)",
    "label_negative": "Verb phrase for a negative outcome (did not repay)",
    "favourable": "What is better for a person: a positive or negative decision, a higher or lower "
    "amount, or neither",
    "groups": "Names of groups by feature and value, or a pattern such as {value} applicants",
}
"""The keys of the table, each with its description."""


def read_words(value: object, path: str, problems: list[Problem]) -> Words:
    """Read the table ``[words]``."""
    if isinstance(value, Words):
        return value
    if not isinstance(value, Mapping):
        message = f"must be a table of {', '.join(DESCRIPTIONS)}, not {shown(value)}"
        problems.append(Problem(path, message))
        return Words()
    problems += unknown_keys(value, tuple(DESCRIPTIONS), path)
    texts = {
        key: _text(value[key], f"{path}.{key}", problems)
        for key in DESCRIPTIONS
        if key not in ("favourable", "groups") and value.get(key) is not None
    }
    favourable = value.get("favourable", Favourable.POSITIVE)
    if favourable not in list(Favourable):
        close = nearest(favourable, Favourable)
        message = f"{shown(favourable)} is not allowed.{close} {one_of(Favourable)}"
        problems.append(Problem(f"{path}.favourable", message))
        favourable = Favourable.POSITIVE
    groups = _groups(value.get("groups", {}), f"{path}.groups", problems)
    return Words(**texts, favourable=Favourable(favourable), groups=groups)


def _groups(
    value: object, path: str, problems: list[Problem]
) -> Mapping[str, str | Mapping[str, str]]:
    if not isinstance(value, Mapping):
        message = f"must be a table of features, not {shown(value)}"
        problems.append(Problem(path, message))
        return {}
    return {
        str(feature): {
            str(name): _text(word, f"{path}.{feature}.{name}", problems)
            for name, word in names.items()
        }
        if isinstance(names, Mapping)
        else _text(names, f"{path}.{feature}", problems)
        for feature, names in value.items()
    }


def _text(value: object, path: str, problems: list[Problem]) -> str:
    """Read a word: text of at most 60 characters, invisible ones removed."""
    if not isinstance(value, str):
        problems.append(Problem(path, f"must be text, not {shown(value)}"))
        return ""
    seen = "".join(" " if c.isspace() else c for c in value)
    seen = " ".join("".join(c for c in seen if unicodedata.category(c) not in _UNSEEN).split())
    if len(seen) > _LONGEST:
        message = (
            f"has {len(seen)} characters, and sentences have room for {_LONGEST}: {shown(seen)}"
        )
        problems.append(Problem(path, message))
    return seen
