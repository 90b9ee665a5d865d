"""Other tools' names: each finds a number of ours, or says why there is none; none misleads."""

from __future__ import annotations

import re

import pytest

import fairgauge as fg
from fairgauge.catalogue._synonyms import NAMES, Name, plain
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.lookup import expand, find_metric, find_rate
from fairgauge.catalogue.row_metrics import RowMetric

ROWS = {row.name: row for row in (*RATES, *METRICS)}
OF_NAME = pytest.mark.parametrize("each", NAMES, ids=lambda n: f"{n.tool}:{n.name}")


@OF_NAME
def test_every_name_is_of_a_row_or_says_why(each: Name) -> None:
    if each.ours is None:
        assert each.differs
    else:
        assert each.ours in ROWS


def test_how_neighbours_are_found_is_stated_of_every_metric_of_them() -> None:
    near = "divided by their standard deviations, with profile clarify of columns as they are"
    by_features = [row for row in METRICS if isinstance(row, RowMetric) and row.by_features]
    assert {row.name for row in by_features} == {"FT", "consistency"}
    assert all(near in row.says for row in by_features)
    (differs,) = {each.differs for each in NAMES if each.ours == "FT"}
    assert differs.startswith("opposite sign")
    assert "columns as they are" in differs


@OF_NAME
def test_every_name_resolves_or_says_what_to_do(each: Name) -> None:
    found, messages = [], []
    for find in (find_metric, find_rate):
        try:
            found.append(find(each.name).name)
        except LookupError as error:
            messages.append(str(error))
    if each.ours is None:
        own = plain(each.name) in {plain(name) for name in found}
        assert own or all(str(each.differs) in message for message in messages)
        return
    same = [row.name for row in ROWS.values() if row.formula == ROWS[each.ours].formula]
    choices = [text for text in messages if text.endswith("name one of them")]
    chosen = any(f"{name} (" in text for name in same for text in choices)
    assert chosen or set(found) & set(same)


def test_no_two_names_of_a_tool_clash() -> None:
    keys = [(each.tool, plain(each.name)) for each in NAMES]
    assert len(keys) == len(set(keys))


def test_signs_that_differ_must_be_chosen() -> None:
    table = fg.confusion("g", {"a": {"tp": 3, "fn": 1}, "b": {"tp": 1, "fn": 3}})
    with pytest.raises(fg.SpecError) as caught:
        fg.audit(table, metrics=["Recall Difference"])
    assert str(caught.value) == (
        "metrics[0]: 'Recall Difference' is RD (Clarify: [TP / (TP + FN)]_a - [TP / (TP + FN)]_d)"
        " or vertex.recall_difference (Vertex AI: [TP / (TP + FN)]_d - [TP / (TP + FN)]_a);"
        " name one of them"
    )
    with pytest.raises(fg.SpecError, match=r"AD .* or vertex\.accuracy_difference .*one of them"):
        fg.rule("accuracy difference", between=(-0.1, 0.1))


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("Treatment Equality", "TE"),
        ("Specificity Difference", "SD"),
        ("disparate_impact", "DI"),
        ("statistical_parity_difference", "selection_rate.difference"),
        ("demographic_parity_difference", "selection_rate.largest_gap"),
        ("fpr_disparity", "false_positive_rate.ratio"),
        ("average_odds_difference", "average_odds.difference"),
        ("fairness_auc/bpsn_auc", "bpsn_auc"),
        ("DCAcc", "DCA"),
        ("DPPTL", "vertex.dpptl"),
    ],
)
def test_the_same_number_needs_no_choice(name: str, ours: str) -> None:
    (found,) = expand([name])
    assert found.name == ours


def test_an_entry_says_what_other_tools_call_it() -> None:
    text = " ".join(str(fg.metric("selection_rate.largest_gap")).split())
    assert "Fairlearn: demographic_parity_difference" in text
    assert "unsigned" in text
    entry = fg.metric("FT").to_dict()
    assert {"tool": "Clarify", "name": "FT"}.items() <= entry["tools"][0].items()
    assert re.search("opposite sign", entry["tools"][0]["differs"])


def test_a_name_without_a_counterpart_says_why() -> None:
    with pytest.raises(fg.SpecError, match="'Jain Index' of holisticai: a number of all rows"):
        fg.metric("Jain Index")


def test_a_metric_with_another_parameter_is_explained_too():
    found = fg.metric("generalized_entropy(alpha=3)")
    assert found.name == "generalized_entropy(alpha=3)"
    assert "6" in found.formula  # alpha (alpha - 1)


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("TPR.difference", "true_positive_rate.difference"),
        ("recall.ratio", "true_positive_rate.ratio"),
        ("Selection Rate.largest gap", "selection_rate.largest_gap"),
        ("precision.smallest_ratio", "positive_predictive_value.smallest_ratio"),
    ],
)
def test_an_alias_of_a_rate_names_its_comparisons(name: str, of: str) -> None:
    assert find_metric(name) == find_metric(of)
    assert fg.rule(name, at_least=0.1).metric == of
    counts = {"a": {"tp": 30, "fn": 10, "fp": 9}, "b": {"tp": 10, "fn": 30, "tn": 9}}
    report = fg.audit(fg.confusion("g", counts), metrics=[name], rules=[f"{name} >= 0.01"])
    assert {each.metric for each in report.estimates} == {of}
    assert report.verdicts[0].metric == of
    groups = ["a"] if len(report.estimates) > 1 else []
    assert report[name, "g", *groups].metric == of
    assert fg.metric(name).name == of


def test_an_alias_is_compared_only_as_rates_are() -> None:
    with pytest.raises(LookupError, match=r"true_positive_rate has no gap: .* Allowed: difference"):
        find_metric("TPR.gap")
    with pytest.raises(LookupError, match=r"no metric named 'TPX\.difference'\. Did you mean"):
        find_metric("TPX.difference")


def test_a_name_with_an_underscore_for_a_dot_is_proposed_as_it_is_typed():
    """Not as the title, "Representation, difference", which has a comma."""
    with pytest.raises(LookupError, match=r"Did you mean 'representation\.difference'\?"):
        find_metric("representation_difference")


ALIASES = sorted(
    {name for row in RATES for name in (*row.aka, row.title)}
    | {each.name for each in NAMES if each.ours in {row.name for row in RATES}}
)


@pytest.mark.parametrize("name", ALIASES)
def test_every_alias_of_a_rate_names_its_difference(name: str) -> None:
    try:
        rate = find_rate(name)
    except LookupError as error:  # several rates have the name
        with pytest.raises(LookupError, match=re.escape(str(error))):
            find_metric(f"{name}.difference")
        return
    assert find_metric(f"{name}.difference") == find_metric(f"{rate.name}.difference")


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("80% rule", "selection_rate.smallest_ratio"),
        ("4/5 rule", "selection_rate.smallest_ratio"),
        ("four-fifths", "selection_rate.smallest_ratio"),
        ("scoring rate", "selection_rate"),
        ("AIR", "selection_rate.ratio"),
        ("SPD", "selection_rate.difference"),
        ("aod", "average_odds.difference"),
        ("denial rate", "rejection_share"),
        ("denial ratio", "rejection_share.ratio"),
    ],
)
def test_names_in_use_of_no_tool_are_found(name, ours):
    assert fg.metric(name).name == ours


def test_an_abbreviation_of_several_metrics_names_them():
    with pytest.raises(fg.SpecError, match=r"selection_smd .* or selection_smd_overall"):
        fg.metric("SMD")
    with pytest.raises(fg.SpecError, match=r"true_positive_rate\.difference .* or equalized_odds"):
        fg.metric("EOD")


@pytest.mark.parametrize("name", ["mcc", "MCC", "Matthews correlation coefficient"])
def test_a_known_number_that_is_not_in_the_catalogue_is_explained(name):
    with pytest.raises(fg.SpecError, match=r"fairgauge\.statistic makes it a metric of your own"):
        fg.metric(name)
