"""fairlearn 0.15: every number of every metric frame, aggregates and named criteria included.

The numbers in the repository are a part of these. Where a denominator is 0, fairlearn takes 0 for
the rate and we say undefined and leave the group out. Such numbers count as explained, and only
when their own 0 put in place gives their number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from ledger import number, positive_of
from vendor import BINARY as TABLES

import fairgauge as fg
from fairgauge.catalogue.catalogue import RATES as RATE_ROWS
from fairgauge.enums import ClassKind

if TYPE_CHECKING:
    from collections.abc import Sequence

RATES = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced_accuracy",
    "selection_rate": "selection_rate", "tpr": "true_positive_rate", "fpr": "false_positive_rate",
    "fnr": "false_negative_rate", "tnr": "true_negative_rate",
    "precision": "positive_predictive_value", "recall": "true_positive_rate", "f1": "f1",
    "mean_prediction": "selection_rate", "zero_one_loss": "error_rate",
}  # fmt: skip
ZERO = "a rate without rows is 0 there, undefined and left out here"
NO_RATIO = "a ratio of numbers of either sign, which means nothing and is not computed here"
SIGNED = {row.name for row in RATE_ROWS if row.signed}
REGRESSION = {
    "mae": "mean_absolute_error", "mse": "mean_squared_error", "rmse": "root_mean_squared_error",
    "r2": "r2", "mean_prediction": "mean_prediction", "mean_label": "mean_label",
    "mean_signed_error(pred-true)": "mean_error",
}  # fmt: skip
CLASSES = {
    "accuracy": ("accuracy", None), "cohen_kappa": ("cohen_kappa", None),
    "balanced_accuracy": ("true_positive_rate", "macro"),
    "recall_macro": ("true_positive_rate", "macro"),
    "precision_macro": ("positive_predictive_value", "macro"), "f1_macro": ("f1", "macro"),
    "f1_weighted": ("f1", "weighted"),
}  # fmt: skip


def frames(peers: Any, name: str) -> list[tuple[Any, str, dict[str, Any]]]:
    """Return (positive, columns, entry) of every metric frame in an oracle file."""
    results = peers.oracle(f"{name}__fairlearn.json")["results"]
    return [
        (positive_of(key), columns, entry)
        for key, by_columns in results.items()
        for columns, entry in by_columns.items()
    ]


def farthest_ratio(ratios: Sequence[float]) -> float:
    """Return the ratio farthest from 1, turned below it, as fairlearn does."""
    return min(min(r, 1 / r) if r else 0.0 for r in ratios)


AGGREGATES = {
    "group_min": lambda v, _: min(v),
    "group_max": lambda v, _: max(v),
    "difference_between_groups": lambda v, _: max(v) - min(v),
    "ratio_between_groups": lambda v, _: min(v) / max(v) if max(v) else math.nan,
    "difference_to_overall": lambda v, all_: max(abs(x - all_) for x in v),
    "ratio_to_overall": lambda v, all_: farthest_ratio([x / all_ for x in v]) if all_ else math.nan,
}
"""What each aggregate is of the rates by group and of the rate of all rows."""
SPREADS = {
    "group_min": "minimum", "group_max": "maximum", "difference_between_groups": "largest_gap",
    "ratio_between_groups": "smallest_ratio",
}  # fmt: skip


class Found:
    """What a report says, by metric, stratum and class."""

    def __init__(self, report: fg.Report, class_: str | None = None) -> None:
        self._estimates = [
            e
            for e in report.estimates
            if (e.class_scope.average or e.class_) == class_
            and e.class_scope.kind is not ClassKind.WORST
        ]

    def one(self, metric: str, stratum: str | None = None) -> float | None:
        (found,) = [e for e in self._estimates if (e.metric, e.stratum) == (metric, stratum)]
        return found.value

    def every(self, metric: str, stratum: str | None = None) -> list[Any]:
        return [e for e in self._estimates if (e.metric, e.stratum) == (metric, stratum)]

    def aggregate(self, name: str, rate: str, stratum: str | None = None) -> float | None:
        """Return one of fairlearn's aggregates from our own metrics."""
        if name in SPREADS:
            return self.one(f"{rate}.{SPREADS[name]}", stratum)
        values = [
            e.value
            for e in self.every(f"{rate}.{name.split('_')[0]}", stratum)
            if e.value is not None
        ]
        if not values:
            return None
        return max(map(abs, values)) if name.startswith("diff") else farthest_ratio(values)

    def overall(self, rate: str, stratum: str | None = None) -> float | None:
        found = {e.rate_reference for e in self.every(f"{rate}.difference", stratum)}
        return found.pop() if len(found) == 1 else None


def check_frame(
    book: Any,
    found: Found,
    groups: dict[str, Any],
    frame: dict[str, Any],
    names: dict[str, str],
    where: str,
    stratum: str | None = None,
) -> None:
    """Compare what there is of by_group, overall and the six aggregates of every metric."""
    for key, rates in frame["by_group"].items():
        assert groups[key.replace("|", " & ")].n == rates["count"], f"{where} {key}"
    for theirs, ours in names.items():
        by_group = {key: number(rates[theirs]) for key, rates in frame["by_group"].items()}
        undefined = set()
        for key, expected in by_group.items():
            group = groups[key.replace("|", " & ")]
            value = group.rates[ours].value
            if value is None:
                undefined.add(key)
                empty = not expected or math.isnan(expected) or theirs == "balanced_accuracy"
                book.explained(empty, ZERO, f"{where} {theirs} of {key}")
            else:
                book.same(value, expected, f"{where} {theirs} of {key}")
        if "overall" in frame:
            book.same(found.overall(ours, stratum), frame["overall"][theirs], f"{where} {theirs}")
        for name, aggregate in AGGREGATES.items():
            if name not in frame:
                continue
            expected = number(frame[name][theirs])
            place = f"{where} {theirs} {name}"
            values = [v for v in by_group.values() if not math.isnan(v)]
            whole = frame["overall"][theirs]
            if undefined or math.isnan(expected):
                again = aggregate(values, whole) if values else math.nan
                same = math.isclose(again, expected, abs_tol=1e-12) or math.isnan(again)
                book.explained(same, ZERO, f"{place} {again} {expected}")
            elif name.startswith("ratio") and found.aggregate(name, ours, stratum) is None:
                book.explained(max(values) == 0, "0 over 0 is NaN there, undefined here", place)
            else:
                book.same(found.aggregate(name, ours, stratum), expected, place)


@pytest.mark.parametrize("name", TABLES)
def test_every_number_of_every_frame(peers: Any, groups: Any, ledger: Any, name: str) -> None:
    book = ledger("fairlearn")
    for positive, columns, entry in frames(peers, name):
        report = peers.audit(name, columns, positive, reference="overall", metrics="native")
        where = f"{name} {columns} {positive}"
        check_frame(book, Found(report), groups(report), entry["metric_frame"], RATES, where)
    book.settle(240)


@pytest.mark.parametrize("name", TABLES)
def test_every_number_within_a_control_feature(
    peers: Any, groups: Any, ledger: Any, name: str
) -> None:
    book = ledger("fairlearn")
    for positive, columns, entry in frames(peers, name):
        control = entry.get("control_feature")
        if not control:
            continue
        report = peers.audit(
            name, columns, positive, reference="overall", metrics="native", strata=control
        )
        frame = entry["metric_frame_control"]
        for stratum in dict.fromkeys(key.split("|", 1)[0] for key in frame["by_group"]):
            inside = {
                key.split("|", 1)[1]: rates
                for key, rates in frame["by_group"].items()
                if key.split("|", 1)[0] == stratum and rates["count"] != "NaN"
            }
            others = (each for each in ("overall", *AGGREGATES) if each in frame)
            within = {"by_group": inside, **{each: frame[each][stratum] for each in others}}
            where = f"{name} {columns} {control}={stratum}"
            check_frame(book, Found(report), groups(report, stratum), within, RATES, where, stratum)
    book.settle(40)


def named(found: Found, name: str) -> float | None:
    """Return a named criterion of fairlearn from the metrics of a report."""
    criterion, _, asked = name.partition("(")
    by = "difference" if "difference" in criterion else "ratio"
    rates = ["true_positive_rate", "false_positive_rate"]
    if not criterion.startswith("equalized_odds"):
        rates = ["selection_rate" if "parity" in criterion else "true_positive_rate"]
    if "to_overall" in asked:
        values = [found.aggregate(f"{by}_to_overall", rate) for rate in rates]
        if "agg=mean" in asked:
            return sum(values) / 2
        return max(values) if by == "difference" else min(values)
    if len(rates) == 1:
        return found.one(f"{rates[0]}.{'largest_gap' if by == 'difference' else 'smallest_ratio'}")
    if "agg=mean" in asked:
        last = "mean_gap" if by == "difference" else "mean_ratio"
        return found.one(f"equalized_odds.{last}")
    return found.one(f"equalized_odds.{'largest_gap' if by == 'difference' else 'smallest_ratio'}")


@pytest.mark.parametrize("name", TABLES)
def test_named_criteria(peers: Any, ledger: Any, name: str) -> None:
    book = ledger("fairlearn")
    for positive, columns, entry in frames(peers, name):
        report = peers.audit(name, columns, positive, reference="overall", metrics="native")
        found = Found(report)
        by_group = entry["metric_frame"]["by_group"].values()
        groups = [g for g in report.groups if g.stratum is None]
        rates = ("true_positive_rate", "false_positive_rate")
        whole = all(g.rates[rate].value is not None for g in groups for rate in rates)
        for criterion, expected in entry["named"].items():
            where = f"{name} {columns} {criterion}"
            if whole or "parity" in criterion:
                book.same(named(found, criterion), expected, where)
            else:
                rests = any(0 in (g["tpr"], g["fpr"]) for g in by_group)
                book.explained(rests, ZERO, where)
    book.settle(10)


def test_classes_of_three(peers: Any, ledger: Any) -> None:
    """Each class against the rest: by group, overall and across groups."""
    name, book = "compas_multiclass_pred", ledger("fairlearn")
    for columns, entry in peers.oracle(f"{name}__fairlearn.json")["results"].items():
        report = peers.audit(name, columns, None, reference="overall", task="multiclass")
        for key, frame in entry.items():
            if not key.startswith("one_vs_rest"):
                continue
            class_ = key.removeprefix("one_vs_rest pos=")
            its = {g.group: g for g in report.groups if g.class_ == class_ and g.stratum is None}
            found = Found(report, class_)
            check_frame(book, found, its, frame["metric_frame"], RATES, f"{columns} {class_}")
    book.settle(250)


def test_all_classes_at_once(shared: Any, audited: Any, ledger: Any) -> None:
    """Overall accuracy, Cohen's kappa, macro and weighted averages, and their aggregates."""
    name, book = "compas_multiclass_pred", ledger("fairlearn")
    for columns, entry in shared.oracle(f"{name}__fairlearn.json")["results"].items():
        report = audited(name, columns, None, reference="overall", task="multiclass")
        frame = entry["metric_frame"]
        for theirs, (rate, class_) in CLASSES.items():
            its = {
                g.group: g for g in report.groups if (g.class_scope.average or g.class_) == class_
            }
            left_out = undefined_classes(report, rate) if class_ else set()
            found = Found(report, class_)
            for group, rates in frame["by_group"].items():
                where = f"{columns} {theirs} of {group}"
                if group in left_out and class_ == "macro" and theirs != "balanced_accuracy":
                    # a class in which the group has no rate is 0 there, and left out here
                    classes = len(report.spec.get("positive") or ()) or 3
                    held = its[group].rates[rate].value * (classes - len(left_out[group])) / classes
                    same = math.isclose(held, rates[theirs], rel_tol=1e-9)
                    book.explained(same, ZERO, where)
                else:
                    book.same(its[group].rates[rate].value, rates[theirs], where)
            book.same(found.overall(rate), frame["overall"][theirs], f"{columns} {theirs}")
            for aggregate in AGGREGATES:
                where = f"{columns} {theirs} {aggregate}"
                if rate in SIGNED and aggregate.startswith("ratio"):
                    book.explained(not found.every(f"{rate}.ratio"), NO_RATIO, where)
                elif left_out and theirs != "balanced_accuracy":
                    values = [rates[theirs] for rates in frame["by_group"].values()]
                    again = AGGREGATES[aggregate](values, frame["overall"][theirs])
                    same = math.isclose(again, frame[aggregate][theirs], rel_tol=1e-9)
                    book.explained(same, ZERO, where)
                else:
                    book.same(found.aggregate(aggregate, rate), frame[aggregate][theirs], where)
    book.settle(80)


def undefined_classes(report: fg.Report, rate: str) -> dict[str, list[str]]:
    """Return for every group the classes in which it has no such rate."""
    found: dict[str, list[str]] = {}
    for group in report.groups:
        of_class = group.class_ not in (None, "macro", "micro", "weighted")
        if of_class and group.rates[rate].value is None:
            found.setdefault(group.group, []).append(group.class_)
    return found


def test_regression(shared: Any, ledger: Any) -> None:
    book = ledger("fairlearn")
    oracle = shared.oracle("insurance_pred__fairlearn_regression.json")["results"]
    for columns, entry in oracle.items():
        report = fg.audit(
            shared.data("insurance_pred.csv"), label="charges", prediction="prediction",
            sensitive=columns, reference="overall", metrics="native", task="regression",
        )  # fmt: skip
        groups = {g.group: g for g in report.groups}
        frame = entry["metric_frame"]
        for theirs, ours in REGRESSION.items():
            for group, rates in frame["by_group"].items():
                where = f"{columns} {theirs} of {group}"
                book.same(groups[group].rates[ours].value, rates[theirs], where)
            found = Found(report)
            book.same(found.overall(ours), frame["overall"][theirs], f"{columns} {theirs}")
            for aggregate in AGGREGATES:
                expected = frame[aggregate][theirs]
                where = f"{columns} {theirs} {aggregate}"
                if ours in SIGNED and aggregate.startswith("ratio"):
                    book.explained(not found.every(f"{ours}.ratio"), NO_RATIO, where)
                else:
                    book.same(found.aggregate(aggregate, ours), expected, where)
    book.settle(100)
