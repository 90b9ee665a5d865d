"""``python -m bench.survey_designs``: how often intervals under survey designs are right.

Samples of one population are drawn by three designs and audited as a user would audit them. The
command writes evidence/coverage_of_survey_designs.json; ``--samples`` and ``--design`` limit it.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import polars as pl
from scipy.linalg import hadamard

import fairgauge as fg
from bench.counting import EVIDENCE

DATA = EVIDENCE / "coverage_of_survey_designs.json"
STRATA, UNITS, PEOPLE = 30, 12, 40
"""Of the population: strata, units of each, people of each unit."""
SAMPLED = 15
REPLICATES = 32
DESIGNS = {
    "two units of each stratum": {"cluster": "unit", "strata_of_sample": "stratum"},
    "people within strata": {"strata_of_sample": "stratum"},
    "balanced half samples (Fay 0.5)": {"replicate_weights": f"r1-r{REPLICATES}; fay 0.5"},
}  # fmt: skip


def population() -> dict[str, np.ndarray]:
    """Return people whose group and outcome are alike within units and strata."""
    rng = np.random.default_rng(74)
    stratum = np.repeat(np.arange(STRATA), UNITS * PEOPLE)
    unit = np.repeat(np.arange(STRATA * UNITS), PEOPLE)
    of_stratum, of_unit = rng.normal(0, 0.5, STRATA), rng.normal(0, 0.4, STRATA * UNITS)
    share = 1 / (1 + np.exp(0.4 - 0.6 * rng.normal(0, 1, STRATA * UNITS)))[unit]
    a = rng.random(len(unit)) < share
    odds = -0.3 + of_stratum[stratum] + of_unit[unit] - 0.4 * a
    y = rng.random(len(unit)) < 1 / (1 + np.exp(-odds))
    return {"g": np.where(a, "a", "b"), "y": y.astype(int), "stratum": stratum, "unit": unit}


def drawn(people: dict[str, np.ndarray], design: str, rng: np.random.Generator) -> pl.DataFrame:
    """Return one sample with its weights."""
    if design.startswith("people"):  # from 2 to 20 per cent of a stratum
        size = UNITS * PEOPLE
        each = np.linspace(10, 96, STRATA).astype(int)
        at = [s * size + rng.choice(size, n, replace=False) for s, n in enumerate(each)]
        rows, weight = np.concatenate(at), np.repeat(size / each, each)
        made = {k: v[rows] for k, v in people.items()} | {"w": weight}
        return pl.DataFrame(made)
    rows, weights, halves = [], [], []
    for s in range(STRATA):
        for half, unit in enumerate(rng.choice(UNITS, 2, replace=False)):
            first = (s * UNITS + unit) * PEOPLE
            rows.append(first + rng.choice(PEOPLE, SAMPLED, replace=False))
            weights.append(UNITS / 2 * PEOPLE / SAMPLED * (1 + s % 3))
            halves.append(half)
    at, w = np.concatenate(rows), np.repeat(weights, SAMPLED)
    made = {k: v[at] for k, v in people.items()} | {"w": w}
    signs = hadamard(REPLICATES)[:, 1 : STRATA + 1]
    side = np.repeat(1 - 2 * np.array(halves), SAMPLED)
    for k in range(REPLICATES):
        made[f"r{k + 1}"] = w * (1 + 0.5 * signs[k][made["stratum"]] * side)
    return pl.DataFrame(made)


def covered(design: str, samples: int) -> dict[str, float]:
    """Return the share of samples whose interval holds the population's value, in per cent."""
    people = population()
    weight = 1.0 + people["stratum"] % 3 if not design.startswith("people") else 1.0
    weight = np.broadcast_to(weight, people["y"].shape)
    a, b = (np.average(people["y"][of], weights=weight[of])
            for of in (people["g"] == "a", people["g"] == "b"))  # fmt: skip
    truth = {"rate of a": a, "rate of b": b, "difference": a - b, "ratio": a / b}
    hits = dict.fromkeys(truth, 0)
    rng = np.random.default_rng([74, list(DESIGNS).index(design)])
    for _ in range(samples):
        report = fg.audit(
            drawn(people, design, rng), label="y", sensitive="g", weight="w",
            metrics=["base_rate.difference", "base_rate.ratio"], **DESIGNS[design],
        )  # fmt: skip
        of = {each.group: each.rates["base_rate"].interval for each in report.groups}
        found = {"rate of a": of["a"], "rate of b": of["b"]} | {
            by: report[f"base_rate.{by}", "g", "a"].interval for by in ("difference", "ratio")
        }
        for name, value in truth.items():
            interval = found[name]
            hits[name] += interval is not None and interval.low <= value <= interval.high
    return {name: round(100 * float(n) / samples, 1) for name, n in hits.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--design", choices=DESIGNS, nargs="*", default=list(DESIGNS))
    asked = parser.parse_args()
    every = json.loads(DATA.read_text()) if DATA.exists() else {}
    for design in asked.design:
        every[design] = {"samples": asked.samples, "covered": covered(design, asked.samples)}
        print(design, every[design])
        DATA.write_text(json.dumps(every, indent=2) + "\n")


if __name__ == "__main__":
    main()
