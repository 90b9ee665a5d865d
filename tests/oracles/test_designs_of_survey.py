"""Standard errors under the designs of surveys against R's survey (svydesign, svrepdesign).

`STATED` is what R states, and checked on every run; `make thorough` runs the script again.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.needs import EVERY_CASE, missing

import fairgauge as fg
from fairgauge.catalogue.lookup import find_rate
from fairgauge.inference.clusters import DesignBySide
from fairgauge.resolve.resolution import resolve

SCRIPT = Path(__file__).with_name("designs_of_survey.R")
STATED = json.loads(SCRIPT.with_suffix(".json").read_text())
REPLICATES = "r1-r12; "
DESIGNS = {
    "units": {"cluster": "c", "strata_of_sample": "h"},
    "lonely": {"cluster": "c", "strata_of_sample": "h", "lonely": "adjust"},
    "single": {"strata_of_sample": "h"},
    "brr": {"replicate_weights": REPLICATES + "brr"},
    "fay": {"replicate_weights": REPLICATES + "fay 0.3"},
    "jk1": {"replicate_weights": REPLICATES + "jk1"},
    "jkn": {"replicate_weights": REPLICATES + "jkn " + ",".join(["0.5", str(2 / 3), "0.75"] * 4)},
    "acs": {"replicate_weights": REPLICATES + "acs"},
}


@pytest.fixture(scope="module")
def rows():
    """Return 600 weighted rows in 30 units of 6 strata, made without random numbers."""
    at = np.arange(600)
    c = at % 30
    y = ((at * 37 + c * 11) % 17 < 3 + c // 3).astype(int)
    w = 1 + y + (at * 29) % 5 / 2
    made = {
        "g": np.where((at * 7) % 5 + c % 2 < 3, "a", "b"), "h": c // 5, "c": c % 5, "y": y,
        "p": ((at * 53 + 5 * y) % 13 < 5 + 3 * y).astype(int), "w": w,
        "amount": 20 + 3 * y + (at * 31) % 23 / 4 + c / 5,
    }  # fmt: skip
    made |= {f"r{k}": w * (0.6 + (at * (k + 3) + c * k * k) % 11 / 12.5) for k in range(1, 13)}
    return pl.DataFrame(made)


def of(name, rows):
    if name != "lonely":
        return rows
    return rows.filter((pl.col("h") != 3) | (pl.col("c") == 0))


@pytest.mark.skipif(not EVERY_CASE, reason="make thorough runs R")
def test_r_states_these_numbers(rows, tmp_path):
    if shutil.which("Rscript") is None:
        missing("R with survey and metafor")
    rows.write_csv(tmp_path / "rows.csv")
    made = subprocess.run(
        ["Rscript", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = dict(line.split() for line in made.stdout.splitlines())
    assert {name: float(value) for name, value in found.items()} == pytest.approx(STATED, rel=1e-10)


def sides(rows, statistic, design, **asked):
    """Return values and deviations of group a, group b and all rows."""
    counts = fg.count(rows, sensitive="g", weight="w", **asked, **design)
    resolution = resolve(counts, counts.asked)
    (counted,) = resolution.features
    of = DesignBySide(counted, resolution.outcomes[0], counts.asked)
    picked = of.pick(np.array([0, 1, 3]), np.zeros(3, dtype=int))
    return of.copies(find_rate(statistic), picked)[0], of.deviations(find_rate(statistic), picked)


@pytest.mark.parametrize("name", DESIGNS)
def test_rates_differences_ratios_and_means_have_the_standard_errors_of_survey(name, rows):
    at, design = of(name, rows), DESIGNS[name]
    found = {}

    def state(suffix, by, sign):
        found[f"{name}_{suffix}"] = float(np.sqrt((sign * by**2).sum()))

    (a, b, _), (by, sign) = sides(at, "base_rate", design, label="y", prediction="p")
    state("rate_a", by[:, 0], sign)
    state("rate_b", by[:, 1], sign)
    state("all", by[:, 2], sign)
    state("difference", by[:, 0] - by[:, 1], sign)
    state("ratio", by[:, 0] / b - a * by[:, 1] / b**2, sign)
    _, (by, sign) = sides(at, "true_positive_rate", design, label="y", prediction="p")
    state("recall_a", by[:, 0], sign)
    if name != "single":
        _, (by, sign) = sides(at, "mean_label", design, label="amount", task="regression")
        state("mean_a", by[:, 0], sign)
        state("mean_difference", by[:, 0] - by[:, 1], sign)
    stated = {key: value for key, value in STATED.items() if key.startswith(f"{name}_")}
    assert {key: found[key] for key in stated} == pytest.approx(stated, rel=1e-6)
