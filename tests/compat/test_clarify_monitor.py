"""Bias drift: the service's rule on its own printed runs."""

import json
import math
from typing import Any

import hypothesis.strategies as st
import polars as pl
import pytest
from clarify_cases import MONITORED, cases
from hypothesis import given

from fairgauge_cloud._service_metrics import read_value
from fairgauge_cloud.clarify.analysis import (
    MetricKey,
    MetricValue,
    Values,
    compare,
    has_drifted,
)

POST = "post_training_bias_metrics"


def drift_entries(shared: Any) -> list[dict[str, Any]]:
    entries = shared.vectors("worked_examples.json")
    return [entry for entry in entries if entry["metric"] == "drift_violation"]


def test_the_printed_decisions_of_the_service(shared: Any) -> None:
    entries = drift_entries(shared)
    assert len(entries) == 11
    for entry in entries:
        asked = entry["inputs"]
        now, before = (read_value(asked[key]) for key in ("current", "baseline"))
        assert now is not None
        assert before is not None
        assert has_drifted(now, before) is entry["expected"], entry["id"]


@pytest.mark.parametrize(
    ("text", "number"),
    [("Infinity", math.inf), ("-Infinity", -math.inf), ("∞", math.inf), ("-∞", -math.inf)],
)
def test_both_spellings_of_infinity_are_read(text: str, number: float) -> None:
    assert read_value(text) == number


def test_infinity_is_a_drift_once() -> None:
    assert has_drifted(math.inf, 5.0)
    assert not has_drifted(math.inf, math.inf)


def test_what_cannot_be_compared_is_said() -> None:
    now = of_metrics(AD=None, RD=0.1, TE=0.1)
    before = of_metrics(AD=0.1, RD=None, SD=0.1)
    drift = compare(now, before)
    assert drift.evaluated == 0
    assert drift.not_evaluated == (
        "AD of facet d: there is no value (null)",
        "RD of facet d: the baseline has no value (null)",
        "SD of facet d: not in the current results",
        "TE of facet d: not in the baseline",
    )


def of_metrics(**numbers: float | None) -> Values:
    """Return values of one group."""
    return {
        MetricKey(POST, "facet", "d", metric): MetricValue(number)
        for metric, number in numbers.items()
    }


def of_block(block: str, number: float, facet: str = "age") -> Values:
    return {MetricKey(POST, facet, block, "RD"): MetricValue(number)}


def compared(now: Values, before: Values) -> tuple[int, int]:
    """Return how many values could be compared, and how many drifted."""
    drift = compare(now, before)
    return drift.evaluated, len(drift.violations)


def test_a_threshold_is_the_same_facet_whatever_the_largest_value() -> None:
    assert compared(of_block("(100, 232]", 0.3), of_block("(100, 225]", 0.2)) == (1, 1)
    assert compared(of_block("(100.0, 232.5]", 0.1), of_block("(100, 225]", 0.2)) == (1, 0)
    assert compared(of_block("(90, 225]", 0.3), of_block("(100, 225]", 0.2)) == (0, 0)
    assert compared(of_block("(100, inf)", 0.1), of_block("(100, 225]", 0.2)) == (1, 0)


def test_bins_as_text_are_not_thresholds() -> None:
    bins = of_block("(0, 18]", 0.1) | of_block("(0, 65]", 0.2)
    assert compared(bins, of_block("(0, 18]", 0.1) | of_block("(0, 70]", 0.2)) == (1, 0)


@given(number=st.floats(-10, 10), last=st.integers(-4, 4))
def test_the_last_digits_are_no_drift(number: float, last: int) -> None:
    now = number
    for _ in range(abs(last)):
        now = math.nextafter(now, math.inf if last > 0 else -math.inf)
    assert not has_drifted(now, number)
    assert has_drifted(math.copysign(abs(number) + 1e-6, number), number)


@given(changes=st.integers(1, 10_000))
def test_results_meet_their_own_constraints(changes: int) -> None:
    found = of_block(f"({changes}, {changes + 1}]", 1 / changes) | of_block("F", -0.2, "sex")
    assert compared(found, found) == (2, 0)


@pytest.fixture
def baseline(folder: Any, monitored: dict[str, Any]) -> dict[str, Any]:
    """Write a baseline of an even model, and a configuration of the real monitoring run."""
    even = {"a": (90, 10, 30, 70), "d": (45, 6, 15, 34)}
    rows = folder.path / "data.csv"
    kept = rows.read_text()
    folder.csv("data.csv", [("facet", "label", "predicted"), *cases(even)])
    folder.clarify(monitored, into="base")
    rows.write_text(kept)
    folder.json("now.json", monitored)
    return monitored


def test_violations_are_written_as_the_service_writes_them(
    folder: Any, baseline: dict[str, Any]
) -> None:
    del baseline
    result = folder.run("clarify-monitor", "now.json", "--baseline", "base/analysis.json")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("CompletedWithViolations: ")
    found = folder.read("constraint_violations.json")
    names = [each["metric_name"] for each in found["violations"]]
    assert names == sorted(names)
    assert {"RD", "DAR", "DCA", "TE", "GE"} <= set(names)
    (te,) = [each for each in found["violations"] if each["metric_name"] == "TE"]
    assert list(te) == [
        "facet", "facet_value", "metric_name", "constraint_check_type", "description",
    ]  # fmt: skip
    assert (te["facet"], te["facet_value"]) == ("facet", "d")
    assert te["constraint_check_type"] == "bias_drift_check"
    assert te["description"].startswith(
        "Metric value Infinity doesn't meet the baseline constraint requirement "
    )
    assert list(found) == ["version", "violations"]
    assert "not evaluated: CDDL of facet d" in result.stderr


def test_exit_codes_for_pipelines(folder: Any, baseline: dict[str, Any]) -> None:
    del baseline
    check = ("clarify-monitor", "now.json", "--fail-on-violation", "--baseline")
    assert folder.run(*check, "base/analysis.json").exit_code == 1
    folder.json("own.json", folder.read("analysis.json"))
    assert folder.run(*check, "own.json").exit_code == 0
    lacking = folder.read("own.json")
    lacking["post_training_bias_metrics"]["facets"]["facet"][0]["metrics"].pop(0)
    folder.json("now.json", lacking)
    assert folder.run(*check, "own.json").exit_code == 3
    empty = folder.read("own.json")
    for stage in ("pre", "post"):
        for metric in empty[f"{stage}_training_bias_metrics"]["facets"]["facet"][0]["metrics"]:
            metric["value"] = None
    folder.json("nothing.json", empty)
    assert folder.run(*check, "nothing.json").exit_code == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("{}", "is no analysis.json"),
        (
            json.dumps({"pre_training_bias_metrics": {"facets": [1]}}),
            "has another shape than analysis.json",
        ),
    ],
)
def test_files_that_are_no_results(folder: Any, content: str, message: str) -> None:
    folder.text("x.json", content)
    assert message in folder.fails("clarify-monitor", "x.json", "--baseline", "x.json")


def test_the_real_run_drifted_as_the_service_said(folder: Any, monitored: dict[str, Any]) -> None:
    """Hold the recovered counts against the printed baseline: the service's own violations."""
    assert cases(MONITORED)
    printed = {"RD": 0.1308103661044837, "SD": 0.10465328014037645, "DI": 0.17798594847775176}
    found = folder.clarify(monitored)
    for metric in found["post_training_bias_metrics"]["facets"]["facet"][0]["metrics"]:
        metric["value"] = printed.get(metric["name"])
        metric.pop("error", None)
    folder.json("printed.json", found)
    result = folder.run("clarify-monitor", "analysis_config.json", "--baseline", "printed.json")
    assert result.exit_code == 0, result.output
    drifted_now = {
        e["metric_name"] for e in folder.read("constraint_violations.json")["violations"]
    }
    assert {"RD", "SD"} <= drifted_now
    assert "DI" not in drifted_now  # 0.178 -> 0.083 was not flagged


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("headers", [["label", "facet"], ["facet", "label", "predicted"], None])
def test_a_monitors_table_has_its_own_header(
    folder: Any, monitored: dict[str, Any], headers: list[str] | None, suffix: str
) -> None:
    folder.clarify(monitored)
    if suffix == "parquet":
        pl.read_csv("data.csv").write_parquet("data.parquet")
    kept = {key: monitored[key] for key in ("label", "label_values_or_threshold", "facet")}
    asked = {**kept, "InferenceAttribute": "predicted"}
    folder.json("monitor.json", asked if headers is None else asked | {"headers": headers})
    args = ("--dataset", f"data.{suffix}", "--baseline", "out/analysis.json")
    result = folder.run("clarify-monitor", "monitor.json", *args, "--fail-on-violation")
    assert result.exit_code == 0, result.output
    assert "Completed: 18 metrics compared" in result.stdout
    table = pl.read_csv("data.csv").with_columns(pl.col("label").cast(float))
    table.write_csv("data.csv")  # the service reads such labels as above 1, and stops
    table.write_parquet("data.parquet")
    result = folder.run("clarify-monitor", "monitor.json", *args, "--fail-on-violation")
    assert (result.exit_code, "the service stops here" in result.stderr) == (3, True)


def test_headers_that_do_not_fit_a_table_state_what_to_do(folder: Any) -> None:
    folder.csv("data.csv", [("x", "facet", "label", "predicted"), *[(1, "a", 1, 1)] * 3])
    kept = {"label": "label", "label_values_or_threshold": [1], "InferenceAttribute": "predicted"}
    facet = [{"name_or_index": "facet", "value_or_threshold": ["a"]}]
    headers = ["facet", "label", "predicted"]
    folder.json("monitor.json", kept | {"facet": facet, "headers": headers})
    args = ("--dataset", "data.csv", "--baseline", "baseline.json")
    message = folder.fails("clarify-monitor", "monitor.json", *args)
    assert "name every one of them, or leave headers out where the file has a header" in message
