"""smclarify's names: their arguments, their guesses, and their errors."""

import inspect
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from fairgauge_cloud.smclarify.bias import metrics, report
from fairgauge_cloud.smclarify.bias.metrics import basic_stats, common
from fairgauge_cloud.smclarify.bias.report import (
    FacetColumn,
    LabelColumn,
    ProblemType,
    StageType,
    bias_basic_stats,
    bias_report,
    fetch_metrics_to_run,
    label_value_or_threshold,
    model_performance_report,
    problem_type,
)

PRE, POST = StageType.PRE_TRAINING, StageType.POST_TRAINING
TABLE = pd.DataFrame(
    {
        "sex": ["F", "M"] * 60, "label": ["no", "yes", "yes", "yes", "no", "no"] * 20,
        "predicted": ["no", "yes", "yes", "no", "no", "yes"] * 20,
        "group": ["x", "x", "y", "y"] * 30, "age": np.arange(120) % 50 + 20.5,
    }
)  # fmt: skip


def label(name: str = "label", positive: Any = ("yes",)) -> LabelColumn:
    return LabelColumn(name, TABLE[name], list(positive))


def found(blocks: list[dict[str, Any]], block: int = 0) -> dict[str, Any]:
    return {m["name"]: m.get("error", m["value"]) for m in blocks[block]["metrics"]}


ARGUMENTS = {
    "CI": ["feature", "sensitive_facet_index"],
    "KL": ["label", "sensitive_facet_index"],
    "DPL": ["feature", "sensitive_facet_index", "positive_label_index"],
    "CDDL": ["feature", "sensitive_facet_index", "positive_label_index", "group_variable"],
    "DPPL": ["feature", "sensitive_facet_index", "positive_predicted_label_index"],
    "DI": ["feature", "sensitive_facet_index", "positive_predicted_label_index"],
    "FT": ["df", "sensitive_facet_index", "positive_predicted_label_index"],
    "GE": ["positive_label_index", "positive_predicted_label_index"],
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_metric_functions_have_smclarifys_arguments(name: str) -> None:
    assert list(inspect.signature(getattr(metrics, name)).parameters) == ARGUMENTS[name]


def test_all_metrics_are_registered_in_its_order() -> None:
    names = [metric.__name__ for metric in metrics.PRETRAINING_METRICS]
    assert names == ["CI", "DPL", "KL", "JS", "LP", "TVD", "KS", "CDDL"]
    assert [m.__name__ for m in metrics.POSTTRAINING_METRICS] == [
        "DPPL", "DI", "DCA", "DCR", "RD", "SD", "DAR", "DRR", "AD", "CDDPL", "TE", "FT", "GE",
    ]  # fmt: skip
    assert common.metric_description(metrics.KL) == "Kullback-Liebler Divergence (KL)"


def flags() -> tuple[pd.Series, pd.Series, pd.Series]:
    return TABLE["sex"] == "F", TABLE["label"] == "yes", TABLE["predicted"] == "yes"


def arguments() -> dict[str, Any]:
    facet, positive, predicted = flags()
    return {
        "feature": TABLE["sex"], "df": TABLE[["age"]], "label": positive,
        "sensitive_facet_index": facet, "positive_label_index": positive,
        "positive_predicted_label_index": predicted, "group_variable": TABLE["group"],
    }  # fmt: skip


def test_metric_functions_agree_with_the_report() -> None:
    frame, facet = TABLE.drop(columns="group"), FacetColumn("sex", ["F"])
    blocks = bias_report(
        frame, facet, label(), POST, label("predicted"), group_variable=TABLE["group"]
    )
    after = found(blocks)
    given = arguments()
    for metric in metrics.POSTTRAINING_METRICS:
        assert metrics.call_metric(metric, **given) == pytest.approx(after[metric.__name__])
    with pytest.raises(KeyError):
        metrics.call_metric(metrics.GE, feature=TABLE["sex"])


def test_metrics_that_distances_do_not_collapse() -> None:
    labels = pd.Series(["a", "a", "b", "c", "a", "b", "b", "b"])
    facet = pd.Series([True] * 4 + [False] * 4)
    # c is missing outside the facet and is dropped: |1/2 - 1/4| and |1/4 - 3/4|
    assert metrics.TVD(labels, facet) == pytest.approx(0.375)
    assert metrics.KS(labels, facet) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CI", "CI: facet set is empty. Check that x[facet] has non-zero length."),
        ("DPL", "Facet set is empty."),
        ("JS", "No instance of common facet found, dataset may be too small"),
        ("DI", "Facet set is empty"),
        ("DCA", "DCO: Facet set is empty"),
        ("SD", "DLA: Facet set is empty"),
        ("DRR", "DLR: Facet set is empty"),
        ("TE", "Facet set is empty"),
        ("FT", "Facet set is empty"),
    ],
)
def test_an_empty_facet_is_an_error_in_its_words(name: str, text: str) -> None:
    given = arguments() | {"sensitive_facet_index": pd.Series([False] * len(TABLE))}
    with pytest.raises(ValueError, match="^" + text.replace("[", r"\[").replace(".", r"\.") + "$"):
        metrics.call_metric(getattr(metrics, name), **given)


def test_columns_of_flags_must_be_boolean() -> None:
    facet, positive, _ = flags()
    with pytest.raises(ValueError, match="sensitive_facet_index must be of type bool"):
        metrics.CI(TABLE["sex"], facet.astype(int))
    with pytest.raises(ValueError, match="positive_label_index must be of type bool"):
        metrics.DPL(TABLE["sex"], facet, positive.astype(int))


def test_one_against_all() -> None:
    both = metrics.metric_one_vs_all(metrics.CI, TABLE["sex"])
    assert both == {"F": 0.0, "M": 0.0}


def test_whole_reports_fail_with_its_texts() -> None:
    facet = FacetColumn("sex", ["F"])
    ages, years = TABLE["age"], TABLE["age"].astype(int) % 2
    for text, args in (
        ("Facet column race is not present in the dataset", (FacetColumn("race"), label(), PRE)),
        ("Positive label values or thresholds are empty for Label column",
         (facet, LabelColumn("label", TABLE["label"]), PRE)),
        ("Positive predicted label values or threshold should be empty or same",
         (facet, label(), POST, label("predicted", ["no"]))),
        ("stage_type should be a Enum value of StageType", (facet, label(), "pre_training")),
        ("predicted_label_column has to be provided for Post", (facet, label(), POST)),
        ("Threshold values must be provided for continuous", (FacetColumn("age"), label(), PRE)),
        ("must be a single numeric threshold for continuous data",
         (FacetColumn("age", ["old"]), label(), PRE)),
        ("No Label values are present in the predicted Label Column,Positive Predicted",
         (facet, label(), POST, LabelColumn("p", pd.Series(["no"] * 120), ["yes"]))),
        ("datatype is not the same as Label Column series",
         (facet, LabelColumn("y", years, [21]), POST, LabelColumn("p", ages, [21]))),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            bias_report(TABLE, *args)


def test_names_of_metrics() -> None:
    with pytest.raises(ValueError, match=r"^Invalid metric_name: .*registered metrics\['CI', "):
        fetch_metrics_to_run(metrics.PRETRAINING_METRICS, ["AD"])
    chosen = fetch_metrics_to_run(metrics.PRETRAINING_METRICS, ["KS", "CI"])
    assert [metric.__name__ for metric in chosen] == ["CI", "KS"]
    only = bias_report(TABLE, FacetColumn("sex", ["F"]), label(), PRE, metrics=["KS", "CI"])
    assert list(found(only)) == ["CI", "KS"]


@pytest.mark.parametrize(
    ("values", "listed", "text"),
    [
        (["yes", "no"], ["yes"], "yes"),
        ([1, 2, 3, 40], [2], "(2, 40]"),
        ([1.5, 2.5, 40], [2], "(2.0, 40.0]"),
        ([1, 2, 3, 40], [40], ""),
        ([1, 2, 3, 40], [60], "(40, 60]"),
        ([-100, -50, -1], [1], ""),
        (["1", "2", "30"], ["2"], "(2.0, 30.0]"),
        ([1, 2, 3], [1, 2], "1,2"),
        ([True, False], [1], "1"),
    ],
)
def test_texts_of_values_and_thresholds(values: list[Any], listed: list[Any], text: str) -> None:
    assert label_value_or_threshold(pd.Series(values), listed) == text


def test_blocks_come_in_order_of_first_appearance() -> None:
    frame = TABLE.assign(sex=["M", None, "F"] * 40)
    blocks = bias_report(frame, FacetColumn("sex"), label(), PRE)
    assert [block["value_or_threshold"] for block in blocks] == ["M", "nan", "F"]
    assert found(blocks, 1)["DPL"] == "Facet set is empty."


def test_strata_of_mixed_types_are_its_error() -> None:
    strata = pd.Series(["x", None] * 60, dtype=object)
    blocks = bias_report(TABLE, FacetColumn("sex", ["F"]), label(), PRE, group_variable=strata)
    assert found(blocks)["CDDL"].startswith("'<' not supported between instances of ")


def test_basic_stats_and_performance() -> None:
    blocks = bias_basic_stats(TABLE, FacetColumn("sex"), label(), POST, label("predicted"))
    assert [metric["name"] for metric in blocks[0]["metrics"]] == [
        "proportion", "observed_label_distribution", "confusion_matrix",
    ]  # fmt: skip
    assert blocks[0]["metrics"][0]["value"] == 0.5
    facet, positive, predicted = flags()
    assert blocks[0]["metrics"][2]["value"] == basic_stats.confusion_matrix(
        TABLE["sex"], facet, positive, predicted
    )
    assert blocks[0]["metrics"][1]["value"] == basic_stats.observed_label_distribution(
        TABLE, facet, positive
    )
    whole = model_performance_report(TABLE, label(), label("predicted"))
    assert whole["label"] == "label"
    assert whole["confusion_matrix"] == basic_stats.multicategory_confusion_matrix(
        TABLE["label"], TABLE["predicted"]
    )
    assert sum(whole["binary_confusion_matrix"]) == pytest.approx(1.0)
    assert common.binary_confusion_matrix(TABLE["sex"], positive, predicted) == pytest.approx(
        whole["binary_confusion_matrix"]
    )


def test_problem_type() -> None:
    assert problem_type(pd.Series([0, 1, 1, None])) is ProblemType.BINARY
    assert problem_type(pd.Series([0, 1, 2])) is ProblemType.OTHER


def test_the_arguments_are_not_changed() -> None:
    listed = ["30"]
    before = TABLE.copy()
    bias_report(TABLE, FacetColumn("age", listed), label(), PRE)
    assert listed == ["30"]
    pd.testing.assert_frame_equal(TABLE, before)


def test_the_version_and_the_helpers_are_smclarifys() -> None:
    from fairgauge_cloud import smclarify
    from fairgauge_cloud.smclarify import util

    assert smclarify.__version__ == "0.5"
    assert util.pdf([3, 1, 3, 3]) == [(1, 0.25), (3, 0.75)]
    one, two = util.pdfs_aligned_nonzero(["a", "b", "b"], ["b", "c", "c", "c"])
    assert (one.tolist(), two.tolist()) == ([2 / 3], [1 / 4])
    assert util.collapse_to_binary([0.2, 0.7], 0.5).tolist() == [0, 1]
    assert util.GaussianFilter(np.ones(1)).tolist() == [pytest.approx(1 / np.sqrt(2 * np.pi))]
    with pytest.raises(ValueError, match="input array is empty"):
        util.GaussianFilter(np.array([]))


@pytest.fixture
def registered() -> Iterator[Any]:
    """Register metrics for one test."""
    from fairgauge_cloud.smclarify.bias.metrics import registry

    lists = (registry.PRETRAINING_METRIC_FUNCTIONS, registry.POSTTRAINING_METRIC_FUNCTIONS)
    before = [list(each) for each in lists]
    yield registry
    for each, kept in zip(lists, before, strict=True):
        each[:] = kept


def test_registered_metrics_appear_in_reports(registered: Any) -> None:
    @registered.pretraining
    def Sensitive(sensitive_facet_index: pd.Series) -> float:
        """Share of the facet (Sensitive)

        More than the first line is not shown.
        """
        return float(sensitive_facet_index.mean())

    @registered.posttraining
    def Broken(df: pd.DataFrame, positive_predicted_label_index: pd.Series) -> float:
        """Always fails."""
        raise ValueError(f"{list(df)} {int(positive_predicted_label_index.sum())}")

    frame = pd.DataFrame({"f": ["d", "a"] * 40, "x": range(80), "y": ["n", "p", "p", "p"] * 20})
    frame["p"] = ["p", "n"] * 40
    arguments = (frame, FacetColumn("f", ["d"]), LabelColumn("y", frame["y"], ["p"]))
    (block,) = bias_report(*arguments, StageType.PRE_TRAINING, metrics=["Sensitive", "DPL"])
    assert block["metrics"][1] == {
        "name": "Sensitive", "description": "Share of the facet (Sensitive)", "value": 0.5,
    }  # fmt: skip
    predicted = LabelColumn("p", frame["p"], ["p"])
    (block,) = bias_report(*arguments, StageType.POST_TRAINING, predicted, metrics=["Broken"])
    assert block["metrics"] == [
        {"name": "Broken", "description": "Always fails.", "value": None, "error": "['x'] 40"}
    ]
    assert registered.all_metrics()[-1] == "Broken"


def test_what_cannot_be_registered(registered: Any) -> None:
    with pytest.raises(TypeError, match="is not a function"):
        registered.pretraining(int)
    with pytest.raises(AssertionError, match="DI is already registered"):
        registered.pretraining(metrics.DI)
    with pytest.raises(ValueError, match="doesn't have a docstring"):
        registered.posttraining(lambda: 0.0)


@given(data=st.data(), threshold=st.sampled_from([1, 2.5, 0.1, -3]))
def test_intervals_are_named_as_pandas_names_them(data: st.DataObject, threshold: float) -> None:
    numbers = st.integers(-9, 10**12) | st.floats(-9, 1e12, allow_nan=False)
    numbers = numbers.map(lambda x: x + 0)  # which of -0.0 and 0.0 is the largest is not defined
    series = pd.Series(data.draw(st.lists(numbers, min_size=5, max_size=9)))
    ends = {threshold, series.max()} if abs(series.max()) != threshold else {threshold}
    if series.dtype.kind not in "if" or len(ends) < 2:
        return
    if series.dtype.kind == "i" and series.nunique() / len(series) < 0.05:
        return
    expected = str(pd.IntervalIndex.from_breaks(sorted(ends))[0])
    assert report.label_value_or_threshold(series, [threshold]) == expected
