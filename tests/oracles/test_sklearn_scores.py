"""scikit-learn and scipy: scores by group and between groups, and the regression's distances.

Scores are counted in fine bins. What depends on their order within a bin is told with the most it
can be off, and their exact number must lie within it; everything else must be theirs to 1e-9. Where
all scores lie on edges of bins (compas: tenths) nothing is off at all.
"""

from typing import Any

import pytest
from ledger import number, of_scores, positive_of
from vendor import BINARY as TABLES

import fairgauge as fg

BINNED = {"auc": "roc_auc", "average_precision": "average_precision"}
WHOLE = {
    "base_rate": "base_rate", "mean_score": "mean_score", "brier": "brier_score",
    "log_loss": "log_loss",
}  # fmt: skip
QUANTILES = "calibration error over ten bins of equal size: ours has ten bins of equal width"
P_VALUE = "p-value of the pooled z test: ours is that of the interval shown, and decides the same"
PAIRED = {"auc_difference(a-b)": "roc_auc.difference"}


def audited_scores(frame: Any, name: str, positive: Any, **asked: Any) -> fg.Report:
    """Audit scores, with every rate that is compared."""
    rates = (*BINNED.values(), *WHOLE.values(), "selection_rate", "expected_calibration_error")
    metrics = [*asked.pop("metrics", ()), *rates]
    return fg.audit(frame, metrics=metrics, **of_scores(name, positive), **asked)


def check_scores(book: Any, rates: dict[str, Any], theirs: dict[str, Any], where: str) -> None:
    """Compare the ten numbers of one group's scores."""
    for name, ours in BINNED.items():
        rate = rates[ours]
        off = (rate.error or 0.0) + 1e-11
        book.same(rate.value, theirs[name], f"{where} {name}", off=off)
    for name, ours in WHOLE.items():
        book.same(rates[ours].value, theirs[name], f"{where} {name}")
    uniform = theirs["ece_uniform10"]
    book.same(rates["expected_calibration_error"].value, uniform["ece"], f"{where} ece")
    book.explained("ece" in theirs["ece_quantile10"], QUANTILES, where)


@pytest.mark.parametrize("name", TABLES)
def test_scores_by_group(shared: Any, table: Any, ledger: Any, name: str) -> None:
    book = ledger("scikit-learn and scipy")
    for key, results in shared.oracle(f"{name}__sklearn.json")["results"].items():
        for columns, entry in results.items():
            if columns in ("overall", "pairs"):
                continue
            parts = columns.split("|")
            asked = {"sensitive": parts} if len(parts) == 1 else {"intersections": [tuple(parts)]}
            report = audited_scores(table(name), name, positive_of(key), **asked)
            groups = {g.group: g for g in report.groups}
            for group, theirs in entry["groups"].items():
                ours, where = group.replace("|", " & "), f"{name} {key} {columns}={group}"
                check_scores(book, groups[ours].rates, theirs["score_metrics"], where)
    book.settle(60)


@pytest.mark.parametrize("name", TABLES)
def test_exact_scores(shared: Any, table: Any, ledger: Any, name: str) -> None:
    """With method exact, what depends on the order of scores is theirs to the last digits."""
    book = ledger("scikit-learn and scipy")
    for key, results in shared.oracle(f"{name}__sklearn.json")["results"].items():
        for pair in results["pairs"]:
            if isinstance(pair["a"], str):
                continue
            attribute, (a,), (b,) = pair["attribute"], pair["a"], pair["b"]
            report = audited_scores(
                table(name), name, positive_of(key), sensitive=attribute, method="exact",
                reference={attribute: b}, metrics=PAIRED.values(),
            )  # fmt: skip
            for their_name, our_name in PAIRED.items():
                found = report[our_name, attribute, a]
                book.same(found.value, pair[their_name], f"{name} {key} {a} {our_name}")
                assert not found.error
            for group in report.groups:
                theirs = results[attribute]["groups"][group.group]["score_metrics"]
                for their_name, our_name in BINNED.items():
                    rate, where = group.rates[our_name], f"{name} {key} {group.group} {our_name}"
                    book.same(rate.value, theirs[their_name], where)
                    assert not rate.error, where
    book.settle(10)


@pytest.mark.parametrize("name", TABLES)
def test_scores_of_everyone(shared: Any, table: Any, ledger: Any, name: str) -> None:
    book = ledger("scikit-learn and scipy")
    for key, results in shared.oracle(f"{name}__sklearn.json")["results"].items():
        frame = table(name).assign(everyone="all")
        report = audited_scores(frame, name, positive_of(key), sensitive="everyone")
        (group,) = report.groups
        check_scores(book, group.rates, results["overall"]["score_metrics"], f"{name} {key}")
    book.settle(8)


@pytest.mark.parametrize("name", TABLES)
def test_scores_of_pairs(shared: Any, table: Any, ledger: Any, name: str) -> None:
    book = ledger("scikit-learn and scipy")
    for key, results in shared.oracle(f"{name}__sklearn.json")["results"].items():
        for pair in results["pairs"]:
            attribute, (b,), frame = pair["attribute"], pair["b"], table(name)
            group = pair["a"][0] if isinstance(pair["a"], list) else "other"
            if group == "other":
                known = frame[attribute].where(frame[attribute].isin([b]), "other")
                frame = frame.assign(**{attribute: known.where(frame[attribute].notna())})
            report = audited_scores(
                frame, name, positive_of(key), sensitive=attribute, reference={attribute: b},
                metrics=[*PAIRED.values(), "selection_rate.difference"],
            )  # fmt: skip
            where = f"{name} {key} {attribute} {group}"
            for their_name, our_name in PAIRED.items():
                found = report[our_name, attribute, group]
                off = (found.error or 0.0) + 1e-11
                book.same(found.value, pair[their_name], f"{where} {our_name}", off=off)
            selection = report["selection_rate.difference", attribute, group]
            book.same(selection.rate_group, pair["rate"][0], where)
            book.same(selection.rate_reference, pair["rate"][1], where)
            decides = (selection.p_value < 0.05) == (pair["p_two_sided"] < 0.05)
            book.explained(decides, P_VALUE, where)
    book.settle(8)


def test_bounds_are_tight_where_scores_are_rounded(table: Any) -> None:
    """Tenths lie on the edges of the bins of counts: nothing is off."""
    asked = of_scores("compas_pred", 1) | {"prediction": None}
    counts = fg.count(table("compas_pred"), sensitive="sex", **asked)
    report = fg.audit(counts, metrics=[*BINNED.values()])
    errors = [g.rates[name].error for g in report.groups for name in BINNED.values()]
    assert not any(errors)


def test_each_class_of_three(shared: Any, table: Any, ledger: Any) -> None:
    """The area under the curve of each class against the rest, from that class's score."""
    book, name = ledger("scikit-learn and scipy"), "compas_multiclass_pred"
    joint = "score of all classes at once: ours are scores of one class"
    results = shared.oracle(f"{name}__sklearn.json")["results"]
    for columns, entry in results.items():
        frame = table(name).assign(everyone="all")
        sensitive = "everyone" if columns == "overall" else columns
        by_group = {"all": entry} if columns == "overall" else entry
        for class_ in ("High", "Low", "Medium"):
            report = fg.audit(
                frame, label="score_text", prediction="prediction", score=f"score_{class_}",
                positive=class_, sensitive=sensitive,
                metrics=["roc_auc", "base_rate", "selection_rate", "mean_score"],
            )  # fmt: skip
            groups = {g.group: g.rates for g in report.groups}
            for group, theirs in by_group.items():
                rates, expected = groups[group], theirs[f"class {class_}"]
                where = f"{columns} {group} {class_}"
                off = (rates["roc_auc"].error or 0.0) + 1e-11
                if number(expected["auc_ovr"]) != number(expected["auc_ovr"]):
                    book.explained(rates["roc_auc"].value is None, "one class alone", where)
                else:
                    book.same(rates["roc_auc"].value, expected["auc_ovr"], where, off=off)
                book.same(rates["base_rate"].value, expected["base_rate"], where)
                book.same(rates["selection_rate"].value, expected["pred_rate"], where)
                book.same(rates["mean_score"].value, expected["mean_score"], where)
        for group, theirs in by_group.items():
            for each in theirs:
                if each.startswith(("log_loss", "auc_", "brier")):
                    book.explained(True, joint, f"{columns} {group} {each}")
    book.settle(120)


def test_regression_between_groups(shared: Any, ledger: Any) -> None:
    book = ledger("scikit-learn and scipy")
    metrics = {
        "mean_difference_prediction": "mean_prediction.difference",
        "mean_difference_label": "mean_label.difference",
    }
    for pair in shared.oracle("insurance_pred__scipy_regression.json")["results"]:
        attribute, a, b = pair["attribute"], pair["a"], pair["b"]
        report = fg.audit(
            shared.data("insurance_pred.csv"), label="charges", prediction="prediction",
            sensitive=attribute, reference={attribute: b},
            metrics=[*metrics.values(), "mean_error.difference"], task="regression",
        )  # fmt: skip
        for their_name, our_name in metrics.items():
            found = report[our_name, attribute, a]
            book.same(found.value, pair[their_name], f"{attribute} {our_name}")
        groups = {g.group: g for g in report.groups}
        for group, expected in zip((a, b), pair["mean_residual(pred-label)"], strict=True):
            book.same(groups[group].rates["mean_error"].value, expected, f"{attribute} {group}")
        error = report["mean_error.difference", attribute, a]
        book.same(error.p_value, pair["welch_p_residual"], f"{attribute} welch", rel=1e-6)
    book.settle(15)
