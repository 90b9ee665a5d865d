"""Identity: what groups and features are decides every number; names are unique and for display."""

import json
from itertools import product

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.enums import GroupKind
from fairgauge.identity import (
    Bin,
    FeatureId,
    GroupId,
    MissingValue,
    ValueSet,
    group_names,
    unique_names,
)

PIECES = st.lists(
    st.sampled_from(["A", "B", " & ", ", ", "*", '"', "\\", "(missing)", "others", " "])
)
TEXTS = PIECES.map("".join)


def rows(*groups):
    """Return rows of groups: values of x and y, how many, and how many of them are selected."""
    table = {"x": [], "y": [], "label": []}
    for x, y, n, selected in groups:
        table["x"] += [x] * n
        table["y"] += [y] * n
        table["label"] += [1] * selected + [0] * (n - selected)
    return table | {"prediction": table["label"]}


CROSSED = rows(("A & B", "C", 100, 90), ("A", "B & C", 300, 135), ("Z", "C", 200, 134))
ASKED = {"label": "label", "prediction": "prediction", "metrics": ["selection_rate.ratio"]}


def audit(table, **options):
    return fg.audit(table, **(ASKED | options))


def sizes(report, feature):
    return {g.group: g.n for g in report.groups if g.feature == feature}


# collisions, each of which was one name


def test_crossed_values_that_read_the_same_are_two_groups():
    report = audit(
        CROSSED, sensitive=["x", "y"], intersections=[("x", "y")],
        reference={"x": "A & B", "y": "C"},
        rules=[fg.rule("selection_rate.ratio", at_least=0.6, features="x*y")],
    )  # fmt: skip
    assert sizes(report, "x*y") == {'A & "B & C"': 300, '"A & B" & C': 100, "Z & C": 200}
    estimate = report["selection_rate.ratio", "x*y", ("A", "B & C")]
    assert str(estimate.reference) == '"A & B" & C'
    assert estimate.value == pytest.approx(0.45 / 0.9)
    outcomes = {v.group: str(v.outcome) for v in report.verdicts}
    assert outcomes['A & "B & C"'] == "fail"  # 0.5: with the other reference it was 0.67, a pass


def test_a_rule_on_a_name_of_two_groups_is_on_both():
    rule = {"metric": "selection_rate.ratio", "at_least": 0.1, "groups": ["A & B & C"]}
    report = audit(CROSSED, sensitive="x", intersections=[("x", "y")], rules=[rule])
    assert {v.group for v in report.verdicts} == {'A & "B & C"', '"A & B" & C'}
    named = audit(
        CROSSED, sensitive="x", intersections=[("x", "y")],
        rules=[rule | {"groups": ['A & "B & C"']}],
    )  # fmt: skip
    assert {v.group for v in named.verdicts} == {'A & "B & C"'}


def test_a_name_of_two_groups_excludes_neither():
    with pytest.raises(fg.SpecError, match=r"is the name of 2 groups; write"):
        audit(CROSSED, sensitive="x", intersections=[("x", "y")], exclude_groups=["A & B & C"])
    report = audit(
        CROSSED, sensitive="x", intersections=[("x", "y")], exclude_groups=['"A & B" & C']
    )
    assert sizes(report, "x*y") == {"A & B & C": 300, "Z & C": 200}


def test_missing_rows_are_not_the_group_of_their_word():
    table = rows(("(missing)", "C", 100, 90), (None, "C", 300, 135), ("A", "C", 200, 60))
    report = audit(table, sensitive="x", intersections=[("x", "y")], missing="group")
    assert sizes(report, "x") == {'"(missing)"': 100, "A": 200, "(missing)": 300}
    assert sizes(report, "x*y") == {'"(missing)" & C': 100, "A & C": 200, "(missing) & C": 300}
    kinds = {g.group: g.group_id.kind for g in report.groups if g.feature == "x"}
    assert kinds == {
        '"(missing)"': GroupKind.VALUES, "A": GroupKind.VALUES, "(missing)": GroupKind.MISSING,
    }  # fmt: skip


def test_a_column_is_not_the_intersection_that_reads_so():
    table = rows(("A", "C", 100, 90), ("A", "D", 300, 135), ("B", "C", 200, 60))
    table["x*y"] = table["x"]
    report = audit(
        table, sensitive=["x", "x*y"], intersections=[("x", "y")],
        rules=[fg.rule("selection_rate", at_least=0.2, features="x*y")],
    )  # fmt: skip
    assert sizes(report, '"x*y"') == {"A": 400, "B": 200}
    assert sizes(report, "x*y") == {"A & C": 100, "A & D": 300, "B & C": 200}
    assert {v.feature for v in report.verdicts} == {"x*y", '"x*y"'}  # on both: nothing is left out


# look-ups and the JSON


def test_groups_are_looked_up_by_name_or_values():
    table = rows((1, True, 100, 90), (2, False, 300, 135), (2, True, 200, 60))
    table["age"] = [20] * 300 + [60] * 300
    report = audit(table, sensitive=["x", "y", fg.cut("age", [40])], intersections=[("x", "y")])
    ratio = "selection_rate.ratio"
    assert report[ratio, "x", 1] == report[ratio, "x", "1"] == report[ratio, "x", 1.0]
    assert report[ratio, "y", True] == report[ratio, "y", "true"]
    assert report[ratio, "x*y", (2, True)] == report[ratio, "x*y", "2 & true"]
    assert report[ratio, "age", "(40, inf)"].group_id == GroupId.of(Bin(40.0, float("inf")))
    with pytest.raises(KeyError, match="no estimate"):
        report[ratio, "y", 1]  # True is not 1


def test_json_states_what_groups_are(tmp_path):
    table = rows(("A", 1, 100, 90), (None, 2, 300, 135), ("B", 1, 200, 60))
    table["age"] = [20] * 300 + [60] * 300
    report = audit(
        table, sensitive=[{"column": "y", "values": [[1]]}, fg.cut("age", [40])],
        intersections=[("x", "age")], missing="group", rules=["selection_rate.ratio >= 0.5"],
    )  # fmt: skip
    plain = json.loads(report.to_json())
    jsonschema.Draft202012Validator(fg.Report.json_schema()).validate(plain)
    stated = {
        (g["feature"], g["group"]): (g["feature_columns"], g["group_kind"], g["group_values"])
        for g in plain["groups"]
    }
    young = {"low": "-Infinity", "high": 40.0, "closed": "right"}
    assert stated["y", "1"] == (["y"], "values", [[1]])
    assert stated["y", "others"] == (["y"], "others", None)
    assert stated["age", "(-inf, 40]"] == (["age"], "interval", [young])
    crossed = stated["x*age", "(missing) & (-inf, 40]"]
    assert crossed == (["x", "age"], "intersection", [None, young])
    for part in ("estimates", "verdicts", "totals"):
        assert all(row["feature_columns"] and row["group_kind"] for row in plain[part]), part
    report.save(tmp_path / "report.json")
    again = fg.load(tmp_path / "report.json")
    assert again == report
    assert [e.reference.group_id for e in again.estimates if e.reference] == [
        e.reference.group_id for e in report.estimates if e.reference
    ]


def test_groups_of_two_reports_are_matched_by_what_they_are():
    options = {"sensitive": "x", "intersections": [("x", "y")], "rules": ["selection_rate >= 0.1"]}
    old = audit(CROSSED, **options)
    new = audit(rows(("A", "B & C", 300, 200), ("Z", "C", 200, 134)), **options)
    assert "A & B & C" in sizes(new, "x*y")  # alone, it is not in doubt
    comparison = fg.compare(old, new)
    rates = {(e.before.group, e.after.group) for e in comparison.changes if e.feature == "x*y"}
    assert rates == {('A & "B & C"', 'A & "B & C"'), ("Z & C", "Z & C")}
    unmatched = {each.verdict.group for each in comparison.unmatched}
    assert unmatched == {"A & B", '"A & B" & C'}


def test_sets_of_values_are_matched_in_any_order():
    table = rows(("A", "C", 100, 90), ("B", "C", 300, 135), ("Z", "C", 200, 60))
    reports = [
        audit(table, sensitive=[{"column": "x", "values": [values, ["Z"]]}])
        for values in (["A", "B"], ["B", "A"])
    ]
    comparison = fg.compare(*reports)
    assert not comparison.alone
    assert not comparison.unmatched


# the values themselves


PARTS = st.one_of(
    st.lists(TEXTS, min_size=1, max_size=2, unique=True).map(lambda texts: ValueSet(tuple(texts))),
    st.just(MissingValue()),
)


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[PARTS] * n), max_size=6)))
def test_names_of_groups_are_unique(parts):
    groups = list(dict.fromkeys(GroupId.of(*each) for each in parts))
    names = group_names(groups)
    assert len({*names, "others", "overall"}) == len(names) + 2
    ordinary = [each for each in groups if '"' not in each.name()]
    plain = [each.name() for each in ordinary]
    for name, own in zip(group_names(ordinary), plain, strict=True):
        # only what collides is changed
        assert name == own or plain.count(own) > 1 or own in ("others", "overall")


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=3).map(tuple), unique=True, max_size=6))
def test_names_of_features_are_unique(columns):
    names = unique_names([FeatureId(each) for each in columns])
    assert len(set(names)) == len(names)


def test_values_of_one_text_are_one_and_of_two_texts_two():
    values = [1, True, "1.0", 0, False, "A"]
    groups = [GroupId.of(ValueSet((value,))) for value in values]
    for (i, one), (j, other) in product(enumerate(groups), repeat=2):
        assert (one == other) == (i == j), (values[i], values[j])
    assert ValueSet((1,)) == ValueSet(("1",))  # of two files: no column holds both
    assert ValueSet(("A", "B")) == ValueSet(("B", "A"))
