"""``python -m bench.why_verdicts``: the verdicts of `fairgauge.why` on tables whose truth is known.

Every table is drawn and decomposed as a user does it. The table is printed, and kept in
docs/coverage_of_gap_verdicts.json, from where what is counted already is read.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from scipy.optimize import brentq

import fairgauge as fg
from bench.audit_designs import Occurrences, alone
from bench.decisions import as_wanted
from bench.reviewed_audits import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.audit_designs import Design

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "coverage_of_gap_verdicts.json"
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
    """

    setting: str
    wanted: str
    rows: tuple[int, int]
    tilt: float = 0.0
    within: tuple[float, ...] = (0.0,)
    strata: int = 6
    margin: float | None = None

    @property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of the strata of both sides."""
        at = np.linspace(-1, 1, self.strata) * np.log(_FOLD) / 2 * self.tilt
        lower, higher = np.exp(-at), np.exp(at)
        return lower / lower.sum(), higher / higher.sum()

    @property
    def rates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the rates of both sides."""
        theirs = np.linspace(0.2, 0.8, self.strata)
        return theirs + np.resize(self.within, self.strata), theirs


def offsetting(within: float) -> float:
    """Return the tilt at which composition offsets a difference within 6 strata."""

    def gap(tilt: float) -> float:
        law = Law("", "", (1, 1), tilt, (within,))
        (w_d, w_a), (r_d, r_a) = law.shares, law.rates
        return float(w_d @ r_d - w_a @ r_a)

    return float(brentq(gap, -3, 3))


def happened(law: Law, rng: np.random.Generator) -> Occurrences:
    """Draw a table, decompose its gap, and return the verdict."""
    cells: dict[str, list[object]] = {"side": [], "stratum": [], "y": [], "n": []}
    for side, rows, shares, rates in zip("da", law.rows, law.shares, law.rates, strict=True):
        n = rng.multinomial(rows, shares)
        x = rng.binomial(n, rates)
        for y, counts in ((1, x), (0, n - x)):
            cells["side"] += [side] * law.strata
            cells["stratum"] += [f"s{i:02}" for i in range(law.strata)]
            cells["y"] += [y] * law.strata
            cells["n"] += counts.tolist()
    (gap,) = fg.why(
        pl.DataFrame(cells).filter(pl.col("n") > 0), label="y", sensitive="side", count="n",
        strata="stratum", reference={"side": "a"},
        margins=None if law.margin is None else {"base_rate": law.margin},
    ).gaps  # fmt: skip
    verdicts = {name: str(gap.verdict) == name for name in (*VERDICTS, "within margin")}
    return verdicts | {f"it {name}": gap.reason is not None and str(gap.reason) == name
                       for name in REASONS}  # fmt: skip


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
    Law("no gap; 500 and 1,000", _NEITHER, _FEW),
    Law("no gap: +10 points in every other stratum, -10 in the others; 500 and 1,000", _NEITHER,
        _FEW, within=(0.1, -0.1)),
    Law("the same; 3,000 and 6,000", "no gap shown, remains, reverses at most 5", _MANY,
        within=(0.1, -0.1)),
    Law("no gap: composition offsets -8 points within; 3,000 and 6,000",
        "no gap shown, accounted for at most 5", _MANY, offsetting(-0.08), (-0.08,)),
)  # fmt: skip


def designs() -> Iterator[Design]:
    """Yield a design for each law."""
    for law in LAWS:
        yield alone("why", law.setting, law.wanted, partial(happened, law))


def main(arguments: list[str] | None = None) -> None:
    """Count verdicts until every law has enough tables, and print their shares."""
    parser = argparse.ArgumentParser(prog="python -m bench.why_verdicts", description=__doc__)
    parser.add_argument("--tables", type=int, default=200, help="tables wanted of each law")
    parser.add_argument("--anew", action="store_true", help="forget what was counted")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    count(list(designs()), options.tables, options.output, anew=options.anew)
    print("| law | wanted | measured, in per cent | as wanted |")
    for each in json.loads(options.output.read_text(encoding="utf-8")):
        shares = (f"{name} {100 * k / n:.1f}" for name, (k, n) in each["counts"].items() if k)
        row = (each["setting"], each["wanted"], "; ".join(shares))
        print(f"| {' | '.join(row)} | {'yes' if as_wanted(each) else 'NO'} |")


if __name__ == "__main__":
    main()
