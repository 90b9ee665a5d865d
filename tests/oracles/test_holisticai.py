"""holisticai 1.0.14, where its numbers can be trusted; where not, what they are instead.

Only the rows of the two groups count, group a is the group and b its reference.
"""

import itertools
import math
from typing import Any

import pytest
from ledger import number, of_scores
from vendor import BINARY as TABLES

import fairgauge as fg
from fairgauge.enums import ClassKind
from fairgauge.results.scopes import OVERALL

DIFFERENCES = {
    "Statistical Parity": "selection_rate.difference", "Disparate Impact": "selection_rate.ratio",
    "Four Fifths Rule": "selection_rate.smallest_ratio",
    "Equality of Opportunity Difference": "true_positive_rate.difference",
    "False Positive Rate Difference": "false_positive_rate.difference",
    "Average Odds Difference": "average_odds.difference",
    "Accuracy Difference": "accuracy.difference",
    "f:statistical_parity": "selection_rate.difference",
    "f:disparate_impact": "selection_rate.ratio", "f:four_fifths": "selection_rate.smallest_ratio",
    "f:average_odds_diff": "average_odds.difference",
    "f:equal_opportunity_diff": "true_positive_rate.difference",
    "f:false_negative_rate_diff": "false_negative_rate.difference",
    "f:false_positive_rate_diff": "false_positive_rate.difference",
    "f:true_negative_rate_diff": "true_negative_rate.difference",
    "f:accuracy_diff": "accuracy.difference",
}  # fmt: skip
WHOLE = {
    "Theil Index": "theil_index", "Generalized Entropy Index": "generalized_entropy",
    "f:theil_index": "theil_index", "f:generalized_entropy_index": "generalized_entropy",
}  # fmt: skip
FURTHER = ("coefficient_of_variation", "roc_auc.difference")
SIGNED = "called ABROCA, but the signed difference of two areas: ours is the area between curves"
DOUBLED = "coefficient of variation: 2 sqrt(GE) there, sqrt(2 GE) by definition"
DIVISOR = "Cohen's d with the divisor n in both variances; ours has n - 1"
TESTS = "a test statistic: ours is the p-value beside the difference"
SWAPPED = "recall_matrix holds precisions, precision_matrix recalls"
QUANTILE = "of predictions cut at a quantile of their own: ours cuts at a value (fairgauge.above)"
CURVES = "summed over all thresholds of the predictions: ours are KS and Wasserstein distances"
CORRELATION = "difference of the correlations of label and prediction: ours is r2"
GRID = "largest gap on a grid of thresholds: no metric of ours"
JAIN = "Jain's index of errors over all rows, of no group"
MIXED = "a mean with differences of other rates that holisticai alone defines"
AVERAGED = "mean over the true classes, of differences that are ours within each label"


def value_of(report: fg.Report, metric: str, attribute: str, group: str) -> float | None:
    found = [e for e in report.estimates if (e.metric, e.feature) == (metric, attribute)]
    return next(e for e in found if len(found) == 1 or e.group == group).value


def two_groups(frame: Any, entry: dict[str, Any]) -> tuple[Any, str, str]:
    """Keep the rows of the two groups; everyone but the reference is one group."""
    attribute = entry["attribute"]
    (b,) = entry["group_b(reference)"]
    if isinstance(entry["group_a(protected)"], str):
        known = frame[attribute].where(frame[attribute] == b, "other")
        return frame.assign(**{attribute: known}), "other", b
    (a,) = entry["group_a(protected)"]
    return frame[frame[attribute].isin([a, b])], a, b


def cohen(a: Any, b: Any) -> float:
    """Return Cohen's d of two selection rates, each variance with the divisor n."""
    p, q = (g.rates["selection_rate"].value for g in (a, b))
    spread = ((a.n - 1) * p * (1 - p) + (b.n - 1) * q * (1 - q)) / (a.n + b.n - 2)
    return (p - q) / math.sqrt(spread)


@pytest.mark.parametrize("name", TABLES)
def test_binary(shared: Any, table: Any, ledger: Any, name: str) -> None:
    book = ledger("holisticai")
    for entry in shared.oracle(f"{name}__holisticai.json")["results"]:
        attribute = entry["attribute"]
        frame, a, b = two_groups(table(name), entry)
        report = fg.audit(
            frame, sensitive=attribute, reference={attribute: b}, **of_scores(name, entry["pos"]),
            metrics=[*DIFFERENCES.values(), *WHOLE.values(), *FURTHER],
        )  # fmt: skip
        groups = {g.group: g for g in report.groups}
        flat = {k: v for k, v in entry.items() if k.startswith("f:")}
        flat |= {**entry["group"], **entry["individual"]}
        for theirs, expected in flat.items():
            where = f"{name} {attribute} {a} {theirs}"
            if theirs in DIFFERENCES:
                value = value_of(report, DIFFERENCES[theirs], attribute, a)
                book.same(value, expected, where)
            elif theirs in WHOLE:
                book.same(report[WHOLE[theirs]].value, expected, where)
            elif theirs == "f:success_rate":
                for side, group in (("sr_a", a), ("sr_b", b)):
                    book.same(groups[group].rates["selection_rate"].value, expected[side], where)
            elif "abroca" in theirs.casefold():
                signed = value_of(report, "roc_auc.difference", attribute, a)
                binned = next(e for e in report.estimates if e.metric == "roc_auc.difference").error
                near = abs(signed - expected) <= (binned or 0) + 1e-9
                book.explained(near or signed is None, SIGNED, where)
            elif "oefficient" in theirs:
                ours = report["coefficient_of_variation"].value
                book.explained(math.isclose(ours * math.sqrt(2), expected), DOUBLED, where)
            elif "ohen" in theirs:
                held = math.isclose(cohen(groups[a], groups[b]), expected, rel_tol=1e-9)
                book.explained(held, DIVISOR, where)
            else:
                assert theirs in ("2SD Rule", "f:z_test_diff", "f:z_test_ratio"), theirs
                known = value_of(report, "selection_rate.difference", attribute, a)
                book.explained(expected * known > 0, TESTS, where)
    book.settle(40)


def test_matrices_of_three_classes(shared: Any, audited: Any, ledger: Any) -> None:
    book, name = ledger("holisticai"), "compas_multiclass_pred"
    for columns, entry in shared.oracle(f"{name}__holisticai.json")["results"].items():
        report = audited(name, columns, None, task="multiclass")
        groups = {(g.class_, g.group): g for g in report.groups if g.stratum is None}
        for class_ in entry["classes"]:
            for group in entry["groups"]:
                rates, at = groups[class_, group].rates, f"{columns} {class_} {group}"
                matrices = {
                    "frequency_matrix": "selection_rate",
                    "accuracy_matrix": "jaccard_index",
                }
                for matrix, ours in matrices.items():
                    book.same(rates[ours].value, entry[matrix][class_][group], f"{at} {matrix}")
                swapped = {
                    "precision_matrix": "true_positive_rate",
                    "recall_matrix": "positive_predictive_value",
                }
                for matrix, ours in swapped.items():
                    theirs, value = number(entry[matrix][class_][group]), rates[ours].value
                    empty = value is None and (theirs == 0 or math.isnan(theirs))
                    same = empty or math.isclose(value, theirs, rel_tol=1e-9)
                    book.explained(same, SWAPPED, f"{at} {matrix}")
        check_pairs(book, shared, columns, entry)
    book.settle(90)


def check_pairs(book: Any, shared: Any, columns: str, entry: dict[str, Any]) -> None:
    """Compare the largest and the mean over all pairs of groups, from ours of each pair."""
    parity: list[float] = []
    opportunity: list[float] = []
    found: list[float] = []
    done: set[frozenset[str]] = set()
    for reference in entry["groups"]:
        report = fg.audit(
            shared.data("compas_multiclass_pred.csv"), label="score_text", prediction="prediction",
            sensitive=columns, strata="score_text", reference={columns: reference},
            metrics=["prediction.tvd", "true_positive_rate.difference"], task="multiclass",
        )  # fmt: skip
        distances = [e for e in report.estimates if e.metric == "prediction.tvd"]
        recalls = [e for e in report.estimates if e.metric == "true_positive_rate.difference"]
        for group in entry["groups"]:
            pair = frozenset({group, reference})
            if pair in done or len(pair) < 2:
                continue
            done.add(pair)
            within = {e.stratum: e.value for e in distances if e.group == group}
            parity.append(within.pop(None))
            opportunity.append(sum(within.values()) / len(within))
            per_class = [
                abs(e.value)
                for e in recalls
                if e.group == group and e.scope == OVERALL and e.class_scope.kind is ClassKind.CLASS
            ]
            found.append(sum(per_class) / len(per_class))
    assert len(done) == len(list(itertools.combinations(entry["groups"], 2)))
    outcome, equal = entry["equal_outcome"], entry["equal_opportunity"]
    for word, over in (("Max", max), ("Mean", lambda v: sum(v) / len(v))):
        book.same(over(parity), outcome[f"{word} Multiclass Statistical Parity"], columns)
        theirs = equal[f"{word} Multiclass Equality of Opportunity"]
        book.explained(math.isclose(over(opportunity), theirs, rel_tol=1e-9), AVERAGED, columns)
        theirs = equal[f"{word} Multiclass True Positive Difference"]
        book.explained(math.isclose(over(found), theirs, rel_tol=1e-9), AVERAGED, columns)
        theirs = equal[f"{word} Multiclass Average Odds"]
        book.explained(0 <= theirs <= max(over(opportunity), 1), MIXED, columns)


def test_regression(shared: Any, ledger: Any) -> None:
    book = ledger("holisticai")
    compared = {
        "Average Score Difference": "mean_prediction.difference",
        "Average Score Ratio": "mean_prediction.ratio",
        "RMSE Ratio": "root_mean_squared_error.ratio",
        "MAE Ratio": "mean_absolute_error.ratio",
    }
    why = {
        "Disparate Impact": QUANTILE, "Statistical Parity Q": QUANTILE, "RMSE Ratio Q": QUANTILE,
        "MAE Ratio Q": QUANTILE, "No Disparate Impact": CURVES, "Statistical Parity AUC": CURVES,
        "Correlation": CORRELATION, "Jain": JAIN,
    }  # fmt: skip
    import pandas as pd

    frame = pd.read_csv(shared.data("insurance_pred.csv"))
    for entry in shared.oracle("insurance_pred__holisticai_regression.json")["results"]:
        attribute, a, b = entry["attribute"], entry["group_a"], entry["group_b"]
        report = fg.audit(
            frame[frame[attribute].isin([a, b])], label="charges", prediction="prediction",
            sensitive=attribute, reference={attribute: b}, metrics=[*compared.values()],
            task="regression",
        )  # fmt: skip
        for theirs, expected in {**entry["group"], **entry["individual"]}.items():
            where = f"{attribute} {a} {theirs}"
            if theirs in compared:
                value = report[compared[theirs], attribute, a].value
                book.same(value, expected, where)
            elif theirs == "Max Statistical Parity":
                book.explained(0 <= expected <= 1, GRID, where)
            elif theirs == "Z Score Difference":
                gap = report["mean_prediction.difference", attribute, a].value
                sides = [frame["prediction"][frame[attribute] == each] for each in (a, b)]
                squares = sum((len(each) - 1) * each.var(ddof=0) for each in sides)
                spread = math.sqrt(squares / (len(sides[0]) + len(sides[1]) - 2))
                book.explained(math.isclose(gap / spread, expected, rel_tol=1e-9), DIVISOR, where)
            else:
                reason = next(text for start, text in why.items() if theirs.startswith(start))
                book.explained(True, reason, where)
    book.settle(40)
