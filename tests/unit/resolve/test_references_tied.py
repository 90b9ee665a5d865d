"""The best group is the reference; of groups tied for it that with most rows, which is stated."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.selected_groups import selected

import fairgauge as fg
from fairgauge.enums import ClassKind, DiagnosticCode, Outcome
from fairgauge.errors import SpecError

RULE = ["selection_rate.ratio >= 0.8"]


def audited(groups: dict[str, tuple[int, int]], reference: str = "best") -> fg.Report:
    metrics = ["selection_rate.difference"]
    return fg.audit(selected(groups), reference=reference, rules=RULE, metrics=metrics)


def ties_of(report: fg.Report) -> list[str]:
    return [n.message for n in report.diagnostics if n.code is DiagnosticCode.REFERENCE_TIED]


@pytest.mark.parametrize(
    ("groups", "reference", "stated"),
    [
        (
            {"A": (40, 100), "B": (400, 1000), "C": (260, 1000)},
            "best",
            "the same highest selection rate, 40.0%; groups are compared with 'B', which has the",
        ),
        (
            {"Z": (40, 100), "B": (40, 100), "C": (26, 100)},
            "best",
            "groups are compared with 'B', the first by name of equally many rows",
        ),
        (
            {"A": (40, 100), "B": (30, 100), "C": (20, 90)},
            "largest",
            "'A' and 'B' are the largest groups, with 100 rows each; all groups are compared with",
        ),
    ],
)
def test_a_tie_is_stated_with_what_decides_it(groups, reference, stated):
    (tie,) = ties_of(audited(groups, reference))
    assert stated in tie


@pytest.mark.parametrize(("rows", "reference"), [(20, "A"), (19, "B")])
def test_the_best_group_has_at_least_twenty_rows(rows: int, reference: str) -> None:
    report = audited({"A": (15, rows), "B": (40, 100), "C": (26, 100)})
    assert {each.reference.group for each in report.estimates if each.reference} == {reference}


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 3)), min_size=2, max_size=5))
def test_the_names_decide_only_where_sizes_are_equal(sizes: list[tuple[int, int]]) -> None:
    """Of any tied groups of different sizes the same one is the reference in any order of names."""
    groups = [(30 * share * size, 120 * size) for share, size in sizes]
    best = max(selected / n for selected, n in groups)
    most = max(n for selected, n in groups if selected / n == best)
    for names in ("abcde", "edcba"):
        report = audited(dict(zip(names, groups, strict=False)))
        [reference] = {each.reference for each in report.estimates if each.reference}
        selected, n = dict(zip(names, groups, strict=False))[reference.group]
        assert (selected / n, n) == (best, most)
        tied = sum(selected / n == best for selected, n in groups)
        assert bool(ties_of(report)) is (tied > 1)


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["Unknown", "N/A", "Decline to answer", " ", "Not stated"])
@pytest.mark.parametrize("reference", ["best", "largest"])
def test_a_name_decides_no_reference(name: str, reference: str) -> None:
    """They fare best and are most: no number depends on a name, and a warning states what it is."""
    report = audited({"A": (400, 1000), "B": (260, 900), name: (700, 1400)}, reference)
    assert {str(e.reference.group) for e in report.estimates if e.reference} == {name}
    (note,) = [n for n in report.diagnostics if n.code is DiagnosticCode.MISSING_MARKER]
    assert note["value"] == name


@pytest.mark.parametrize("name", ["Unknown", "Decline to answer", "C"])
def test_a_rule_that_fails_against_a_doubtful_group_says_so(name: str) -> None:
    """A group of people of unknown category was the best one of a firm FAIL, without a word."""
    report = audited({"A": (400, 1000), "B": (260, 900), name: (700, 1400)}, "best")
    ruled = [v for v in report.verdicts if v.outcome is Outcome.FAIL]
    stated = any("in doubt that it is a group" in text for text in map(str, report.brief().verdict))
    assert stated is (bool(ruled) and name != "C")


def groups(column: str, **numbers: Any) -> pl.DataFrame:
    rows = [(group, number) for group, every in numbers.items() for number in every]
    return pl.DataFrame(rows, schema=["g", column], orient="row")


def references(report: fg.Report) -> dict[str, tuple[str | None, str]]:
    return {e.metric: (e.group, str(e.reference)) for e in report.estimates}


@pytest.mark.parametrize(("favourable", "best"), [("lower", "B"), ("higher", "A")])
def test_the_best_median_is_a_median(favourable, best):
    """The group with the better mean was the reference, and people who wait longer passed."""
    rng = np.random.default_rng(5)
    wait = groups(
        "days", A=rng.normal(20, 1, 300), B=[*rng.normal(16, 1, 270), *rng.normal(150, 1, 30)]
    )
    limit = "median_label.ratio" + (" <= 1.1" if favourable == "lower" else " >= 0.9")
    report = fg.audit(
        wait, label="days", task="regression", sensitive="g", favourable=favourable,
        reference="best", metrics=["median_label.difference", "mean_label.difference"], rules=limit,
    )  # fmt: skip
    assert [v.outcome for v in report.verdicts] == [Outcome.FAIL]
    found = references(report)
    assert found["median_label.difference"][1] == found["median_label.ratio"][1] == best
    assert found["mean_label.difference"][1] != best


def test_the_worst_class_of_a_group_is_one_of_its_own():
    """Where each class has another best group, those of different groups were taken together."""
    rng = np.random.default_rng(2)
    group, truth = rng.integers(0, 4, 2_000), rng.integers(0, 3, 2_000)
    right = rng.random(2_000) < rng.uniform(0.3, 0.9, (4, 3))[group, truth]
    names = np.array(list("xyz"))
    data = pl.DataFrame({
        "g": np.array(list("ABCD"))[group], "y": names[truth],
        "p": names[np.where(right, truth, (truth + 1) % 3)],
    })  # fmt: skip
    report = fg.audit(
        data, label="y", prediction="p", sensitive="g", reference="best",
        metrics="true_positive_rate.difference",
    )  # fmt: skip
    of_class: dict[str | None, float] = {}
    for each in report.estimates:
        if each.class_scope.kind is ClassKind.CLASS:
            of_class[each.group] = max(of_class.get(each.group, 0.0), abs(each.value or 0.0))
    worst = [e for e in report.estimates if e.class_scope.kind is ClassKind.WORST]
    assert len({str(e.reference) for e in worst}) > 1
    assert [(e.group, abs(e.value or 0.0)) for e in worst] == [
        (e.group, of_class[e.group]) for e in worst
    ]
    assert len(worst) == len(of_class)


# ---- the reference of an intersection is named apart from the references of its columns
RNG = np.random.default_rng(11)
ROWS = 900
FRAME = pl.DataFrame({
    "sex": RNG.choice(["F", "M"], ROWS), "race": RNG.choice(["A & B", "B", "A"], ROWS),
    "age": RNG.integers(18, 90, ROWS), "p": RNG.integers(0, 2, ROWS),
})  # fmt: skip
ASKED = {
    "prediction": "p", "sensitive": ["sex", "race"], "intersections": "sex*race",
    "metrics": "selection_rate.difference",
}  # fmt: skip


def references_intersections(report):
    return {(each.feature, each.reference.group) for each in report.estimates if each.group}


@pytest.mark.parametrize("group", [["F", "B"], "F & B"])
def test_only_the_intersection_has_it(group, tmp_path):
    report = fg.audit(FRAME, **ASKED, reference={"sex*race": group})
    assert references_intersections(report) == {
        ("sex", None), ("race", None), ("sex*race", "F & B"),
    }  # fmt: skip
    from_counts = fg.audit(fg.count(FRAME, **ASKED), reference={"sex*race": group})
    assert from_counts.estimates == report.estimates
    path = tmp_path / "audit.toml"
    written = {key: value for key, value in report.spec.items() if key in (*ASKED, "reference")}
    path.write_text(f"[reference]\n'sex*race' = {json.dumps(group)}\n")
    assert fg.audit(FRAME, config=path, **ASKED).estimates == report.estimates
    assert fg.audit(FRAME, **written).estimates == report.estimates


def test_values_with_our_separators_are_no_other_group():
    asked = ASKED | {"sensitive": [], "intersections": [["race", "sex"]]}
    report = fg.audit(FRAME, **asked, reference={"race*sex": ["A & B", "F"]})
    (group,) = {each.reference.group_id for each in report.estimates if each.group}
    assert [part.values for part in group.parts] == [("A & B",), ("F",)]


def test_a_text_of_two_groups_is_refused():
    other = FRAME.with_columns(one=pl.lit("A"), two=pl.lit("B & C"))
    same = FRAME.with_columns(one=pl.lit("A & B"), two=pl.lit("C"))
    asked = {"prediction": "p", "intersections": "one*two", "metrics": "selection_rate.difference"}
    both = pl.concat([other, same])
    with pytest.raises(SpecError, match="is the name of 2 groups; write"):
        fg.audit(both, **asked, reference={"one*two": "A & B & C"})
    report = fg.audit(both, **asked, reference={"one*two": ["A & B", "C"]})
    (group,) = {each.reference.group_id for each in report.estimates if each.group}
    assert [part.values for part in group.parts] == [("A & B",), ("C",)]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"race*sex": ["A", "F"]}, "'race.sex' is not an audited feature.*'sex.race'"),
        ({"sex*race": ["F"]}, "must be one value"),
        ({"sex*race": ["F", "B", "A"]}, "has 3 values; name one of each of its columns"),
        ({"sex*race": ["F", "W"]}, "no group of 'sex.race' is 'F & W'"),
        ({"sex*race": "F & b"}, "no group of 'sex.race' is 'F & b'.* Did you mean 'F & B'"),
        ({"sex": ["F", "B"]}, "has 2 values"),
    ],
)
def test_what_is_no_group_is_refused(reference, message):
    with pytest.raises(SpecError, match=message):
        fg.audit(FRAME, **ASKED, reference=reference)


def test_every_verb_takes_it():
    frame = FRAME.with_columns(y=pl.Series(RNG.integers(0, 2, ROWS)), s=pl.Series(RNG.random(ROWS)))
    reference = {"reference": {"sex*race": ["F", "B"]}}
    models = fg.compare_models(frame.with_columns(c=1 - pl.col("p")), **ASKED, candidate="c",
                               **reference)  # fmt: skip
    report = fg.audit(frame, **ASKED, **reference)
    assert fg.compare(report, report).changes
    assert "F & B" in str(models.to_dict())
    monitor = {"metric": "selection_rate.difference", "between": [-0.9, 0.9]}
    counts = {"2026-01-01": fg.count(frame, **ASKED), "2026-01-02": fg.count(frame, **ASKED)}
    asked = {k: v for k, v in ASKED.items() if k != "metrics"}
    watched = fg.monitor(counts, asked | reference | {"monitor": {"rules": [monitor]}})
    assert {"F & B"} == {
        each.reference for each in watched.comparisons if each.feature == "sex*race"
    }
