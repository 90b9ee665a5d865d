"""Designs of surveys: what is refused and why, and that counts of every engine hold them."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.enums import IntervalMethod, Status
from fairgauge.errors import CubeError, DataError, SpecError
from fairgauge.reasons import ReasonCode

MEASURED = Path(__file__).parents[3] / "evidence" / "coverage_of_survey_designs.json"
UNITS = {"cluster": "c", "strata_of_sample": "h", "weight": "w"}
REPLICATES = {"replicate_weights": "r1-r4; jk1", "weight": "w"}
SINGLE = {"strata_of_sample": "h", "weight": "w"}
DESIGNS = {"units": UNITS, "replicates": REPLICATES, "single": SINGLE}
ASKED = {"label": "y", "sensitive": "g", "metrics": ["base_rate.difference", "base_rate.ratio"]}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    n = 1_200
    c = np.arange(n) % 24
    made = {
        "g": rng.choice(["a", "b", "c"], n), "h": [f"h{i}" for i in c // 4], "c": c % 4,
        "y": (rng.random(n) < 0.3 + c / 60).astype(int), "w": rng.integers(1, 5, n).astype(float),
        "s": rng.random(n).round(3), "size": 9 + c // 4, "amount": rng.normal(20, 5, n).round(2),
    }  # fmt: skip
    made |= {f"r{k}": made["w"] * (1 + (c % 4 == k - 1)) for k in range(1, 5)}
    return pl.DataFrame(made)


def limits(report):
    return {
        (e.metric, e.group): (e.value, e.interval and (e.interval.low, e.interval.high))
        for e in report.estimates
    }


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_order_names_counts_and_engines_change_no_number(design, rows, tmp_path):
    expected = fg.audit(rows, **ASKED, **design)
    assert all(interval for _, interval in limits(expected).values())
    shuffled = rows.sample(fraction=1.0, shuffle=True, seed=3)
    rows.write_csv(tmp_path / "rows.csv")
    rows.write_parquet(tmp_path / "rows.parquet")
    counted = fg.count(shuffled, **ASKED, **design)
    path = tmp_path / "rows.cube.json"
    path.write_text(counted.to_json())
    for other in (shuffled, counted, fg.load(path), rows.to_pandas(),
                  tmp_path / "rows.csv", tmp_path / "rows.parquet"):  # fmt: skip
        asked = {} if isinstance(other, fg.Cube) else {**ASKED, **design}
        found = limits(fg.audit(other, **asked))
        for key, (value, interval) in limits(expected).items():
            assert found[key][0] == pytest.approx(value, rel=1e-12)
            assert found[key][1] == pytest.approx(interval, rel=1e-9)
    renamed = rows.with_columns(pl.col("g").replace({"a": "c", "c": "a"}))
    swapped = limits(fg.audit(renamed, **ASKED, **design))
    of_a = limits(expected)["base_rate.difference", "a"]
    assert swapped["base_rate.difference", "c"][1] == pytest.approx(of_a[1], rel=1e-9)


def test_counts_with_replicate_weights_add_up(rows):
    asked = {**ASKED, **REPLICATES}
    parts = [fg.count(rows[:500], **asked), fg.count(rows[500:], **asked)]
    assert parts[0] + parts[1] == fg.count(rows, **asked)


def test_units_of_several_groups_or_of_one_row_are_usual_in_a_sample(rows):
    for units in (rows, rows.with_columns(c=pl.int_range(pl.len()))):
        codes = {note.code for note in fg.audit(units, **ASKED, **UNITS).diagnostics}
        assert codes.isdisjoint({"clusters_span_groups", "never_repeats"})


def test_a_lonely_unit_leaves_no_interval_and_no_verdict_unless_it_is_adjusted(rows):
    alone = rows.filter((pl.col("h") != "h2") | (pl.col("c") == 1))
    asked = {**ASKED, **UNITS, "rules": "base_rate.ratio >= 0.01"}
    report = fg.audit(alone, **asked)
    for estimate in report.estimates:
        assert estimate.interval is None
        assert estimate.reason.code is ReasonCode.LONELY_STRATA
        assert estimate.reason.get("strata") == 1
    assert {str(verdict.outcome) for verdict in report.verdicts} == {"not_evaluated"}
    adjusted = fg.audit(alone, **asked, lonely="adjust")
    assert {str(verdict.outcome) for verdict in adjusted.verdicts} == {"pass"}


def test_means_have_the_design_and_scores_state_why_they_have_no_interval(rows):
    means = fg.audit(rows, label="amount", task="regression", sensitive="g",
                     metrics=["mean_label.difference"], **UNITS)  # fmt: skip
    assert all(estimate.interval is not None for estimate in means.estimates)
    scored = fg.audit(
        rows, label="y", score="s", sensitive="g", metrics=["auc.difference"], **UNITS
    )
    for estimate in scored.estimates:
        assert estimate.reason.code is ReasonCode.NO_DESIGN_METHOD
        assert estimate.status is Status.OK
    single = fg.audit(rows, label="amount", task="regression", sensitive="g",
                      metrics=["mean_label.difference"], **SINGLE)  # fmt: skip
    assert {e.reason.code for e in single.estimates} == {ReasonCode.NO_DESIGN_METHOD}


@pytest.mark.parametrize("design", [UNITS, REPLICATES], ids=["units", "replicates"])
def test_contrasts_pooled_over_strata_have_the_interval_of_the_design(design, rows):
    """Of replicate weights it is computed anew, with the weights of the strata as they are."""
    made = rows.with_columns(t=pl.col("c") % 2)
    report = fg.audit(made, **ASKED, **design, strata="t")
    pooled = {(e.metric, e.group): e for e in report.estimates if e.scope.kind == "pooled"}
    assert all(e.interval.low < e.value < e.interval.high for e in pooled.values())
    assert len(pooled) == 6
    if design is UNITS:
        return
    names = ["w", "r1", "r2", "r3", "r4"]
    for group in "abc":
        of = (pl.col("g") == group).alias("mine")
        sums = made.group_by("t", of).agg(pl.col(names).sum(), *(
            (pl.col(n) * pl.col("y")).sum().alias(f"{n}y") for n in names
        )).sort("t", "mine")  # fmt: skip
        n = sums["w"].to_numpy().reshape(2, 2)
        share = n.prod(axis=1) / n.sum(axis=1)
        rate = np.stack([sums[f"{n}y"] / sums[n] for n in names]).reshape(5, 2, 2)
        mine, others = ((rate[:, :, k] * share / share.sum()).sum(axis=1) for k in (1, 0))
        estimate = pooled["base_rate.difference", group]
        assert estimate.value == pytest.approx(mine[0] - others[0])
        away = (mine - others)[1:] - estimate.value
        error = np.sqrt(3 / 4 * away @ away)
        half = 3.182446305284263 * error  # Student's t of 3 degrees of freedom
        assert estimate.interval.low == pytest.approx(estimate.value - half)
        assert estimate.interval.high == pytest.approx(estimate.value + half)


@pytest.mark.parametrize("where", [(), "h != h1"])
@pytest.mark.parametrize("kind", ["polars", "csv", "parquet"])
def test_rows_that_lack_a_replicate_weight_have_no_weight(kind, where, rows, tmp_path):
    lacking = pl.int_range(pl.len()) % 10 == 3
    made = rows.with_columns(r2=pl.when(~lacking).then(pl.col("r2")))
    made.write_csv(tmp_path / "rows.csv")
    made.write_parquet(tmp_path / "rows.parquet")
    data = made if kind == "polars" else tmp_path / f"rows.{kind}"
    report = fg.audit(data, **ASKED, **REPLICATES, where=where)
    whole = fg.audit(rows.filter(~lacking), **ASKED, **REPLICATES, where=where)
    assert limits(report) == limits(whole)
    assert report.data.excluded["missing weight"] == report.data.rows - whole.data.rows > 90


def test_conditions_on_the_rows_of_a_sample_are_warned_of(rows):
    report = fg.audit(rows, **ASKED, **UNITS, where="g != c")
    assert "units_without_rows" in {each.code for each in report.diagnostics}
    replicates = fg.audit(rows, **ASKED, **REPLICATES, where="g != c")
    assert "units_without_rows" not in {each.code for each in replicates.diagnostics}


def test_rows_without_a_place_in_the_design_are_refused(rows):
    change = pl.when(pl.col("h") != "h1").then("h")
    with pytest.raises(DataError, match="200 rows have no 'h'"):
        fg.audit(rows.with_columns(change), **ASKED, **UNITS)


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"replicate_weights": "r1-r4; acs"}, "weight"),
        ({**REPLICATES, "cluster": "c"}, "cluster"),
        ({"replicate_weights": "r1-r4; fay", "weight": "w"}, "replicate_weights"),
        ({"replicate_weights": "r1-r4; fay 2", "weight": "w"}, "replicate_weights"),
        ({"replicate_weights": "r1-r4", "weight": "w"}, "replicate_weights"),
        ({"replicate_weights": "r1,r1; brr", "weight": "w"}, "replicate_weights"),
        ({"replicate_weights": "r1-r9; brr", "weight": "w"}, "replicate_weights"),
        ({**SINGLE, "method": "exact"}, "method"),
        ({**SINGLE, "person": "c"}, "person"),
    ],
)
def test_contradictions_are_named(options, path, rows):
    with pytest.raises(SpecError) as refused:
        fg.audit(rows, **ASKED, **options)
    assert path in {problem.path for problem in refused.value.problems}


def test_other_verbs_refuse_the_design(rows):
    of_rows = {key: ASKED[key] for key in ("label", "sensitive")}
    with pytest.raises(SpecError, match="why knows no variance"):
        fg.why(rows, **of_rows, strata="c", strata_of_sample="h")
    with pytest.raises(SpecError, match="explore knows no variance"):
        fg.explore(rows, **of_rows, strata_of_sample="h")
    counts = fg.count(rows, prediction="y", sensitive="g", strata_of_sample="h")
    with pytest.raises(SpecError, match="find knows no variance"):
        fg.find(counts, metrics="selection_rate")
    with pytest.raises(CubeError, match="design of a survey"):
        fg.protect(counts, 10)


def test_intervals_of_a_thousand_samples_of_each_design_cover():
    measured = json.loads(MEASURED.read_text())
    assert len(measured) == 3
    for of in measured.values():
        assert of["samples"] == 1_000
        assert all(93 <= share <= 97 for share in of["covered"].values())


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
@pytest.mark.parametrize("reference", ["others", "overall", {"g": "c"}])
def test_sides_are_those_of_the_rows(design, reference, rows):
    """A group alone, and against another, is as in rows where all others are one group."""
    other = rows.with_columns(pl.when(pl.col("g") == "a").then("g").otherwise(pl.lit("b")))
    asked = {**ASKED, **design, "reference": "others" if reference == {"g": "c"} else reference}
    merged = limits(fg.audit(other, **asked))["base_rate.difference", "a"]
    named = {**asked, "reference": reference}
    if reference == {"g": "c"}:
        rows = rows.with_columns(pl.col("g").replace("b", "c"))
    found = limits(fg.audit(rows, **named))["base_rate.difference", "a"]
    assert found[0] == pytest.approx(merged[0], rel=1e-9)
    assert found[1] == pytest.approx(merged[1], rel=1e-7)
    of_a = {"sensitive": {"column": "g", "values": [["a"]]}, "reference": "others"}
    alone = limits(fg.audit(rows, **{**asked, **of_a}))["base_rate.difference", "a"]
    if reference == "others":
        assert alone[1] == pytest.approx(merged[1], rel=1e-7)


@pytest.mark.parametrize("design", ["units", "replicates", "single"])
@pytest.mark.parametrize(
    "asked",
    [
        {"label": "y", "prediction": "p", "strata": "t"},
        {"label": "y", "score": "s"},
        {"label": "amount", "prediction": "size", "task": "regression"},
    ],
    ids=["decisions", "scores", "amounts"],
)
def test_every_number_has_an_interval_of_the_design_or_a_reason(design, asked, rows):
    made = rows.with_columns(p=(pl.col("s") > 0.6).cast(int), t=pl.col("c") % 2)
    report = fg.audit(made, sensitive="g", metrics="all", **asked, **DESIGNS[design])
    for estimate in report.estimates:
        assert (estimate.interval is None) <= (estimate.reason is not None), estimate.metric
        if estimate.interval is not None:
            assert IntervalMethod.SURVEY_DESIGN in estimate.interval.methods, estimate.metric
