"""``python -m bench.paired_verdicts``: how often candidates are called fairer, and dominate.

Tables of counts are drawn and compared by `fairgauge.compare_models` itself. Where candidate and
model in use are equal, a candidate must be called fairer in at most 5% of runs; where it is fairer
and as good, it must be recognised with the power that `fairgauge.plan` promised; where it harms a
group by its margin or more, it must dominate in at most 5% of runs. What
evidence/paired_verdicts.json holds already is kept: remove its records to measure them again.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import fairgauge as fg
from bench.paired_coverage import joint

DATA = Path(__file__).resolve().parents[1] / "evidence" / "paired_verdicts.json"
QUESTION = {"label": "y", "prediction": "current", "sensitive": "group", "count": "n"}


def frame(
    sizes: dict[str, int], cells: dict[str, np.ndarray], rng: np.random.Generator
) -> pl.DataFrame:
    """Draw counts by label and the decisions of all models, in every group."""
    rows = []
    for group, n in sizes.items():
        table = cells[group]
        drawn = rng.multinomial(n, table.ravel() / table.sum()).reshape(table.shape)
        for index in zip(*np.nonzero(drawn), strict=True):
            label, current, *others = (1 - int(i) for i in index)
            named = {f"c{k}": value for k, value in enumerate(others)}
            rows.append({"group": group, "y": label, "current": current, "n": int(drawn[index])}
                        | named)  # fmt: skip
    return pl.DataFrame(rows)


def equal_models(rate: tuple[float, float], agreement: float, candidates: int) -> np.ndarray:
    """Return P(label, decisions) of models that are equal: each copies a common one, or draws."""
    shape = (2,) * (candidates + 2)
    cells = np.zeros(shape)
    for label, common in product(range(2), repeat=2):
        accepted = rate[label]
        share = 0.5 * (accepted if common == 0 else 1 - accepted)
        for decisions in product(range(2), repeat=candidates + 1):
            chance = share
            for decision in decisions:
                own = accepted if decision == 0 else 1 - accepted
                chance *= (1 - agreement) * own + agreement * (decision == common)
            cells[(label, *decisions)] += chance
    return cells


FAVOURABLE = ("dominates", "better in what could be tested")
"""The verdicts on a candidate that is fairer and as good; the first with margins of disparities."""
RATES = ((0.7, 0.3), (0.55, 0.2), (0.65, 0.25), (0.6, 0.3))
"""P(accepted | label) of the groups: positives, negatives."""


def correlated_models(rate: tuple[float, float], correlation: float) -> np.ndarray:
    """Return P(label, decisions) of two models that are equal, with correlated decisions."""
    parts = (joint(accepted, accepted, correlation) for accepted in rate)
    return 0.5 * np.stack([part for part in parts if part is not None])


@dataclass(frozen=True, slots=True)
class Null:
    """Equal models: groups and rows, candidates, and how often decisions agree.

    Attributes
    ----------
    agreement : probability with which a model copies a common decision.
    correlation : of the decisions of the model in use and one candidate, instead.
    metrics : the disparities that are looked at; the usual differences without any.
    """

    sizes: dict[str, int]
    candidates: int = 1
    agreement: float = 0.7
    correlation: float | None = None
    metrics: tuple[str, ...] = ()

    @property
    def dependence(self) -> str:
        """Describe how the decisions depend on each other."""
        if self.correlation is None:
            return f"{100 * self.agreement:.0f}% agreement"
        return f"correlation {self.correlation:g}"

    def cells(self, rate: tuple[float, float]) -> np.ndarray:
        """Return P(label, decisions) in a group."""
        if self.correlation is None:
            return equal_models(rate, self.agreement, self.candidates)
        return correlated_models((rate[0], 0.3), self.correlation)


def null(runs: int, design: Null) -> dict:
    """Return how often a candidate that is equal is called fairer, or less fair."""
    numbers = (*design.sizes.values(), round(100 * design.agreement))
    rng = np.random.default_rng([7, design.candidates, *numbers])
    cells = {g: design.cells(rate) for g, rate in zip(design.sizes, RATES, strict=False)}
    names = [f"c{k}" for k in range(design.candidates)]
    asked = {"metrics": list(design.metrics)} if design.metrics else {}
    found = []
    for _ in range(runs):
        data = frame(design.sizes, cells, rng)
        compared = fg.compare_models(data, **QUESTION, candidate=names, **asked)
        found.append({str(each.fairness) for each in compared.candidates})
    return {
        "subject": "equal models",
        "groups": len(design.sizes),
        "rows": list(design.sizes.values()),
        "candidates": design.candidates,
        "dependence": design.dependence,
        "metrics": list(design.metrics),
        "runs": runs,
        "called fairer": round(100 * np.mean(["fairer" in f or "mixed" in f for f in found]), 1),
        "called less fair": round(
            100 * np.mean(["less fair" in f or "mixed" in f for f in found]), 1
        ),
    }


def power(runs: int, margin: float, tolerance: float, share: float) -> dict:
    """Return how often a candidate that is fairer and as good is recognised, in planned rows."""
    discordant = 0.2
    planned = fg.plan(
        paired=discordant, margins={"accuracy": margin}, tolerance=tolerance, share=share
    )
    needed = planned.needed[-1]
    sizes = {"F": round(needed.group), "M": round(needed.reference)}
    rng = np.random.default_rng([8, round(1_000 * margin), round(1_000 * tolerance)])
    # decisions change by the same share of rows in both groups; F gains what M does not
    cells = {}
    for group, shift in (("F", tolerance), ("M", 0.0)):
        rate = 0.4 if group == "F" else 0.6
        table = np.zeros((2, 2, 2))
        for label in range(2):
            accept = rate
            gain, lose = (discordant + shift) / 2, (discordant - shift) / 2
            table[label] = 0.5 * np.array([[accept - lose, lose], [gain, 1 - accept - gain]])
        cells[group] = table
    verdicts = []
    for _ in range(runs):
        found = fg.compare_models(
            frame(sizes, cells, rng), **QUESTION, candidate="c0",
            metrics="selection_rate.difference", margins={"accuracy": margin},
        )  # fmt: skip
        verdicts.append(str(found["c0"].verdict))
    return {
        "subject": "a candidate that is fairer and as good",
        "margin": margin,
        "change": tolerance,
        "rows": list(sizes.values()),
        "runs": runs,
        "planned power": 80.0,
        "recognised": round(100 * np.mean([v in FAVOURABLE for v in verdicts]), 1),
    }


def decisions(old: tuple[float, float], new: tuple[float, float]) -> np.ndarray:
    """Return P(label, decisions): true and false positive rates of two models that mostly agree."""
    cells = []
    for before, after in zip(old, new, strict=True):
        both = 0.9 * min(before, after) + 0.1 * before * after
        cells.append([[both, before - both], [after - both, 1 - before - after + both]])
    return 0.5 * np.array(cells)


@dataclass(frozen=True, slots=True)
class Change:
    """What a candidate changes for groups: their shares, and TPR and FPR under both models.

    Attributes
    ----------
    name : what becomes of the groups.
    groups : of each its share of rows, and its rates under the model in use and the candidate.
    rows, margin : rows in all, and the margin of disparities, if there is one.
    harmful : whether a group is harmed by the margin or more.
    """

    name: str
    groups: dict[str, tuple[float, tuple[float, float], tuple[float, float]]]
    rows: int
    margin: float | None
    harmful: bool = True

    def drawn(self, rng: np.random.Generator) -> pl.DataFrame:
        """Draw a table of counts."""
        sizes = {group: round(of[0] * self.rows) for group, of in self.groups.items()}
        return frame(sizes, {g: decisions(of[1], of[2]) for g, of in self.groups.items()}, rng)

    def verdict(self, rng: np.random.Generator) -> str:
        """Return the verdict on the candidate in one table."""
        margins = {"accuracy": 0.02}
        if self.margin is not None:
            margins["disparity"] = self.margin
        found = fg.compare_models(self.drawn(rng), **QUESTION, candidate="c0", margins=margins)
        return str(found["c0"].verdict)


IMPROVED = {"A": (0.50, (0.80, 0.20), (0.84, 0.18)), "B": (0.45, (0.62, 0.20), (0.80, 0.18))}
"""Two large groups improve, and are closer to each other."""
HARMED = IMPROVED | {"C": (0.05, (0.78, 0.20), (0.60, 0.18))}
MORE_HARMED = {"A": (0.51, *IMPROVED["A"][1:]), "B": (0.46, *IMPROVED["B"][1:]),
               "C": (0.03, (0.78, 0.20), (0.48, 0.18))}  # fmt: skip
BETTER = IMPROVED | {"C": (0.05, (0.68, 0.20), (0.80, 0.18))}
AT_MARGIN = {"A": (0.40, *IMPROVED["A"][1:]), "B": (0.40, *IMPROVED["B"][1:]),
             "C": (0.20, (0.78, 0.20), (0.68, 0.18))}  # fmt: skip
FURTHER = {"A": (0.40, (0.70, 0.20), (0.80, 0.20)), "B": (0.40, (0.60, 0.20), (0.80, 0.20)),
           "C": (0.20, (0.66, 0.20), (0.70, 0.20))}  # fmt: skip
"""No rate of a group is worse; the TPR of C was 1 pp above that of the others, now 10 pp below."""
CHANGES = (
    Change("TPR of 5% of rows .78 to .60", HARMED, 1_500, None),
    Change("TPR of 5% of rows .78 to .60", HARMED, 1_500, 0.05),
    Change("TPR of 5% of rows .78 to .60", HARMED, 1_500, 0.1),
    Change("TPR of 3% of rows .78 to .48", MORE_HARMED, 1_500, 0.1),
    Change("TPR of 5% of rows .78 to .60", HARMED, 20_000, 0.1),
    Change("TPR of 20% of rows .78 to .68", AT_MARGIN, 8_000, 0.1),
    Change("TPR of 20% of rows +1 to -10 pp from the others'", FURTHER, 8_000, 0.09),
    Change("all groups better, and closer", BETTER, 5_000, 0.1, harmful=False),
    Change("all groups better, and closer", BETTER, 20_000, 0.1, harmful=False),
    Change("all groups better, and closer", BETTER, 20_000, 0.05, harmful=False),
)


def dominance(runs: int, design: Change) -> dict:
    """Return how often a candidate dominates that harms a group, or that is better for all."""
    seed = [9, design.rows, round(100 * (design.margin or 0)), round(1_000 * design.groups["C"][0])]
    rng = np.random.default_rng([*seed, round(100 * design.groups["C"][2][0])])
    verdicts = [design.verdict(rng) for _ in range(runs)]
    return {
        "subject": "a harmed group" if design.harmful else "all groups better",
        "design": design.name,
        "rows": design.rows,
        "margin": design.margin,
        "runs": runs,
        **{v: round(100 * verdicts.count(v) / runs, 1)
           for v in (*FAVOURABLE, "trade-off", "cannot tell")},
    }  # fmt: skip


def main() -> None:
    """Measure, and write the records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    runs = parser.parse_args().runs
    two, four = {"F": 200, "M": 300}, {"A": 300, "B": 120, "C": 500, "D": 60}
    nine_to_one = {"F": 100, "M": 900}
    ratios = ("selection_rate.ratio", "true_positive_rate.ratio", "accuracy.ratio")
    gaps = ("selection_rate.largest_gap", "equalized_odds.largest_gap", "selection_rate.minimum")
    designs = [
        *(partial(null, design=each) for each in (
            Null(two, agreement=0.5), Null(two, agreement=0.9), Null(two, candidates=4),
            Null(four), Null({"F": 40, "M": 60}),
        )),
        partial(power, margin=0.02, tolerance=0.05, share=0.4),
        partial(power, margin=0.03, tolerance=0.06, share=0.4),
        *(partial(null, design=each) for each in (
            Null(two, metrics=ratios), Null(four, metrics=ratios), Null(four, metrics=gaps),
            Null(nine_to_one), Null(nine_to_one, metrics=ratios), Null(two, correlation=-0.3),
            Null(two, correlation=0.95), Null(two, candidates=3),
        )),
        partial(power, margin=0.03, tolerance=0.06, share=0.1),
        *(partial(dominance, design=each) for each in CHANGES),
    ]  # fmt: skip
    records = json.loads(DATA.read_text(encoding="utf-8"))
    for one in designs[len(records) :]:
        records.append(one(runs))
        sys.stdout.write(f"{records[-1]}\n")
        sys.stdout.flush()
        DATA.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
