"""Warnings of an audit beside the service's numbers, which they do not change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from clarify_cases import MONITORED, both, cases, config

import fairgauge as fg

if TYPE_CHECKING:
    from folders import Folder

Rows = list[list[Any]]
ROWS = cases(MONITORED)


def rows(times: int = 1) -> Rows:
    return [[*row] for _ in range(times) for row in ROWS]


def asked(**changes: Any) -> dict[str, Any]:
    return config(predicted_label="predicted", methods=both(), **changes)


def run(folder: Folder, found: Rows, *args: str, **changes: Any) -> Any:
    folder.csv("data.csv", [("facet", "label", "predicted"), *found])
    name = folder.json("analysis_config.json", asked(**changes))
    result = folder.run("clarify", name, "-o", "out", *args)
    assert result.exit_code == 0, result.output
    return result


def joined(text: str) -> str:
    """Return a text with every run of spaces and line ends as one space."""
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (0, "missing values of 'facet' count in facet a, the advantaged side"),
        (1, "missing values of 'label' count as negative"),
        (2, "missing values of 'predicted' count as negative"),
    ],
)
def test_missing_values_that_count_are_warned_of(folder: Folder, column: int, text: str) -> None:
    found = [[{0: "no", 1: "yes"}.get(cell, cell) for cell in row] for row in rows()]
    for row in found[::9]:
        row[column] = ""
    text = f"{len(found[::9])} {text}"
    values = {"label_values_or_threshold": ["yes"]}
    assert text in joined(run(folder, found, **values).stdout)
    assert any(text in each for each in folder.ours()["notices"])
    assert text in run(folder, found, "-q", **values).stderr
    documented = run(folder, found, "--profile", "documented", **values)
    assert text not in joined(documented.output)

    report = fg.audit(
        "data.csv", label="label", prediction="predicted", positive="yes",
        sensitive={"facet": ["d"]}, profile="clarify",
    )  # fmt: skip
    assert text in [each.message for each in report.diagnostics]

    monitor = {key: asked(**values)[key] for key in ("label", "label_values_or_threshold", "facet")}
    folder.json("monitor.json", monitor | {"InferenceAttribute": "predicted"})
    of_table = ("monitor.json", "--dataset", "data.csv", "--baseline", "out/analysis.json")
    assert text in folder.run("clarify-monitor", *of_table).stderr


def test_complete_rows_are_not_warned_of(folder: Folder) -> None:
    result = run(folder, rows())
    assert "arning" not in result.output
    assert not [each for each in folder.ours()["notices"] if "arning" in each]


def test_quiet_leaves_the_warnings_on_standard_error(folder: Folder) -> None:
    opposite = [[facet, label, 1 - label] for facet, label, _ in rows()]
    changes = {"facet": [{"name_or_index": "facet", "value_or_threshold": ["D"]}]}
    result = run(folder, opposite, "-q", **changes)
    assert "Warning: facet facet: no row has 'D'; it has 'a', 'd'" in result.stderr
    assert "Warning: 'predicted' is positive less often where 'label' is" in result.stderr
    assert "Note: " not in result.stderr


def spelled_otherwise(found: Rows) -> Rows:
    return [[f"{row[0]} " if i % 3 == 0 else row[0], *row[1:]] for i, row in enumerate(found)]


def other_words(found: Rows) -> Rows:
    words = {0: "no", 1: "yes"}
    return [
        [group, words[label], words[decided] + " " * (i % 2)]
        for i, (group, label, decided) in enumerate(found)
    ]


def coded(found: Rows) -> Rows:
    return [[-999 if i % 5 == 0 else 20 + i % 50, *row[1:]] for i, row in enumerate(found)]


def stored_as_floats(found: Rows) -> Rows:
    return [[group, float(label), float(decided)] for group, label, decided in found]


def of_a_code(found: Rows) -> Rows:
    return [[*row[:2], -999 if i % 7 == 0 else row[2]] for i, row in enumerate(found)]


def numbered(found: Rows) -> Rows:
    """Return twice as many rows, as a file has that was written twice, in 32 cells."""
    return [[f"{row[0]}{i % 8}", *row[1:]] for _ in range(2) for i, row in enumerate(found)]


AGED = {"facet": [{"name_or_index": "facet", "value_or_threshold": [40],
                   "facet_type": "continuous"}]}  # fmt: skip
DAMAGES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "spelling of groups": (
        spelled_otherwise, {}, "groups 'd' (73 rows) and 'd ' (37 rows) of facet differ"
    ),
    "spelling of outcomes": (
        other_words, {"label_values_or_threshold": ["yes"]},
        "'yes' of label (242 rows), 'yes' of predicted (26 rows) and 'yes ' of predicted (25 rows)",
    ),
    "codes of a facet": (
        coded, AGED, "'facet', whose numbers are compared, cut or averaged, has -999, as codes"
    ),
    "codes of decisions": (
        of_a_code, {}, "48 rows have 'predicted' = -999, which their names or codes"
    ),
    "written twice": (numbered, {"facet": [{"name_or_index": "facet"}]},
                      "every combination of the counted columns stands 2 times"),
    "labels as floats": (stored_as_floats, {}, "all of 'label' is at or below it"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_tables_are_warned_of_without_options_of_an_audit(
    folder: Folder, damage: str
) -> None:
    damaged, changes, text = DAMAGES[damage]
    result = run(folder, damaged(rows()), "-q", **changes)
    assert text in result.stderr
    report = [each for each in folder.ours()["notices"] if each.startswith("Warning: ")]
    assert "--" not in "".join(report)
    assert "(0 rows)" not in result.stderr
    assert "equals the label" not in result.stderr


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_table_of_few_counts_written_twice_is_warned_of(folder: Folder, times: int) -> None:
    found = [[*row, i] for i, row in enumerate(rows())] * times
    folder.csv("data.csv", [("facet", "label", "predicted", "income"), *found])
    name = folder.json("analysis_config.json", asked())
    result = folder.run("clarify", name, "-o", "out", "-q")
    warned = f"every row stands {times} times or a multiple of it ({len(rows()):,} different ones)"
    assert (warned in result.stderr) is (times > 1)
    assert ("every row stands" in result.stderr) is (times > 1)


def in_words(found: Rows) -> Rows:
    return [[*row[:2], ("no", "yes")[row[2]]] for row in found]


@pytest.mark.parametrize("words", [("no", "yes"), ("no", "no"), ("accept", "reject")])
def test_predictions_in_other_words_than_the_label_are_refused(
    folder: Folder, words: tuple[str, str]
) -> None:
    found = [[*row[:2], words[row[2]]] for row in rows()]
    folder.csv("data.csv", [("facet", "label", "predicted"), *found])
    name = folder.json("analysis_config.json", asked())
    for options in (("-o", "out"), ("-o", "out", "--profile", "documented"), ("--check",)):
        text = joined(folder.fails("clarify", name, *options))
        held = ", ".join(repr(word) for word in sorted(set(words)))
        assert f"predicted: holds {held}, which the label 'label' does not (it holds " in text
        assert "write both alike in the table" in text
        assert "recode" not in text
        assert "(positive)" not in text


def test_predictions_of_which_no_row_is_positive_are_not_refused(folder: Folder) -> None:
    never = [[*row[:2], 0] for row in rows()]
    assert "every prediction" in run(folder, never, "-q").stderr
    run(folder, in_words(rows()), label_values_or_threshold=[1, "yes"])


def test_the_page_advises_no_option_that_the_command_lacks(folder: Folder) -> None:
    found = [
        [("F", "f ")[i % 3 == 0] if row[0] == "d" else "M", *row[1:]]
        for i, row in enumerate(rows())
    ]
    changes = {"facet": [{"name_or_index": "facet", "value_or_threshold": ["F"]}]}
    result = run(folder, found, **changes)
    assert "correct facet in the data first" in joined(result.stdout)
    assert "--recode" not in result.stdout
    assert "--recode" not in (folder.path / "out" / "report.html").read_text(encoding="utf-8")
