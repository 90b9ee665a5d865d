"""aequitas 1.1: group rates, and disparities to a chosen, the largest and the least group.

Disparities are ratios of the group's rate to the reference's, as ours; a group against itself is 1
there and no comparison here.
"""

import math
from typing import Any

import pytest
from ledger import number, positive_of
from vendor import BINARY as TABLES
from vendor import COLUMNS

import fairgauge as fg

RATES = {
    "accuracy": "accuracy", "tpr": "true_positive_rate", "tnr": "true_negative_rate",
    "for": "false_omission_rate", "fdr": "false_discovery_rate", "fpr": "false_positive_rate",
    "fnr": "false_negative_rate", "npv": "negative_predictive_value",
    "precision": "positive_predictive_value", "pprev": "selection_rate", "prev": "base_rate",
}  # fmt: skip
CELLS = {
    "tp": ("tp",), "fp": ("fp",), "fn": ("fn",), "tn": ("tn",), "pp": ("tp", "fp"),
    "pn": ("fn", "tn"), "group_label_pos": ("tp", "fn"), "group_label_neg": ("fp", "tn"),
    "group_size": ("tp", "fp", "fn", "tn"),
}  # fmt: skip
PPR = "share of all predicted positives: a count of the group, large where the group is"
ITSELF = "a group against itself is 1 there, no comparison here"


def check_disparities(book: Any, report: fg.Report, rows: list[dict[str, Any]], at: str) -> None:
    """Compare every disparity whose reference is that of the report."""
    groups = {g.group: g for g in report.groups}
    selected = {name: g.counts["tp"] + g.counts["fp"] for name, g in groups.items()}
    for row in rows:
        group = row["attribute_value"]
        for name, theirs in row.items():
            rate, _, last = name.rpartition("_")
            if last != "disparity":
                continue
            reference, where = row[f"{rate}_ref_group_value"], f"{at} {group} {name}"
            if rate == "ppr":
                held = math.isclose(selected[group] / selected[reference], number(theirs))
                book.explained(held, PPR, where)
            elif group == reference:
                book.explained(theirs == 1, ITSELF, where)
            else:
                found = report[f"{RATES[rate]}.ratio", row["attribute_name"], group]
                assert found.reference.group == reference, where
                book.same(found.value, theirs, where)


@pytest.mark.parametrize("name", TABLES)
def test_groups(peers: Any, ledger: Any, name: str) -> None:
    book = ledger("aequitas")
    for key, result in peers.oracle(f"{name}__aequitas.json")["results"].items():
        for row in result["group"]:
            report = peers.audit(name, row["attribute_name"], positive_of(key))
            groups = {g.group: g for g in report.groups}
            group, where = groups[row["attribute_value"]], f"{name} {key} {row['attribute_value']}"
            for theirs, ours in RATES.items():
                book.same(group.rates[ours].value, row[theirs], f"{where} {theirs}")
            for theirs, cells in CELLS.items():
                book.same(sum(group.counts[c] for c in cells), row[theirs], f"{where} {theirs}")
            selected = {n: g.counts["tp"] + g.counts["fp"] for n, g in groups.items()}
            share = selected[row["attribute_value"]] / sum(selected.values())
            book.explained(math.isclose(share, row["ppr"]), PPR, where)
    book.settle(80)


@pytest.mark.parametrize("name", TABLES)
def test_disparities(shared: Any, table: Any, ledger: Any, name: str) -> None:
    """To a chosen group, to the largest, and to that with the least value of each rate."""
    book = ledger("aequitas")
    ratios = [f"{rate}.ratio" for rate in RATES.values()]
    asked = {"label": COLUMNS[name][1], "prediction": "prediction", "metrics": ratios}
    for key, result in shared.oracle(f"{name}__aequitas.json")["results"].items():
        chosen = result["bias_predefined"]
        for attribute in chosen["ref_groups_dict"]:
            options = asked | {"positive": positive_of(key), "sensitive": attribute}
            for rows, reference in (
                (chosen["rows"], {attribute: chosen["ref_groups_dict"][attribute]}),
                (result["bias_major_group"], "largest"),
            ):
                report = fg.audit(table(name), reference=reference, **options)
                own = [row for row in rows if row["attribute_name"] == attribute]
                check_disparities(book, report, own, f"{name} {key} {reference}")
            least = [r for r in result["bias_min_metric"] if r["attribute_name"] == attribute]
            values = {row["attribute_value"] for row in least}
            for value in sorted(values):
                report = fg.audit(table(name), reference={attribute: value}, **options)
                own = [
                    {
                        field: row[field]
                        for field in row
                        if "_disparity" not in field
                        or row[field.replace("disparity", "ref_group_value")] == value
                    }
                    for row in least
                ]
                check_disparities(book, report, own, f"{name} {key} least {value}")
    book.settle(100)


def test_parity_verdicts(shared: Any, audited: Any, groups: Any, ledger: Any) -> None:
    """A parity holds between 0.8 and 1.25 times the reference: a rule of ours on the same ratio."""
    book = ledger("aequitas")
    errors = ("fdr", "fpr", "for", "fnr", "tpr", "tnr", "npv")
    parity = {f"{rate.upper()} Parity": rate for rate in errors}
    parity |= {"Impact Parity": "pprev", "Precision Parity": "precision"}
    for name in TABLES:
        for key, result in shared.oracle(f"{name}__aequitas.json")["results"].items():
            for row in result["fairness_group_value(tau=0.8)"]:
                attribute, group = row["attribute_name"], row["attribute_value"]
                for title, rate in parity.items():
                    reference = row[f"{rate}_ref_group_value"]
                    where = f"{name} {key} {attribute} {group} {title}"
                    if group == reference:
                        book.explained(row[title] is True, ITSELF, where)
                        continue
                    found = groups(audited(name, attribute, positive_of(key)))
                    of, to = (found[who].rates[RATES[rate]].value for who in (group, reference))
                    ratio = of / to
                    book.same(0.8 <= ratio <= 1 / 0.8, row[title], where)
    book.settle(100)
