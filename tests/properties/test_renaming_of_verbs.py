"""Renaming changes names and nothing else in searches, decompositions, monitors and pages.

Invariant 1 of the architecture for the verbs beside those of `test_renaming.py`. Every name is
unique as a text, so that a whole result can be put back into the first words.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from test_every_verb import DAYS, PUBLISHED, RULE, as_csv, as_html, differences, table

import fairgauge as fg

VALUES, COLUMNS = ("A", "B", "C", "x", "y"), ("group", "second")
PLAIN = {name: f"Q{i}q" for i, name in enumerate((*VALUES, *COLUMNS))}
"""Names in the same alphabetical order."""
# no name reads as a category that is not known, such as "others": such a group is no reference
NAMES: dict[str, dict[str, str]] = {
    "the other way round": {
        **PLAIN, "A": "Q2q", "C": "Q0q", "x": "Q4q", "y": "Q3q", "group": "Q6q", "second": "Q5q",
    },
    "our words and separators": dict(zip((*VALUES, *COLUMNS), (
        '"Q0q" & "all', "[Q1q] & best, *", "not not Q2q", "* & Q3q", "of = x & Q4q",
        "all*Q5q", "label & Q6q",
    ), strict=True)),
}  # fmt: skip
IN_ORDER = "our words and separators"
"""Of these names the alphabetical order is that of the first names."""

TEXTS = {
    "says", "message", "sentence", "name", "explained_by", "summary", "written",
    "rule",
}  # fmt: skip
"""Texts for people, in which hostile names are quoted; what they are of stands beside them."""
NOT_COMPARED = {"created", "data", "digest", "fingerprint", "spec", "diagnostics", "models"}


def renamed(names: Mapping[str, str]) -> pl.DataFrame:
    values = {old: names.get(old, old) for old in VALUES}
    data = table().with_columns(pl.col(*COLUMNS).replace(values))
    return data.rename({old: names.get(old, old) for old in COLUMNS})


def asked(names: Mapping[str, str], **more: Any) -> dict[str, Any]:
    group, second = (names.get(column, column) for column in COLUMNS)
    return {
        "label": "label", "prediction": "prediction", "positive": 1, "sensitive": [group, second],
        "intersections": [(group, second)], **more,
    }  # fmt: skip


def of_search(data: pl.DataFrame, names: Mapping[str, str]) -> Any:
    question = asked(names, metrics="false_negative_rate")
    del question["intersections"]
    return fg.find(data, **question)


def of_gaps(data: pl.DataFrame, names: Mapping[str, str]) -> Any:
    group, second = asked(names)["sensitive"]
    more = {"sensitive": group, "strata": second, "intersections": []}
    return fg.why(data, **asked(names, **more), margins={"selection_rate": 0.05})


def of_monitor(data: pl.DataFrame, names: Mapping[str, str]) -> Any:
    days = {f"2026-01-{i + 1:02}": data.filter(pl.col("day") == i) for i in range(DAYS)}
    counts = {day: fg.count(rows, **asked(names)) for day, rows in days.items()}
    return fg.monitor(counts, asked(names) | {"monitor": {"rules": [RULE]}})


def of_page(data: pl.DataFrame, names: Mapping[str, str]) -> Any:
    return fg.explore(data, **asked(names), exact=True)


VERBS: dict[str, Callable[[pl.DataFrame, Mapping[str, str]], Any]] = {
    "find": of_search, "why": of_gaps, "monitor": of_monitor, "explore": of_page,
}  # fmt: skip


def in_first_words(node: Any, back: Mapping[str, str], *, texts: bool) -> Any:
    """Return plain values with the first names, rows in an order that no name decides."""
    if isinstance(node, dict):
        omitted = NOT_COMPARED if texts else NOT_COMPARED | TEXTS
        return {
            in_first_words(key, back, texts=texts): in_first_words(value, back, texts=texts)
            for key, value in node.items()
            if key not in omitted
        }
    if isinstance(node, (list, tuple)):
        parts = [in_first_words(each, back, texts=texts) for each in node]
        ordered = not parts or not isinstance(parts[0], (dict, str))
        return parts if ordered else sorted(parts, key=lambda part: json.dumps(part, default=str))
    if isinstance(node, str):
        for new, old in back.items():
            node = node.replace(new, old)
    return node


def answer(verb: str, names: Mapping[str, str], *, texts: bool = False) -> Any:
    result = VERBS[verb](renamed(names), names)
    plain = result._data if verb == "explore" else result.to_dict()
    if verb == "explore":  # how a browser writes a condition
        plain = plain | {
            "columns": [
                {key: value for key, value in column.items() if key != "conditions"}
                | {"is": column["name"]}
                for column in plain["columns"]
            ]
        }
    plain["statements"] = [
        statement
        for statement in plain.get("statements", ())
        if texts
        if "limits" not in statement["part"]  # features are listed in alphabetical order
    ]
    back = {new: old for old, new in names.items()}
    return in_first_words(plain, back, texts=texts)


@pytest.mark.parametrize(
    ("verb", "which"),
    [(verb, which) for verb in VERBS for which in NAMES if verb != "explore" or which == IN_ORDER],
)
def test_names_change_nothing_else(verb: str, which: str) -> None:
    before, after = answer(verb, {}), answer(verb, NAMES[which])
    assert len(json.dumps(before, default=str)) > 2_000
    found = differences(before, after)
    assert not found, f"{len(found)} differ, such as {found[:4]}"


@pytest.mark.parametrize("verb", ["find", "why", "monitor"])
def test_sentences_change_by_names_alone(verb: str) -> None:
    """Names that need no quotes: every text is the same, and the same groups lead a first page."""
    before, after = (answer(verb, each, texts=True) for each in ({}, NAMES["the other way round"]))
    found = [each for each in differences(before, after) if ".sources" not in each]
    assert not found, f"{len(found)} differ, such as {found[:4]}"


CHECKED = {"A": "not A", "B": '"A & B", best', "C": "[*] (pooled) A"}
CHECKS = {"csv": as_csv, "html": as_html}


@pytest.mark.parametrize("suffix", CHECKS)
def test_names_of_categories_change_nothing_of_a_check(suffix: str, tmp_path: Path) -> None:
    def found(names: Mapping[str, str]) -> Any:
        rows = [(names.get(row[0], row[0]), *row[1:]) for row in PUBLISHED]
        text = CHECKS[suffix]([(quoted(name), *others) for name, *others in rows])
        (tmp_path / f"table.{suffix}").write_text(text, encoding="utf-8")
        (table,) = fg.check(tmp_path / f"table.{suffix}", rules=[RULE]).to_dict()["tables"]
        back = {new: old for old, new in names.items()}
        return in_first_words(table, back, texts=False)

    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"' if suffix == "csv" else name

    before, after = found({}), found(CHECKED)
    assert before["faults"]
    assert not differences(before, after), differences(before, after)[:4]
