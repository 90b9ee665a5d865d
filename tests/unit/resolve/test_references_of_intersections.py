"""The reference of an intersection is named apart from the references of its columns."""

import json

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.errors import SpecError

RNG = np.random.default_rng(11)
ROWS = 900
FRAME = pl.DataFrame({
    "sex": RNG.choice(["F", "M"], ROWS),
    "race": RNG.choice(["A & B", "B", "A"], ROWS),
    "age": RNG.integers(18, 90, ROWS),
    "p": RNG.integers(0, 2, ROWS),
})  # fmt: skip
ASKED = {
    "prediction": "p", "sensitive": ["sex", "race"], "intersections": "sex*race",
    "metrics": "selection_rate.difference",
}  # fmt: skip


def references(report):
    return {(each.feature, each.reference.group) for each in report.estimates if each.group}


@pytest.mark.parametrize("group", [["F", "B"], "F & B"])
def test_only_the_intersection_has_it(group, tmp_path):
    report = fg.audit(FRAME, **ASKED, reference={"sex*race": group})
    assert references(report) == {("sex", None), ("race", None), ("sex*race", "F & B")}
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
