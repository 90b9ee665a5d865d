"""A recommendation as a specification file: TOML, with the reasons as its comments."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping

from fairgauge.choosing.recommendation import QUESTIONS, Limit, Recommendation
from fairgauge.question.probabilities import recognised
from fairgauge.question.spec_file import toml_value
from fairgauge.values import Json

_WIDTH = 88
PLACEHOLDERS = {
    "label": "label",
    "prediction": "prediction",
    "score": "score",
    "sensitive": "group",
}
"""The names of columns that are not known yet, by their roles."""


def specification(found: Recommendation, asked: Mapping[str, Json] | None = None) -> str:
    r"""Return the text of a specification file.

    Parameters
    ----------
    found : Recommendation
        What suits the answers.
    asked : mapping, optional
        Keys and values of a specification that are known already, such as the names of columns.
        A column without a name gets that of its role.

    Examples
    --------
    >>> from fairgauge.choosing.recommendation import recommend
    >>> found = recommend({"model": "none"})
    >>> print(specification(found, {"label": "repaid"}).partition("\n\n")[2])
    label = "repaid"
    sensitive = ["group"]
    <BLANKLINE>
    metrics = [
      # how often each group has the favourable outcome
      "base_rate",
    ]
    rules = [
      # at most 10 percentage points apart: set your own limit, and state why
      "-0.1 <= base_rate.difference <= 0.1",
    ]
    <BLANKLINE>
    """
    keys: dict[str, Json] = {name: PLACEHOLDERS[name] for name in found.columns}
    if "probabilities" not in (asked or {}):
        keys["sensitive"] = [PLACEHOLDERS["sensitive"]]
    keys |= asked or {}
    keys |= _recognised(keys)
    lines = [
        "# A specification for `fairgauge audit`, written by `fairgauge choose`.",
        "#",
        *_answers(found),
        "#",
        *_rows_needed(found),
        "#",
        "# What the numbers will not show:",
        *(line for caution in found.cautions for line in _comment(caution, "# - ", "#   ")),
        "",
        *(f"{key} = {toml_value(value)}" for key, value in keys.items()),
        "",
        "metrics = [",
        *(f"  # {each.because}\n  {toml_value(each.metric)}," for each in found.measures),
        "]",
        "rules = [",
        *(f"  # {each.because}\n  {toml_value(each.rule)}," for each in found.limits),
        "]",
    ]
    return "\n".join(lines) + "\n"


def _recognised(keys: Mapping[str, Json]) -> dict[str, Json]:
    """Return features of probabilities in place of the columns that a common program writes."""
    named = keys.get("sensitive")
    columns = [each for each in named if isinstance(each, str)] if isinstance(named, list) else []
    found = recognised(columns)
    if found is None or not isinstance(named, list):
        return {}
    _, by_group = found
    rest = [each for each in named if each not in by_group.values()]
    return {"sensitive": [*rest, {"name": "race", "probabilities": dict(by_group)}]}


def _answers(found: Recommendation) -> Iterator[str]:
    yield "# Answers:"
    for question in QUESTIONS:
        answer = found.answers.get(question.name)
        if answer is not None:
            text = f"{question.name} = {answer}: {question.answers[answer]}"
            yield from _comment(text, "# - ", "#   ")


def _rows_needed(found: Recommendation) -> Iterator[str]:
    expected = found.expected
    if found.rows is None:
        yield from _comment(
            "The rows needed cannot be planned for these rules before a first table is audited: "
            "`fairgauge audit` reports how many would decide an inconclusive verdict."
        )
        return
    yield from _comment(
        f"Rows needed for each rule to pass with a power of 80% where the groups do not differ "
        f"(rates of {expected.rate:.0%}; smallest group {expected.share:.0%} of the rows; "
        f"favourable outcomes {expected.base_rate:.0%}):"
    )
    for limit in found.limits:
        yield f"# - {limit.rule}: {_rows(limit)}"


def _rows(limit: Limit) -> str:
    if limit.rows is None:
        return "cannot be planned without a table"
    return "no number of rows" if math.isinf(limit.rows) else f"{limit.rows:,.0f}"


def _comment(text: str, first: str = "# ", later: str = "# ") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )
