"""What the metrics mean: the sources' printed numbers, and every conflict between the sources.

The numbers are facts printed on the vendors' pages or by the real services; conflicts are named as
in the project's semantics (C1 ... C38), each in both profiles where they differ. C2 (FT) compares
rows; C23 to C27, C30 (as files), C33 to C36 and C38 concern configuration files and drift.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.catalogue.catalogue import CLARIFY
from fairgauge.catalogue.lookup import find_metric
from fairgauge.reasons import Reason, ReasonCode

DOCUMENTED, SMCLARIFY = "documented", "clarify"


def cells(tp: int, fn: int, fp: int, tn: int) -> dict[str, int]:
    return {"tp": tp, "fn": fn, "fp": fp, "tn": tn}


def audit(d: dict[str, int], a: dict[str, int], profile: str = DOCUMENTED) -> fg.Report:
    """Compare facet d with facet a."""
    metrics = ["standard", "clarify", "vertex"]
    return fg.audit(fg.confusion("facet", {"d": d, "a": a}), metrics=metrics, profile=profile)


def value(report: fg.Report, metric: str) -> float | None:
    return report[metric, "facet", "d"].value


def labels(d: dict[str, int], a: dict[str, int]) -> pd.DataFrame:
    """Return a table of counts by facet and label."""
    rows = [
        {"facet": facet, "label": label, "n": n}
        for facet, by_label in (("d", d), ("a", a))
        for label, n in by_label.items()
    ]
    return pd.DataFrame(rows)


def audit_labels(
    d: dict[str, int], a: dict[str, int], positive: str, profile: str = DOCUMENTED
) -> fg.Report:
    return fg.audit(
        labels(d, a), label="label", positive=positive, sensitive="facet", count="n",
        metrics="clarify", profile=profile,
    )  # fmt: skip


# --- the sources' printed numbers ---

AD_A, AD_D = cells(60, 20, 10, 10), cells(40, 40, 10, 10)
RD_A, RD_D = cells(65, 5, 10, 20), cells(20, 7, 5, 18)
CALIFORNIA, FLORIDA = cells(50, 10, 20, 120), cells(20, 0, 30, 50)
SERVICE_A, SERVICE_D = cells(32, 130, 17, 45), cells(2, 78, 0, 30)

PRINTED = [
    ("AD", AD_D, AD_A, Fraction(1, 5)),
    ("RD", RD_D, RD_A, Fraction(71, 378)),
    ("SD", RD_D, RD_A, Fraction(8, 69)),
    ("TE", cells(43, 5, 2, 0), cells(86, 8, 6, 0), Fraction(7, 6)),
    ("AD", cells(43, 5, 2, 0), cells(86, 8, 6, 0), Fraction(0)),
    ("DAR", cells(40, 0, 60, 0), cells(35, 0, 35, 0), Fraction(1, 10)),
    ("DRR", cells(0, 10, 0, 40), cells(0, 20, 0, 80), Fraction(0)),
    ("DCA", cells(20, 0, 10, 20), cells(60, 10, 0, 30), Fraction(1, 2)),
    ("DCA", cells(30, 10, 0, 10), cells(50, 0, 10, 40), Fraction(-1, 2)),
    ("DCR", cells(10, 0, 10, 30), cells(40, 10, 0, 50), Fraction(1, 2)),
    ("DCR", cells(20, 10, 0, 20), cells(30, 0, 10, 60), Fraction(-1, 2)),
    ("DPPL", cells(5, 0, 0, 5), cells(6, 0, 0, 4), Fraction(1, 10)),
    ("DI", cells(5, 0, 0, 5), cells(6, 0, 0, 4), Fraction(5, 6)),
]


@pytest.mark.parametrize(("metric", "d", "a", "expected"), PRINTED)
@pytest.mark.parametrize("profile", [DOCUMENTED, SMCLARIFY])
def test_numbers_of_the_clarify_pages(
    metric: str, d: Any, a: Any, expected: Fraction, profile: str
) -> None:
    report = fg.audit(fg.confusion("facet", {"d": d, "a": a}), metrics=metric, profile=profile)
    assert value(report, metric) == pytest.approx(float(expected), abs=1e-12)


def test_the_service_baseline_is_recovered() -> None:
    """A real Clarify baseline: 143 of 456 positive in a, 17 of 210 in d."""
    report = audit_labels({"1": 17, "0": 193}, {"1": 143, "0": 313}, "1")
    assert value(report, "CI") == pytest.approx(41 / 111, rel=1e-12)
    assert value(report, "DPL") == pytest.approx(3713 / 15960, rel=1e-12)
    printed = {"DPL": 0.2326, "KL": 0.2243, "JS": 0.0451, "LP": 0.3290, "TVD": 0.2326, "KS": 0.2326}
    assert {name: round(value(report, name), 4) for name in printed} == printed


def test_the_monitoring_run_is_recovered() -> None:
    """A real monitoring run whose counts by facet follow uniquely from what it printed."""
    printed = {
        "RD": 0.17253086419753086, "SD": 0.27419354838709675, "DAR": -0.34693877551020413,
        "DCA": -36.69387755102041, "DCR": -0.07650793650793647, "TE": math.inf, "AD": 93 / 1760,
        "DPPL": 353 / 1760, "DI": 32 / 385, "DRR": 13 / 630,
    }  # fmt: skip
    for profile in (DOCUMENTED, SMCLARIFY):
        report = audit(SERVICE_D, SERVICE_A, profile)
        found = {name: value(report, name) for name in printed}
        assert found == pytest.approx(printed, rel=1e-12)
        assert report["GE"].value == pytest.approx(0.9454985573866702, rel=1e-12)


def test_kl_and_ks_of_the_pages() -> None:
    two = audit_labels({"yes": 3, "no": 7}, {"yes": 8, "no": 2}, "yes")
    assert value(two, "KL") == pytest.approx(0.8 * math.log(8 / 3) + 0.2 * math.log(2 / 7))
    assert round(value(two, "KL"), 4) == 0.5341
    waitlisted = audit_labels(
        {"rejected": 2, "waitlisted": 1, "accepted": 7},
        {"rejected": 4, "waitlisted": 4, "accepted": 2},
        "accepted",
    )
    assert value(waitlisted, "KS") == pytest.approx(0.5)


def test_generalized_entropy_of_the_page() -> None:
    def ge(**counts: int) -> float | None:
        return fg.audit(fg.confusion("facet", {"all": counts}), metrics="GE")["GE"].value

    assert ge(tp=6, tn=4) == 0
    assert ge(fp=5) == 0
    assert ge(fn=5) is None


def test_demographic_disparity_of_the_page() -> None:
    rows = [("d", 1, 32), ("a", 1, 68), ("d", 0, 46), ("a", 0, 54)]
    table = pd.DataFrame(rows, columns=["facet", "label", "n"]).assign(all="x")
    report = fg.audit(
        table, label="label", sensitive="facet", strata="all", count="n", metrics="CDDL"
    )
    assert report["CDDL", "facet", "d"].value == pytest.approx(0.14)
    assert report["CDDL", "facet", "a"].value == pytest.approx(-0.14)


# --- the conflicts ---


@pytest.mark.parametrize("profile", [DOCUMENTED, SMCLARIFY])
def test_c1_the_listed_value_is_the_group(profile: str) -> None:
    """The service prints CI = +.37 for a listed minority: listed means d, n_a - n_d."""
    table = pd.DataFrame({"sex": ["f"] * 210 + ["m"] * 456})
    report = fg.audit(table, sensitive={"sex": ["f"]}, metrics="CI", profile=profile)
    assert report["CI", "sex", "f"].value == pytest.approx(41 / 111)
    assert [(e.group, str(e.reference)) for e in report.estimates] == [("f", "others")]


def test_c3_a_category_missing_from_one_facet() -> None:
    d, a = {"yes": 10}, {"yes": 5, "no": 5}
    shown = audit_labels(d, a, "yes")
    assert value(shown, "KL") == math.inf
    assert value(shown, "TVD") == pytest.approx(0.5)
    assert value(shown, "JS") == pytest.approx(
        (0.5 * math.log(2 / 3) + 0.5 * math.log(2) + math.log(4 / 3)) / 2
    )
    replayed = audit_labels(d, a, "yes", SMCLARIFY)
    assert value(replayed, "KL") == pytest.approx(0.5 * math.log(0.5))  # negative, as there
    assert value(replayed, "TVD") == pytest.approx(0.25)


def test_c3_the_maxima_are_attained_by_disjoint_facets() -> None:
    d, a = {"no": 3}, {"yes": 4}
    shown = audit_labels(d, a, "yes")
    assert value(shown, "KL") == math.inf
    assert value(shown, "JS") == pytest.approx(math.log(2), rel=1e-15)
    assert value(shown, "LP") == pytest.approx(math.sqrt(2), rel=1e-15)
    assert (value(shown, "TVD"), value(shown, "KS")) == (1, 1)
    replayed = audit_labels(d, a, "yes", SMCLARIFY)["JS", "facet", "d"]
    assert (replayed.value, replayed.status) == (None, "error")
    assert replayed.reason


def test_c4_a_missing_text_does_not_change_the_type() -> None:
    table = pd.DataFrame({"y": [*"1100", None], "g": [*"aadd", "d"]})
    report = fg.audit(table, label="y", positive="1", sensitive="g", metrics="DPL")
    assert report["DPL", "g", "d"].value == 1
    assert report.data.excluded == {"missing label": 1}


def test_c6_generalized_entropy_is_not_bounded_by_one_half() -> None:
    """Nine false negatives and one true positive make (N - 1) / 2."""
    for profile in (DOCUMENTED, SMCLARIFY):
        report = fg.audit(
            fg.confusion("facet", {"all": {"fn": 9, "tp": 1}}), metrics="GE", profile=profile
        )
        assert report["GE"].value == pytest.approx(4.5)
    assert find_metric("GE").range == (0, math.inf)


def strata_table() -> pd.DataFrame:
    rows = [
        ("d", "x", 1, 2), ("d", "x", 0, 6), ("a", "x", 1, 6), ("a", "x", 0, 6),
        ("d", "y", 0, 5), ("a", "y", 0, 5),  # nobody accepted in y
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["facet", "stratum", "label", "n"])


def audit_strata(profile: str, **options: Any) -> fg.Report:
    return fg.audit(
        strata_table(), label="label", sensitive="facet", strata="stratum", count="n",
        metrics="CDDL", profile=profile, **options,
    )  # fmt: skip


def test_c7_and_c8_disparity_within_strata_of_which_one_lacks_an_outcome() -> None:
    shown = audit_strata(DOCUMENTED)  # stratum x alone has both outcomes
    assert shown["CDDL", "facet", "d"].value == pytest.approx(6 / 12 - 2 / 8)
    (note,) = [d for d in shown.diagnostics if d.code == "coverage"]
    assert "66.7%" in note.message
    replayed = audit_strata(SMCLARIFY)["CDDL", "facet", "d"].value
    # in y the share of d among the rejected is 1/2, and among nobody accepted 0
    assert replayed == pytest.approx((20 * (6 / 12 - 2 / 8) + 10 * (5 / 10 - 0)) / 30)


@pytest.mark.parametrize(
    ("metric", "d", "a", "expected", "positive"),
    [
        ("SD", RD_D, RD_A, 8 / 69, "against the group"),  # C9
        ("vertex.difference_in_ratio_of_error_types", CALIFORNIA, FLORIDA, 0.5,
         "slice 1 has relatively more false negatives (type II errors)"),  # C12 and C13
        # C15, c_a > c_d: labels ask for more acceptances in a than given, relative to d
        ("DCA", cells(20, 0, 10, 20), cells(60, 10, 0, 30), 0.5, "too few of the reference"),
        # C16, r_d > r_a: the model rejects d less than labels suggest, relative to a
        ("DCR", cells(10, 0, 10, 30), cells(40, 10, 0, 50), 0.5, "rejects too few of the group"),
    ],
)  # fmt: skip
def test_a_positive_value_is_read_as_the_sources_state(
    metric: str, d: Any, a: Any, expected: float, positive: str
) -> None:
    report = audit(d, a)
    assert value(report, metric) == pytest.approx(expected)
    assert positive in find_metric(metric).positive
    found = report[metric, "facet", "d"]
    if metric.startswith("vertex"):
        assert (found.rate_group, found.rate_reference) == (0.5, 0)


def test_c11_treatment_equality_is_fn_over_fp_d_minus_a() -> None:
    metric = find_metric("TE")
    assert (metric.of.formula, metric.order) == ("FN / FP", "group - reference")
    report = audit(cells(43, 5, 2, 0), cells(86, 8, 6, 0))
    superseded = 6 / 8 - 2 / 5  # FP/FN, a - d: another size, the same sign
    assert value(report, "TE") == pytest.approx(7 / 6)
    assert (value(report, "TE") > 0) == (superseded > 0)


def test_c21_an_empty_facet() -> None:
    shown = audit({}, AD_A)
    assert value(shown, "CI") == 1
    assert shown["CI", "facet", "a"].value == -1
    for name in ("AD", "DPL", "DI", "KL", "TVD"):
        found = shown[name, "facet", "d"]
        assert (found.value, found.status) == (None, "undefined"), name
        assert found.reason.code in (ReasonCode.NO_ROWS, ReasonCode.EMPTY_DENOMINATOR), name
        assert found.reason.side == "group", name
    replayed = audit({}, AD_A, SMCLARIFY)
    for name in ("CI", "AD", "DPL", "DI", "KL", "TVD"):
        found = replayed[name, "facet", "d"]
        assert (found.value, found.status) == (None, "error")
        assert found.reason == Reason.of(ReasonCode.EMPTY_FACET)
    assert replayed["GE"].value == pytest.approx(shown["GE"].value)  # GE is of all rows


def test_c26_positive_is_a_value_or_a_list() -> None:
    table = labels({"x": 3, "y": 1, "z": 6}, {"x": 5, "y": 2, "z": 3})
    options = {"label": "label", "sensitive": "facet", "count": "n", "metrics": "DPL"}
    one = fg.audit(table, positive="x", **options)["DPL", "facet", "d"].value
    assert one == fg.audit(table, positive=["x"], **options)["DPL", "facet", "d"].value
    two = fg.audit(table, positive=["x", "y"], **options)["DPL", "facet", "d"].value
    assert (one, two) == (pytest.approx(0.2), pytest.approx(0.3))


def test_c30_all_of_clarify_but_the_flip_test() -> None:
    pre = {"CI", "DPL", "KL", "JS", "LP", "TVD", "KS", "CDDL"}
    post = {"DPPL", "DI", "DCA", "DCR", "RD", "SD", "DAR", "DRR", "AD", "TE", "CDDPL", "GE"}
    names = {metric.name for metric in CLARIFY}
    assert names - {"FT"} == pre | post


# --- how smclarify divides by zero, and how we do ---


def test_zero_over_zero_is_undefined_or_zero() -> None:
    d, a = cells(0, 0, 2, 8), AD_A  # no observed positives in d
    shown = audit(d, a)["RD", "facet", "d"]
    assert (shown.value, shown.status) == (None, "undefined")
    assert (shown.reason.code, shown.reason.side) == (ReasonCode.EMPTY_DENOMINATOR, "group")
    assert (shown.reason["counts"], shown.reason["formula"]) == ("observed positives", "TP + FN")
    assert value(audit(d, a, SMCLARIFY), "RD") == pytest.approx(60 / 80)


def test_nobody_is_selected() -> None:
    nobody = cells(0, 5, 0, 5)
    shown = audit(nobody, nobody)
    assert value(shown, "DPPL") == 0
    found = shown["DI", "facet", "d"]
    assert (found.value, found.status) == (None, "undefined")
    assert found.reason == Reason.of(
        ReasonCode.BOTH_SIDES_EQUAL_RATE, rate="selection rate", value=0.0
    )
    assert value(audit(nobody, nobody, SMCLARIFY), "DI") == 0
    assert value(audit(AD_D, nobody), "DI") == math.inf
    assert value(audit(AD_D, nobody, SMCLARIFY), "DI") == math.inf


def test_all_labels_positive() -> None:
    table = strata_table().assign(label=1)
    for profile, status in ((DOCUMENTED, "undefined"), (SMCLARIFY, "error")):
        report = fg.audit(
            table, label="label", sensitive="facet", strata="stratum", count="n",
            metrics=["DPL", "CDDL"], profile=profile,
        )  # fmt: skip
        assert report["DPL", "facet", "d"].value == 0
        found = report["CDDL", "facet", "d"]
        assert (found.value, found.status) == (None, status)
        assert found.reason == Reason.of(ReasonCode.NO_NEGATIVES, of="label")


MISSING = pd.DataFrame(
    {"g": ["d", "d", "a", "a", None], "y": [1, None, 1, 0, 1], "p": [1, 0, None, 1, 1]}
)


def audit_missing(profile: str, missing: str = "exclude") -> fg.Report:
    return fg.audit(
        MISSING, label="y", prediction="p", positive=1, sensitive="g",
        metrics=["CI", "DPL", "DPPL", "AD"], profile=profile, missing=missing,
    )  # fmt: skip


def test_missing_values_leave_out_a_row_only_where_it_is_needed() -> None:
    report = audit_missing(DOCUMENTED)
    found = {e.metric: e for e in report.estimates if e.group == "d"}
    assert {name: e.value for name, e in found.items()} == {
        "CI": 0, "DPL": 0.5 - 1, "DPPL": 1 - 0.5, "AD": 0 - 1,
    }  # fmt: skip
    assert {name: (e.n_group, e.n_reference) for name, e in found.items()} == {
        "CI": (2, 2), "DPL": (1, 2), "DPPL": (2, 1), "AD": (1, 1),
    }  # fmt: skip
    assert report.data.excluded == {
        "missing g": 1, "missing label": 1, "missing prediction": 1,
    }  # fmt: skip


def test_clarify_takes_missing_as_negative_and_as_reference() -> None:
    report = audit_missing(SMCLARIFY)
    found = {e.metric: e.value for e in report.estimates if e.group == "d"}
    # d: labels 1 0, predictions 1 0; a with the missing facet: labels 1 0 1, predictions 0 1 1
    assert found == pytest.approx(
        {"CI": 1 / 5, "DPL": 2 / 3 - 1 / 2, "DPPL": 2 / 3 - 1 / 2, "AD": 1 / 3 - 1}
    )


# --- silent wrong answers of the peers, on the same input ---


def test_a_group_of_one_row_does_not_dominate() -> None:
    """One row without positives: fairlearn takes its recall as 0 and as the widest gap."""
    cube = fg.confusion(
        "g", {"big": cells(51, 49, 5, 95), "other": cells(50, 50, 5, 95), "tiny": cells(0, 0, 0, 1)}
    )
    report = fg.audit(cube, metrics="true_positive_rate", reference="largest")
    tiny = report["true_positive_rate.difference", "g", "tiny"]
    assert (tiny.value, tiny.status) == (None, "undefined")
    defined = [e.value for e in report.estimates if e.value is not None and "diff" in e.metric]
    assert max(map(abs, defined)) == pytest.approx(0.01)
    ratios = [e.value for e in report.estimates if e.value is not None and "ratio" in e.metric]
    assert min(ratios) == pytest.approx(50 / 51)


# ---- metrics of single rows: rankings by hand, ties included; neighbours by brute force
RANKED = [("a", 0.9), ("b", 0.8), ("a", 0.6), ("b", 0.6), ("b", 0.6), ("a", 0.2)]
"""Three rows share the places 3, 4 and 5."""
PLACES = [1 / math.log2(rank + 1) for rank in range(1, 7)]


def ranking(rows: list[tuple[str, float]], *metrics: str) -> fg.Report:
    frame = pl.DataFrame(rows, schema=["g", "s"], orient="row")
    return fg.audit(
        frame, score="s", threshold=0.5, positive=1, sensitive="g", metrics=list(metrics)
    )


def test_exposure_shares_tied_places() -> None:
    tied = sum(PLACES[2:5]) / 3
    ours = (PLACES[0] + tied + PLACES[5]) / 3
    theirs = (PLACES[1] + 2 * tied) / 3
    found = ranking(RANKED, "exposure_ratio")["exposure_ratio", "g", "a"]
    assert found.value == pytest.approx(ours / theirs, rel=1e-12)


def test_tops_share_tied_places() -> None:
    # of the four top places two are shared by three tied rows: a has 1 + 2/3 rows there, b 1 + 4/3
    report = ranking(RANKED, "top_selection_ratio(k=4)")
    top = report["top_selection_ratio(k=4)", "g", "a"]
    assert top.value == pytest.approx((5 / 3 / 3) / (7 / 3 / 3), rel=1e-12)


def people(seed: int, n: int = 160) -> pl.DataFrame:
    """Make rows on a coarse grid, so that many lie at the same distance."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n), "x": rng.integers(0, 6, n),
            "z": rng.integers(0, 4, n), "p": rng.integers(0, 2, n),
        }
    )  # fmt: skip


def test_profile_documented_has_the_sign_of_the_page() -> None:
    rows = {"g": ["d"] * 5 + ["a"] * 12, "x": [1.0] * 17, "p": [0] * 5 + [1] * 12}
    for profile, value in (("documented", 1.0), ("clarify", -1.0)):
        report = fg.audit(
            pl.DataFrame(rows), prediction="p", sensitive="g", features="x", metrics="FT",
            profile=profile,
        )  # fmt: skip
        assert report["FT", "g", "d"].value == value


@pytest.mark.parametrize("asked", [
    {"prediction": "p", "features": ["x", "z"], "metrics": ["FT", "consistency"]},
    {"score": "s", "threshold": 0.5, "metrics": ["exposure_ratio", "top_selection_ratio(k=3)"]},
])  # fmt: skip
def test_the_order_of_rows_changes_nothing(asked: dict[str, Any]) -> None:
    frame = people(5).with_columns(s=pl.col("x") / 10)
    values = []
    for shuffled in (frame, frame.reverse(), frame.sample(fraction=1.0, shuffle=True, seed=1)):
        report = fg.audit(shuffled, sensitive="g", positive=1, **asked)
        values.append(sorted((e.metric, e.group or "", e.value) for e in report.estimates))
    assert values[0] == values[1] == values[2]
