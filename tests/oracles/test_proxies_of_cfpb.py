"""The rows that the CFPB's BISG script writes for its own test data, as they are printed."""

import csv
from pathlib import Path

import numpy as np
import polars as pl

import fairgauge as fg

ROWS = Path(__file__).parent / "vendored" / "cfpb_bisg_rows.csv"


def printed():
    with ROWS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_printed_rows_are_counted_as_they_are(tmp_path):
    rows = printed()
    groups = {
        "White": "pr_white", "Black": "pr_black", "Hispanic": "pr_hispanic",
        "Asian or Pacific Islander": "pr_api", "American Indian or Alaska Native": "pr_aian",
        "several or other": "pr_mult_other",
    }  # fmt: skip
    chosen = np.arange(len(rows)) % 3 > 0
    file = tmp_path / "rows.csv"
    pl.DataFrame(rows).with_columns(chosen=pl.Series(chosen.astype(int))).write_csv(file)
    report = fg.audit(
        file, prediction="chosen", positive=1, metrics="selection_rate.difference",
        sensitive={"race": fg.probabilities(groups)},
    )  # fmt: skip
    assert report.data.excluded == {}
    p = {group: np.array([float(row[column]) for row in rows]) for group, column in groups.items()}
    total = sum(p.values())
    assert 0 < np.abs(total - 1).max() < 1.1e-8  # printed with eight decimals
    (note,) = [each for each in report.diagnostics if each.code == "rounded_probabilities"]
    assert note["rows"] == int((np.abs(total - 1) > 1e-9).sum())
    bounds = {e.group: e for e in report.estimators if str(e.estimator) == "bounds"}
    assert set(bounds) == set(groups)
    for group, own in p.items():
        own = own / total
        ours = (own * chosen).sum() / own.sum()
        others = ((1 - own) * chosen).sum() / (1 - own).sum()
        # the weighted rates of these very probabilities are always among those that they leave open
        assert bounds[group].set_low <= ours - others <= bounds[group].set_high
