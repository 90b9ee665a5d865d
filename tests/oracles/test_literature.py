"""Published figures: ProPublica's COMPAS tables, Berkeley 1973, Boston's mortgages."""

import math
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest

import fairgauge as fg

PROPUBLICA = {
    # "Compas Analysis.ipynb": per cent of those who did not reoffend and were called high risk,
    # and of those who did and were called low risk
    "African-American": {"false_positive_rate": 44.85, "false_negative_rate": 27.99},
    "Caucasian": {"false_positive_rate": 23.45, "false_negative_rate": 47.72},
}
NAMES = {
    "fpr": ("false_positive_rate", 100), "fnr": ("false_negative_rate", 100),
    "specificity": ("true_negative_rate", 1), "sensitivity": ("true_positive_rate", 1),
    "prevalence": ("base_rate", 1), "ppv": ("positive_predictive_value", 1),
    "npv": ("negative_predictive_value", 1),
}  # fmt: skip


def test_propublica_from_rows(table: Any, audited: Any, groups: Any) -> None:
    found = groups(audited("compas_pred", "race", 1))
    for group, rates in PROPUBLICA.items():
        for name, percent in rates.items():
            assert round(100 * found[group].rates[name].value, 2) == percent


def published(shared: Any, of: str) -> dict[str, Any]:
    found = shared.oracle("literature.json")["compas_propublica"][of]
    return {group: each for group, each in found.items() if "tn" in each}


@pytest.mark.parametrize(
    "of", ["score_text!=Low", "score_text==High", "violent (v_score_text!=Low)"]
)
def test_propublica_confusion_tables(shared: Any, of: str) -> None:
    """Every printed number, from the printed counts."""
    matrices = published(shared, of)
    assert matrices
    cube = fg.confusion(
        "race",
        {group: {c: each[c] for c in ("tp", "fp", "fn", "tn")} for group, each in matrices.items()},
    )
    for group in fg.audit(cube, metrics="all").groups:
        for printed, (rate, scale) in NAMES.items():
            ours = group.rates[rate].value * scale
            # printed to two decimals; numpy's half-even rounding and ours may differ by one
            assert abs(ours - matrices[group.group][printed]) <= 0.005 + 1e-9, (group.group, rate)


def test_propublica_high_risk_alone(shared: Any, table: Any, groups: Any) -> None:
    frame = table("compas_pred")
    frame = frame.assign(called=(frame["score_text"] == "High").astype(int))
    report = fg.audit(
        frame, label="two_year_recid", prediction="called", positive=1, sensitive="race"
    )
    for group, each in published(shared, "score_text==High").items():
        assert groups(report)[group].counts == {c: each[c] for c in ("tp", "fp", "fn", "tn")}


def test_propublica_regression_sample(shared: Any, table: Any) -> None:
    frame = table("compas_pred")
    kept = frame[
        (frame["days_b_screening_arrest"].abs() <= 30)
        & (frame["is_recid"] != -1)
        & (frame["c_charge_degree"] != "O")
    ]
    report = fg.audit(kept, sensitive="score_text", metrics="CI")
    sizes = {group.group: group.n for group in report.groups}
    expected = shared.oracle("literature.json")["compas_propublica"]["regression_sample"]
    assert report.data.rows == expected["rows"] == 6172
    assert sizes == expected["score_text"]


@pytest.fixture(scope="module")
def berkeley(shared: Any) -> pd.DataFrame:
    return pd.read_csv(shared.data("ucb_admissions.csv"))


def audit_berkeley(table: pd.DataFrame, **options: Any) -> fg.Report:
    return fg.audit(
        table, label="Admit", positive="Admitted", sensitive="Gender", count="Freq", **options
    )


def test_berkeley_reverses(shared: Any, berkeley: pd.DataFrame) -> None:
    """Women are rejected more often overall, and less often within departments."""
    expected = shared.oracle("literature.json")["ucb_1973"]
    crude = audit_berkeley(berkeley.assign(one=1), strata="one", metrics="CDDL")
    within = audit_berkeley(berkeley, strata="Dept", metrics="CDDL")
    dd = crude["CDDL", "Gender", "Female"].value
    cdd = within["CDDL", "Gender", "Female"].value
    assert math.isclose(dd, expected["demographic_disparity_Female"], rel_tol=1e-12)
    assert round(dd, 4) == 0.1438
    assert math.isclose(cdd, Fraction(expected["exact_fraction_CDD"]), rel_tol=1e-12)
    assert round(cdd, 4) == -0.0193


def test_berkeley_rates(shared: Any, berkeley: pd.DataFrame, groups: Any) -> None:
    expected = shared.oracle("literature.json")["ucb_1973"]
    report = audit_berkeley(berkeley, strata="Dept", metrics="DPL")
    for group, each in expected["total"].items():
        ours = groups(report)[group]
        assert (ours.n, ours.rates["base_rate"].value) == (each["n"], each["rate"])
        percent = round(100 * ours.rates["base_rate"].value, 1)
        assert percent == expected["textbook_percent"][group]
    for department, by_group in expected["by_department"].items():
        for group, each in by_group.items():
            rate = groups(report, department)[group].rates["base_rate"].value
            assert rate == each["admitted"] / (each["admitted"] + each["rejected"]) == each["rate"]


def test_boston_mortgages(shared: Any, groups: Any) -> None:
    """Stock and Watson: 28.3 % of black and 9.3 % of white applicants were denied."""
    report = fg.audit(
        shared.data("hmda.csv"), label="deny", positive="yes", sensitive="afam", metrics="DPL"
    )
    found = groups(report)
    assert round(100 * found["yes"].rates["base_rate"].value, 1) == 28.3
    assert round(100 * found["no"].rates["base_rate"].value, 1) == 9.3
    assert (found["yes"].n, found["no"].n) == (339, 2041)
