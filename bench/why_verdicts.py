"""``python -m bench.why_verdicts``: what `fairgauge.why` states of tables whose truth is known.

Every table is drawn and decomposed as a user does it; what is counted is printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.optimize import brentq

import fairgauge as fg
from bench.audit_designs import holds
from bench.counting import Design, Occurrences, alone, count_designs, print_table
from fairgauge.enums import GapPartKind, StratumWeights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.gap_decomposition import Gap

VERDICTS = ("no gap shown", "remains", "reverses", "accounted for", "inconclusive")
REASONS = ("varies", "offset")
_FOLD = 5.0
"""By how much the shares of a stratum differ at most between the sides."""


@dataclass(frozen=True)
class Law:
    """What tables are drawn from.

    Attributes
    ----------
    setting, wanted : what it is, and of which verdicts how many are wanted.
    rows : of the group, and of its reference.
    tilt : how much of the fivefold the shares of strata differ by; negative puts the group into
        strata of high rates.
    within : the differences within strata, repeated over them.
    range : the lowest and the highest rate of the reference in a stratum.
    outlying : the differences in the first strata, where they are others.
    spread : the standard deviation of the differences, drawn anew for each table.
    """

    setting: str
    wanted: str
    rows: tuple[int, int]
    tilt: float = 0.0
    within: tuple[float, ...] = (0.0,)
    strata: int = 6
    margin: float | None = None
    range: tuple[float, float] = (0.2, 0.8)
    outlying: tuple[float, ...] = ()
    spread: float = 0.0

    @property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of the strata of both sides."""
        at = np.linspace(-1, 1, self.strata) * np.log(_FOLD) / 2 * self.tilt
        lower, higher = np.exp(-at), np.exp(at)
        return lower / lower.sum(), higher / higher.sum()

    @property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rates of both sides."""
        theirs = np.linspace(*self.range, self.strata)
        within = np.resize(self.within, self.strata)
        if self.outlying:
            theirs = np.random.default_rng(1).permutation(theirs)
            within = np.append(self.outlying, within[len(self.outlying) :])
        return np.clip(theirs + within, 0.0, 1.0), theirs


def offsetting(within: float) -> float:
    """Return the tilt at which composition offsets a difference within 6 strata."""

    def gap(tilt: float) -> float:
        law = Law("", "", (1, 1), tilt, (within,))
        (w_d, w_a), (r_d, r_a) = law.shares, law.rates
        return float(w_d @ r_d - w_a @ r_a)

    return float(brentq(gap, -3, 3))


def drawn(law: Law, rng: np.random.Generator) -> pl.DataFrame:
    """Return the counts of a table."""
    cells: dict[str, list[object]] = {"side": [], "stratum": [], "y": [], "n": []}
    ours, theirs = law.rates
    ours = np.clip(ours + rng.normal(0, law.spread, law.strata), 0, 1) if law.spread else ours
    for side, rows, shares, rates in zip("da", law.rows, law.shares, (ours, theirs), strict=True):
        n = rng.multinomial(rows, shares)
        x = rng.binomial(n, rates)
        for y, counts in ((1, x), (0, n - x)):
            cells["side"] += [side] * law.strata
            cells["stratum"] += [f"s{i:03}" for i in range(law.strata)]
            cells["y"] += [y] * law.strata
            cells["n"] += counts.tolist()
    return pl.DataFrame(cells).filter(pl.col("n") > 0)


def gap_of(law: Law, rng: np.random.Generator) -> Gap:
    """Draw a table and decompose its gap."""
    (gap,) = fg.why(
        drawn(law, rng), label="y", sensitive="side", count="n", strata="stratum",
        reference={"side": "a"},
        margins=None if law.margin is None else {"base_rate": law.margin},
    ).gaps  # fmt: skip
    return gap


def happened(law: Law, rng: np.random.Generator) -> Occurrences:
    """Return the verdict on a table."""
    gap = gap_of(law, rng)
    verdicts = {name: str(gap.verdict) == name for name in (*VERDICTS, "within margin")}
    return verdicts | {f"it {name}": gap.reason is not None and str(gap.reason) == name
                       for name in REASONS}  # fmt: skip


def covered(law: Law, rng: np.random.Generator) -> Occurrences:
    """Return whether intervals of the parts hold them, of the strata that both sides have."""
    gap = gap_of(law, rng)
    both = [int(s.stratum["stratum"][1:]) for s in gap.strata if s.difference is not None]
    (w_d, w_a), (r_d, r_a) = ([each[both] for each in pair] for pair in (law.shares, law.rates))
    w_d, w_a = w_d / w_d.sum(), w_a / w_a.sum()
    average, within = StratumWeights.AVERAGE, GapPartKind.WITHIN
    truths = {
        ("composition", GapPartKind.COMPOSITION, average): (w_d - w_a) @ (r_d + r_a) / 2,
        ("within", within, average): (w_d + w_a) @ (r_d - r_a) / 2,
        ("within at the group's composition", within, StratumWeights.GROUP): w_d @ (r_d - r_a),
        ("within at the reference's", within, StratumWeights.REFERENCE): w_a @ (r_d - r_a),
    }
    return {
        f"{name} covers": holds(part.interval, truth)
        for (name, kind, weights), truth in truths.items()
        if (part := gap.part(kind, weights)).status == "ok" and part.interval is not None
    }


def named(law: Law, rng: np.random.Generator) -> Occurrences:
    """Return which strata of a table are named, and whether the difference is shown to vary."""
    gap = gap_of(law, rng)
    names = {s.stratum["stratum"] for s in gap.strata if s.outlying}
    varies = gap.heterogeneity is not None and gap.heterogeneity.p_value < 0.05
    if not law.outlying:
        return {"a stratum is named": bool(names), "one difference is rejected": varies}
    outlying = {f"s{i:03}" for i in range(len(law.outlying))}
    all_named = "it is named" if len(outlying) == 1 else "all are named"
    return {all_named: outlying <= names, "another is named": bool(names - outlying)}


_FEW, _MANY = (500, 1_000), (3_000, 6_000)
_NEITHER = "remains, reverses at most 5"
_SOME = "accounted for, reverses at most 5"
LAWS = (
    Law("all composition; 500 and 1,000", _NEITHER, _FEW, 1.0),
    Law("all composition; 3,000 and 6,000", _NEITHER, _MANY, 1.0),
    Law("all composition, 40 strata; 1,000 and 3,000", _NEITHER, (1_000, 3_000), 1.0, strata=40),
    Law("-10 points within; 500 and 1,000", _SOME, _FEW, within=(-0.1,)),
    Law("composition, and -8 points within; 500 and 1,000", "reverses at most 5", _FEW, 1.0,
        (-0.08,)),
    Law("the same with a margin of 2 points", _SOME, _FEW, 1.0, (-0.08,), margin=0.02),
    Law("composition, and -8 points within; 3,000 and 6,000", _SOME, _MANY, 1.0, (-0.08,)),
    Law("all composition with a margin of 5 points; 500 and 1,000", _NEITHER, _FEW, 1.0,
        margin=0.05),
    Law("all composition with a margin of 5 points; 3,000 and 6,000", _NEITHER, _MANY, 1.0,
        margin=0.05),
    Law("no gap; 500 and 1,000", _NEITHER, _FEW),
    Law("no gap: +10 points in every other stratum, -10 in the others; 500 and 1,000", _NEITHER,
        _FEW, within=(0.1, -0.1)),
    Law("the same; 3,000 and 6,000", "no gap shown, remains, reverses at most 5", _MANY,
        within=(0.1, -0.1)),
    Law("no gap: composition offsets -8 points within; 3,000 and 6,000",
        "no gap shown, accounted for at most 5", _MANY, offsetting(-0.08), (-0.08,)),
)  # fmt: skip


_LOW, _OTHERS = (0.01, 0.15), (-0.08,)
COVERED = (
    Law("6 strata; 200 and 200", "95 or more", (200, 200), 0.6, range=(0.1, 0.8)),
    Law("6 strata; 1,000 and 2,000", "95 or more", (1_000, 2_000), 1.0, range=(0.1, 0.8)),
    Law("6 strata; 400 and 4,000; rates 1 to 15%", "95 or more", (400, 4_000), 0.6, range=_LOW),
    Law("12 strata, -8 points within; 500 and 1,500", "95 or more", (500, 1_500), 0.6, _OTHERS, 12),
    Law("40 strata, -8 points within; 800 and 2,400", "95 or more", (800, 2_400), 0.6, _OTHERS, 40),
    Law("40 strata, -8 points within; 200 and 600", "95 or more", (200, 600), 0.6, _OTHERS, 40),
    Law("100 strata; 300 and 900; rates 10 to 70%", "95 or more", (300, 900), 0.6, strata=100,
        range=(0.1, 0.7)),
    Law("3 strata; 150 and 300; rates 85 to 97%", "95 or more", (150, 300), 0.6, strata=3,
        range=(0.85, 0.97)),
)  # fmt: skip


def _points(differences: tuple[float, ...]) -> str:
    return ", ".join(f"{100 * each:.0f}" for each in differences)


_ALIKE, _NAMED = "at most 5", "another at most 5"
NAMED = (
    *(Law(f"{k} strata of one difference, {n} and {m} rows each", _ALIKE, (k * n, k * m), 0.6,
          _OTHERS, k)
      for k, n, m in ((40, 60, 180), (40, 20, 60), (40, 8, 24), (10, 100, 300), (200, 20, 60))),
    Law("40 strata of one difference, 60 and 180 rows each; rates 3 to 15%", _ALIKE,
        (2_400, 7_200), 0.6, strata=40, range=(0.03, 0.15)),
    *(Law(f"40 strata that differ by {100 * spread:.0f} points themselves, 60 and 180 rows each",
          "a stratum at most 5", (2_400, 7_200), 0.0, _OTHERS, 40, range=(0.3, 0.8), spread=spread)
      for spread in (0.04, 0.08)),
    *(Law(f"40 strata, one at -21.9 points, the others at -8; {n} and {m} rows each", _NAMED,
          (40 * n, 40 * m), 0.0, _OTHERS, 40, range=(0.25, 0.8), outlying=(-0.219,))
      for n, m in ((120, 360), (200, 600), (300, 900), (500, 1_500))),
    *(Law(f"{k} strata that differ by {100 * spread:.0f} points themselves, {n} and {m} rows each",
          f"a stratum at most {most}", (k * n, k * m), 0.0, _OTHERS, k, range=(0.3, 0.8),
          spread=spread)
      for k, n, m, most in ((6, 100, 300, 12), (6, 1_000, 1_000, 12), (10, 100, 300, 8),
                            (10, 1_000, 3_000, 8))
      for spread in (0.04, 0.08)),
    *(Law(f"{k} strata, {len(outlying)} at {_points(outlying)}, the others at 0; {n} and {m} rows "
          "each", _NAMED, (k * n, k * m), 0.0, (0.0,), k, range=(0.7, 0.8), outlying=outlying)
      for k, n, m, outlying in ((12, 100, 100, (-0.4, -0.4)), (12, 200, 200, (-0.6, -0.35)),
                                (12, 200, 200, (-0.4, -0.3, -0.3)),
                                (40, 200, 600, (-0.25, -0.25, -0.25)))),
)  # fmt: skip


def designs() -> Iterator[Design]:
    """Yield a design for each law."""
    for of, laws, read in (("why", LAWS, happened), ("intervals", COVERED, covered),
                           ("strata", NAMED, named)):  # fmt: skip
        for law in laws:
            yield alone(of, law.setting, law.wanted, partial(read, law))


if __name__ == "__main__":
    print_table(count_designs(__doc__, "coverage_of_gap_verdicts.json", list(designs())))
