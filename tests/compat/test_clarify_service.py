"""Numbers that the real service printed come out of ``fairgauge clarify``, in its spelling."""

import math
from typing import Any

import polars as pl
import pytest
from clarify_cases import BASELINE, after, before, cases, config, values

import fairgauge as fg
from fairgauge.plugins import Reason, ReasonCode
from fairgauge_cloud import _service_metrics as service_texts

ROWS = [(sex, int(i < positive)) for sex, (positive, rows) in BASELINE.items() for i in range(rows)]
PRINTED = {
    "CI": 41 / 111, "DPL": 0.2326441102756892, "KL": 0.22434464102537785, "JS": 0.04508199943437752,
    "LP": 0.32900845595810163, "TVD": 0.2326441102756892, "KS": 0.2326441102756892,
}  # fmt: skip
MONITORED_VALUES = {
    "RD": 0.17253086419753086, "SD": 0.27419354838709675, "DAR": -0.34693877551020413,
    "DCA": -36.69387755102041, "DCR": -0.07650793650793647, "GE": 0.9454985573866695,
    "DI": 0.08311688311688312, "TE": "Infinity",
}  # fmt: skip


def baseline_job() -> dict[str, Any]:
    facet = [{"name_or_index": "Sex", "value_or_threshold": [0]}]
    return config(label="Target", facet=facet)


def test_baseline_job(folder: Any) -> None:
    folder.csv("data.csv", [("Sex", "Target"), *ROWS])
    found = values(folder.clarify(baseline_job()), "pre", "Sex")
    for name, value in PRINTED.items():
        assert math.isclose(found[name], value, rel_tol=1e-12), name


def test_one_sided_strata_count_as_the_service_counts_them(folder: Any) -> None:
    # three strata, one without rejections: the service adds 0 for the empty side
    rows = [
        ("d", 1, "x"), ("a", 0, "x"), ("d", 0, "y"), ("a", 1, "y"), ("d", 1, "z"), ("a", 1, "z"),
    ]  # fmt: skip
    folder.csv("data.csv", [("facet", "label", "group"), *rows * 40])
    asked = config(group_variable="group")
    found = folder.clarify(asked)
    # DD is -1 in x, 1 in y, and 0 - 1/2 in z, each a third of the rows
    assert values(found, "pre")["CDDL"] == pytest.approx(-1 / 6)


@pytest.mark.parametrize("facets", [["a"], ["b"], ["a", "b"]])
def test_a_job_compares_with_the_reference_of_an_audit(folder: Any, facets: list[str]) -> None:
    """All others, whatever the number of groups; several values of a facet are one group."""
    cells = {"a": (30, 10, 20, 40), "b": (50, 20, 10, 20), "c": (9, 1, 3, 7)}
    rows = cases(cells)
    folder.csv("data.csv", [("facet", "label", "prediction"), *rows])
    asked = config(
        facet=[{"name_or_index": "facet", "value_or_threshold": facets}],
        predicted_label="prediction",
        methods=after(),
    )
    found = folder.clarify(asked)
    table = pl.DataFrame(rows, schema=["facet", "label", "prediction"], orient="row")
    report = fg.audit(
        table, label="label", prediction="prediction", positive=1, metrics=["DI", "AD", "RD"],
        sensitive={"facet": [facets]}, reference="others", profile="clarify",
    )  # fmt: skip
    for metric in ("DI", "AD", "RD"):
        estimate = report[metric, "facet", ", ".join(facets)]
        assert str(estimate.reference) == "others"
        assert values(found)[metric] == pytest.approx(estimate.value, rel=1e-12)


def test_monitoring_run(folder: Any, monitored: dict[str, Any]) -> None:
    found = values(folder.clarify(monitored))
    for name, value in MONITORED_VALUES.items():
        assert found[name] == (value if isinstance(value, str) else pytest.approx(value)), name


def test_results_are_in_the_services_shape(folder: Any, monitored: dict[str, Any]) -> None:
    found = folder.clarify(monitored)
    assert list(found) == ["version", "pre_training_bias_metrics", "post_training_bias_metrics"]
    section = found["pre_training_bias_metrics"]
    assert (section["label"], section["label_value_or_threshold"]) == ("label", "1")
    (block,) = section["facets"]["facet"]
    assert block["value_or_threshold"] == "d"
    assert [metric["name"] for metric in block["metrics"]] == [
        "CDDL", "CI", "DPL", "JS", "KL", "KS", "LP", "TVD",
    ]  # fmt: skip
    assert block["metrics"][0] == {
        "name": "CDDL", "description": "Conditional Demographic Disparity in Labels (CDDL)",
        "value": None, "error": "Group variable is empty or not provided",
    }  # fmt: skip
    assert block["metrics"][4]["description"] == "Kullback-Liebler Divergence (KL)"
    names = [
        m["name"] for m in found["post_training_bias_metrics"]["facets"]["facet"][0]["metrics"]
    ]
    assert names == [
        "AD", "CDDPL", "DAR", "DCA", "DCR", "DI", "DPPL", "DRR", "FT", "GE", "RD", "SD", "TE",
    ]  # fmt: skip


def test_only_requested_methods_appear(folder: Any, monitored: dict[str, Any]) -> None:
    monitored["methods"] = {"post_training_bias": {"methods": ["TE", "DCAcc", "DI"]}}
    found = folder.clarify(monitored)
    assert "pre_training_bias_metrics" not in found
    assert list(values(found)) == ["DCA", "DI", "TE"]


@pytest.mark.parametrize(
    ("stage", "metric"),
    [
        *(("pre_training_bias", name) for name in service_texts.PRE_TRAINING),
        *(("post_training_bias", name) for name in service_texts.POST_TRAINING),
    ],
)
def test_each_metric_can_be_asked_alone(
    folder: Any, monitored: dict[str, Any], stage: str, metric: str
) -> None:
    monitored["methods"] = {stage: {"methods": [metric]}, "report": {"name": "alone"}}
    assert list(values(folder.clarify(monitored), stage.removesuffix("_training_bias"))) == [metric]
    assert (folder.path / "out/alone.html").exists()


@pytest.mark.parametrize("values", [[], ["not known"]])
def test_a_value_that_begins_with_not_is_compared_with_all_others(
    folder: Any, values: list[str]
) -> None:
    # "not not known" was shortened to "known", which is another value of 100 rows
    rows = [(facet, i % 2) for facet in ("known", "not known", "x", "others") for i in range(100)]
    folder.csv("data.csv", [("facet", "label"), *rows])
    facet = {"name_or_index": "facet"} | ({"value_or_threshold": values} if values else {})
    found = folder.clarify(config(facet=[facet]))
    for block in found["pre_training_bias_metrics"]["facets"]["facet"]:
        (ci,) = [each["value"] for each in block["metrics"] if each["name"] == "CI"]
        assert ci == (300 - 100) / 400
    ours = folder.ours()
    facets = {each["group"].strip('"') for each in ours["estimates"] if each["low"] is not None}
    assert facets == set(values or ["known", "not known", "x", "others"])


def test_several_facets_and_all_values(folder: Any) -> None:
    rows = [("a", 30, 1), ("b", 50, 0), ("c", 70, 1), ("b", 41, 0)] * 30
    folder.csv("data.csv", [("group", "age", "label"), *rows])
    facets = [{"name_or_index": "group"}, {"name_or_index": 1, "value_or_threshold": [40]}]
    found = folder.clarify(config(facet=facets, methods=before()))
    section = found["pre_training_bias_metrics"]["facets"]
    assert [block["value_or_threshold"] for block in section["group"]] == ["a", "b", "c"]
    # four distinct ages in 120 rows are few enough for the service to take them for categories
    assert [block["value_or_threshold"] for block in section["age"]] == ["40"]
    folder.csv("data.csv", [("group", "age", "label"), *((g, a + 0.5, y) for g, a, y in rows)])
    found = folder.clarify(config(facet=facets, methods=before()))
    section = found["pre_training_bias_metrics"]["facets"]
    assert [block["value_or_threshold"] for block in section["age"]] == ["(40.0, 70.5]"]
    assert values(found, "pre", "age")["CI"] == pytest.approx(-0.5)


def test_a_facet_that_cannot_be_read_fails_alone(folder: Any) -> None:
    rows = [("d", i / 7, i % 2) for i in range(60)] + [("a", i / 3, i % 3 == 0) for i in range(60)]
    folder.csv("data.csv", [("facet", "amount", "label"), *((f, x, int(y)) for f, x, y in rows)])
    facets = [{"name_or_index": "amount"}, {"name_or_index": "facet", "value_or_threshold": ["d"]}]
    found = folder.clarify(config(facet=facets))
    section = found["pre_training_bias_metrics"]["facets"]
    error = "Threshold values must be provided for continuous features"
    assert {metric["error"] for metric in section["amount"][0]["metrics"]} == {error}
    assert values(found, "pre")["CI"] == 0.0


def test_a_model_that_never_says_yes_is_measured(folder: Any) -> None:
    rows = [("d", 1, 0), ("d", 0, 0), ("a", 1, 0), ("a", 0, 0)] * 20
    folder.csv("data.csv", [("facet", "label", "predicted"), *rows])
    found = folder.clarify(config(predicted_label="predicted", methods=after()))
    assert values(found)["DPPL"] == 0.0
    assert "the service stops here" in folder.notes


def test_report_and_summary(folder: Any, monitored: dict[str, Any]) -> None:
    monitored["methods"]["report"] = {"name": "loans", "title": "Loans"}
    name = folder.json("analysis_config.json", monitored)
    result = folder.run("clarify", name, "-o", "out")
    assert result.exit_code == 0, result.output
    assert "DPPL" in result.stdout
    html = (folder.path / "out/loans.html").read_text(encoding="utf-8")
    assert "</html>" in html
    assert "data.csv" in html


@pytest.mark.parametrize(("outcome", "word"), [(0, "positive"), (1, "negative")])
def test_strata_of_one_outcome_have_the_words_of_the_service(
    folder: Any, outcome: int, word: str
) -> None:
    rows = [("d", outcome, "x"), ("a", outcome, "x"), ("d", outcome, "y"), ("a", outcome, "y")]
    folder.csv("data.csv", [("facet", "label", "group"), *rows * 10])
    found = folder.clarify(config(group_variable="group"))
    block = found["pre_training_bias_metrics"]["facets"]["facet"][0]
    (cddl,) = [each for each in block["metrics"] if each["name"] == "CDDL"]
    assert (cddl["value"], cddl["error"]) == (None, f"No {word} labels in set")


@pytest.mark.parametrize(
    ("metric", "group", "reference", "code", "words"),
    [
        ("GE", 5, 5, None, service_texts.ONLY_FALSE_NEGATIVES),
        ("KL", 5, 5, None, service_texts.NO_SHARED),
        ("CDDL", 5, 5, "no_positives", "No positive labels in set"),
        (
            "CDDPL", 5, 5, "no_negatives",
            "No negative labels in set",
        ),
        ("CDDL", 5, 5, "needs_strata", service_texts.NO_GROUP),
        ("DPL", 5, 0, None, "Negative facet set is empty."),
        ("DPL", 0, 5, None, "Facet set is empty."),
        ("DI", 0, 0, None, "Negated facet set is empty"),
        ("AD", 5, 5, "both_sides_zero", "both sides are 0"),
    ],
)  # fmt: skip
def test_what_has_no_value_has_the_words_of_the_engine(
    metric: str, group: int, reference: int, code: str | None, words: str
) -> None:
    reason = Reason.of(ReasonCode(code)) if code else None
    assert service_texts.error_text(metric, group, reference, reason) == words
