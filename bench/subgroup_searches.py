"""``python -m bench.subgroup_searches``: how often searches for subgroups err, and what they find.

Tables are drawn from laws of several kinds and searched by `fairgauge.find` as users do it, once
for each side, so that every subgroup and both of its ends are seen. What was counted is written to
evidence/coverage_of_subgroup_searches.json; the command may be stopped, and adds what is missing
when it is started again.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import fairgauge as fg

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from fairgauge.results.subgroup_search import SearchedFeature, Subgroup, SubgroupSearch

    Codes = NDArray[np.int64]
    Rates = NDArray[np.float64]
    Generator = np.random.Generator

COUNTS = Path(__file__).parent.parent / "evidence" / "coverage_of_subgroup_searches.json"
TABLES = 300
_CHUNK = 50
_ROUNDING = 1e-12
WRONG_WORSE, WRONG_NOT_WORSE = "wrong worse", "wrong not worse"
LOW_FAILS, HIGH_FAILS, OUTSIDE = "a lower end fails", "an upper end fails", "an end outside [-1, 1]"
COUNTED = (WRONG_WORSE, WRONG_NOT_WORSE, LOW_FAILS, HIGH_FAILS, OUTSIDE)
_USUAL = (2, 3, 4, 5)


@dataclass(frozen=True)
class Law:
    """What tables are drawn from.

    Attributes
    ----------
    setting : what is drawn, in words.
    drawn : makes the values of the features, and the rate of every row.
    rows : the rows of a table.
    negatives : the share of rows that the rate is a share of.
    asked : options of the search.
    numbers : whether values are numbers, which are cut into fifths; else they are texts, of which
        a negative one is missing.
    """

    setting: str
    drawn: Callable[[Generator, int], tuple[Codes, Rates]]
    rows: int = 3_000
    negatives: float = 1.0
    asked: Mapping[str, Any] = field(default_factory=dict)
    numbers: bool = False


def independent(rng: Generator, rows: int, sizes: tuple[int, ...] = _USUAL) -> Codes:
    """Draw features that have nothing to do with each other."""
    return np.column_stack([rng.integers(0, size, rows) for size in sizes])


def uneven(rng: Generator, rows: int) -> Codes:
    """Draw features whose values have very different sizes."""
    return np.column_stack([
        np.minimum(rng.geometric(share, rows) - 1, size - 1)
        for share, size in ((0.7, 3), (0.5, 5), (0.6, 4), (0.4, 5))
    ])  # fmt: skip


def copies(rng: Generator, rows: int) -> Codes:
    """Draw features each of which is the one before it in four of five rows."""
    codes = rng.integers(0, 3, (rows, 5))
    for i in range(1, 5):
        same = rng.random(rows) < 0.8
        codes[same, i] = codes[same, i - 1]
    return codes


def banded(rng: Generator, rows: int) -> Codes:
    """Draw an ordered feature in 8, 4 and 2 bands, a renamed copy of it, and two others."""
    band = rng.integers(0, 8, rows)
    renamed = np.array([3, 1, 2, 0])[band // 2]
    others = rng.integers(0, 3, (rows, 2))
    return np.column_stack([band, band // 2, band // 4, renamed, others])


def split(rng: Generator, rows: int) -> Codes:
    """Draw features, one of them with its values merged, another with its values split."""
    codes = rng.integers(0, 3, (rows, 3))
    merged = np.minimum(codes[:, 0], 1)
    parts = codes[:, 1] * 2 + rng.integers(0, 2, rows)
    return np.column_stack([codes, merged, parts])


def alike(
    rate: float, codes: Callable[[Generator, int], Codes] = independent
) -> Callable[[Generator, int], tuple[Codes, Rates]]:
    """Return a law without any difference."""
    return lambda rng, rows: (codes(rng, rows), np.full(rows, rate))


def by_rule(
    rule: Callable[[Codes], Rates], codes: Callable[[Generator, int], Codes] = independent
) -> Callable[[Generator, int], tuple[Codes, Rates]]:
    """Return a law whose rate follows from the values."""

    def drawn(rng: Generator, rows: int) -> tuple[Codes, Rates]:
        values = codes(rng, rows)
        return values, rule(values)

    return drawn


def of_cells(
    rates: Callable[[Generator, int], Rates], codes: Callable[[Generator, int], Codes] = independent
) -> Callable[[Generator, int], tuple[Codes, Rates]]:
    """Return a law in which each combination of values has a rate of its own."""

    def drawn(rng: Generator, rows: int) -> tuple[Codes, Rates]:
        values = codes(rng, rows)
        cells = np.unique(values, axis=0, return_inverse=True)[1].ravel()
        return values, rates(rng, int(cells.max()) + 1)[cells]

    return drawn


def by_effects(rng: Generator, rows: int) -> tuple[Codes, Rates]:
    """Draw rates whose odds are products of effects of values, and of pairs of values."""
    codes = independent(rng, rows)
    logit = np.full(rows, -2.0)
    for i in range(4):
        logit += rng.normal(0, 0.4, 5)[codes[:, i]]
        for j in range(i):
            logit += rng.normal(0, 0.3, (5, 5))[codes[:, i], codes[:, j]]
    return codes, 1 / (1 + np.exp(-logit))


def at_the_edge(rng: Generator, rows: int) -> tuple[Codes, Rates]:
    """Draw forty values of which twenty differ from all others by 5 points exactly."""
    values = np.arange(rows) % 40
    rng.shuffle(values)
    # of 40 equal values, 20 of which are d higher, one of these exceeds all others by 20 d / 39
    return values[:, None], np.where(values < 20, 0.1 + 0.05 * 39 / 20, 0.1)


def _odds(spread: float, level: float) -> Callable[[Generator, int], Rates]:
    return lambda rng, cells: 1 / (1 + np.exp(-(level + rng.normal(0, spread, cells))))


LAWS = (
    Law("no difference, rate .1", alike(0.1)),
    Law("no difference, rate .02, 1,500 rows", alike(0.02), 1_500),
    Law("no difference, rate .03, 8,000 rows", alike(0.03), 8_000),
    Law("no difference, rate .003, 5,000 rows", alike(0.003), 5_000),
    Law("no difference, rate .5, 300 rows, at least 5 a subgroup", alike(0.5), 300,
        asked={"min_rows": 5}),
    Law("no difference, rate .1, features that are copies of each other in 4 of 5 rows",
        alike(0.1, copies)),
    Law("no difference, rate .05, values of very different sizes", alike(0.05, uneven)),
    Law("no difference, half of the rows are negatives", alike(0.1), negatives=0.5),
    Law("two features that differ only jointly",
        by_rule(lambda c: np.where((c[:, 0] + c[:, 2]) % 2 == 0, 0.15, 0.05))),
    Law("one value 15 pp higher", by_rule(lambda c: 0.1 + 0.15 * (c[:, 2] == 0))),
    Law("rate .02, .5 in one subgroup of 1.7%",
        by_rule(lambda c: np.where((c[:, 1] == 0) & (c[:, 2] == 0) & (c[:, 3] == 0), 0.5, 0.02))),
    Law("every cell has a rate of its own (beta)",
        of_cells(lambda rng, cells: rng.beta(1, 9, cells))),
    Law("rate .005, odds very uneven, 2,000 rows", of_cells(_odds(1.5, -6.2)), 2_000),
    Law("rate .01, odds very uneven, 1,000 rows, at least 5 a subgroup",
        of_cells(_odds(1.5, -5.4)), 1_000, asked={"min_rows": 5}),
    Law("rate .95, odds uneven, values of very different sizes",
        of_cells(_odds(1.0, 3.3), uneven)),
    Law("odds are products of effects of values and of pairs", by_effects),
    Law("an ordered feature in 8, 4 and 2 bands and renamed, the rate rises with it",
        by_rule(lambda c: 0.05 + 0.02 * c[:, 0], banded), asked={"depth": 2}),
    Law("merged and split features, one value 12 pp higher",
        by_rule(lambda c: 0.1 + 0.12 * (c[:, 0] == 0), split), asked={"depth": 2}),
    Law("tolerance .05, one value 15 pp higher",
        by_rule(lambda c: 0.1 + 0.15 * (c[:, 2] == 0)), asked={"tolerance": 0.05}),
    Law("tolerance .05, twenty of forty values exactly at it, 8,000 rows", at_the_edge, 8_000,
        asked={"tolerance": 0.05}),
)  # fmt: skip


def with_gaps(rng: Generator, rows: int) -> Codes:
    """Draw features of which a tenth of the values are missing, one feature's with the others'."""
    codes = independent(rng, rows)
    missing = rng.random(codes.shape) < 0.1
    missing[:, 1] |= missing[:, 0]
    codes[missing] = -1
    return codes


def nested(rng: Generator, rows: int) -> Codes:
    """Draw towns of regions of countries, and another feature."""
    town = np.minimum(rng.geometric(0.12, rows) - 1, 11)
    return np.column_stack([town // 6, town // 3, town, rng.integers(0, 3, rows)])


def many_values(rng: Generator, rows: int) -> Codes:
    """Draw a feature of more values than are kept, and two others."""
    value = np.minimum(rng.geometric(0.03, rows) - 1, 80)
    return np.column_stack([value, rng.integers(0, 2, rows), rng.integers(0, 3, rows)])


FURTHER_LAWS = (
    Law("two subgroups that overlap, 15 pp higher together or alone",
        by_rule(lambda c: 0.1 + 0.15 * (((c[:, 1] == 0) & (c[:, 2] < 2)) | (c[:, 2] == 0)))),
    Law("one value of three in five rows 8 pp lower than all others",
        by_rule(lambda c: 0.2 - 0.08 * (c[:, 2] < 0.6 * 4))),
    Law("missing values, 12 pp higher where one is missing",
        by_rule(lambda c: 0.1 + 0.12 * (c[:, 0] < 0), with_gaps)),
    Law("towns in regions in countries, rate .002, .02 in one region, 6,000 rows",
        by_rule(lambda c: np.where(c[:, 1] == 1, 0.02, 0.002), nested), 6_000),
    Law("more than 50 values of a feature, none differs", alike(0.08, many_values)),
    Law("numbers cut into fifths, the rate rises with one",
        by_rule(lambda c: 0.05 + 0.001 * c[:, 0],
                lambda rng, rows: rng.integers(0, 200, (rows, 3))), numbers=True),
)  # fmt: skip


EVERY = (*LAWS, *FURTHER_LAWS)
"""In this order, by which tables are drawn."""


def searched(law: Law, rng: Generator) -> dict[str, float]:
    """Draw a table, search it, and return what happened."""
    codes, rates = law.drawn(rng, law.rows)
    negative = rng.random(law.rows) < law.negatives
    names = [f"f{i}" for i in range(codes.shape[1])]
    values = pl.DataFrame(codes, schema=names)
    if not law.numbers:  # texts are not cut
        texts = [pl.when(pl.col(name) >= 0).then(pl.col(name).cast(pl.String)) for name in names]
        values = values.select(*texts)
    frame = values.with_columns(
        y=pl.Series((~negative).astype(int)),
        p=pl.Series((rng.random(law.rows) < rates).astype(int)),
    )
    asked = {"label": "y", "prediction": "p", "positive": 1, "rate": "false_positive_rate",
             "features": names, **law.asked}  # fmt: skip
    together = {"intersections": [names]} if len(names) > 1 else {}
    counts = fg.count(frame, label="y", prediction="p", positive=1, sensitive=names, **together)
    exact = asked | {"tolerance": 0.0}
    sides = [fg.find(counts, worse=worse, **exact) for worse in ("higher", "lower")]
    inside = {
        (feature.name, value): rows_of_value
        for feature, column in zip(sides[0].question.features, codes[negative].T, strict=True)
        for value, rows_of_value in _rows_of_values(feature, column).items()
    }
    every = _every(sides)
    true = _differences(every, inside, rates[negative])
    low, high = (np.array([getattr(s, end) for s in every.values()]) for end in ("low", "high"))
    tolerance = law.asked.get("tolerance", 0.0)
    found = fg.find(counts, **asked) if tolerance else sides[0]
    claims = _by_conditions(found.worse)
    claimed = _differences(claims, inside, rates[negative])
    return {
        WRONG_WORSE: bool((claimed <= tolerance + _ROUNDING).any()),
        WRONG_NOT_WORSE: bool((true[high < tolerance] > tolerance + _ROUNDING).any()),
        LOW_FAILS: bool((low > true + _ROUNDING).any()),
        HIGH_FAILS: bool((high < true - _ROUNDING).any()),
        OUTSIDE: bool((low < -1).any() or (high > 1).any()),
        "subgroups": found.examined,
        "critical value": found.critical_value,
        "worse": float((true > tolerance + _ROUNDING).sum()),
        "found": len(claimed),
    }


def _rows_of_values(feature: SearchedFeature, column: Codes) -> dict[str, NDArray[np.bool_]]:
    """Return which rows have each value of a feature, by the name of the value."""
    if feature.cuts:
        at = np.searchsorted(feature.cuts, column, side="left")
        return {value: at == i for i, value in enumerate(feature.values)}
    texts = np.where(column < 0, "(missing)", column.astype(str))
    named = [value for value in feature.values if value != "other values"]
    found = {value: texts == value for value in named}
    if len(named) < len(feature.values):
        found["other values"] = ~np.isin(texts, named)
    return found


def _by_conditions(subgroups: tuple[Subgroup, ...]) -> dict[frozenset[tuple[str, str]], Subgroup]:
    return {frozenset(each.conditions.items()): each for each in subgroups}


def _every(sides: list[SubgroupSearch]) -> dict[frozenset[tuple[str, str]], Subgroup]:
    """Return every subgroup: what one side shows not to be worse, the other shows to be so."""
    found = {}
    for side in sides:
        assert len(side.undecided) == side.undecided_count
        found |= _by_conditions((*side.worse, *side.undecided))
    assert len(found) == sides[0].examined
    return found


def _differences(
    subgroups: Mapping[frozenset[tuple[str, str]], Subgroup],
    inside: Mapping[tuple[str, str], NDArray[np.bool_]],
    rates: Rates,
) -> Rates:
    """Return the true differences of subgroups to all other rows that count."""
    members = [np.logical_and.reduce([inside[each] for each in name]) for name in subgroups]
    n = np.array([each.sum() for each in members])
    sums = np.array([rates[each].sum() for each in members])
    return np.asarray(sums / n - (rates.sum() - sums) / (len(rates) - n))


def main() -> None:
    """Search what is missing of every law's tables, and write what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=TABLES)
    asked = parser.parse_args()
    for tables in range(0, asked.tables, _CHUNK):
        for number, law in enumerate(EVERY):
            record = _read().get(law.setting, {"tables": 0, "sums": {}})
            if record["tables"] > tables:
                continue
            rng = np.random.default_rng((2026, number, tables))
            sums = dict(record["sums"])
            for _ in range(_CHUNK):
                for name, value in searched(law, rng).items():
                    sums[name] = sums.get(name, 0) + value
            _write(law, tables + _CHUNK, sums)
            print(f"{law.setting}: {tables + _CHUNK} {sums}", flush=True)


def _read() -> dict[str, Any]:
    records = json.loads(COUNTS.read_text("utf-8")) if COUNTS.exists() else []
    return {record["setting"]: record for record in records}


def _write(law: Law, tables: int, sums: Mapping[str, float]) -> None:
    by_setting = _read()
    by_setting[law.setting] = {
        "setting": law.setting,
        "tables": tables,
        "sums": {name: round(float(value), 6) for name, value in sums.items()},
    }
    kept = [by_setting[each.setting] for each in EVERY if each.setting in by_setting]
    COUNTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
