"""One answer everywhere: what one place of the package prints, another confirms.

The formats of an audit are held together in test_invariants.py; here are the verbs and formats
that read what others write.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.render import render


def people(cells: list[tuple[int, float]]) -> pl.DataFrame:
    """Return two sexes of two races, as rows with a count."""
    names = [("F", "A"), ("F", "B"), ("M", "A"), ("M", "B")]
    counts = [
        (*name, hired, of)
        for name, (n, share) in zip(names, cells, strict=True)
        for hired, of in ((1, round(n * share)), (0, n - round(n * share)))
    ]
    return pl.DataFrame(counts, ["sex", "race", "hired", "n"], orient="row")


def drawn_tables() -> list[list[tuple[int, float]]]:
    """Return counts of few and of many people, with rates of 0 and 1 among them."""
    rng = np.random.default_rng(0)
    rates = [[0.0, 1.0, share][rng.integers(0, 3)] for share in rng.random(24)]
    sizes = [int(rng.integers(1, top + 1)) for top in (3, 3, 30, 30, 300, 300) for _ in range(4)]
    cells = list(zip(sizes, rates, strict=True))
    return [cells[i : i + 4] for i in range(0, 24, 4)]


@pytest.mark.each_value
@pytest.mark.parametrize(
    "cells",
    [
        # F & B has the highest rate, and too few people to be the reference
        [(163, 0.5), (19, 0.65), (197, 0.51), (98, 0.5)],
        # nobody has as many people as a reference needs
        [(7, 0.3), (15, 0.95), (13, 0.5), (17, 0.05)],
        # few rows are expected in a cell
        [(21, 0.33), (18, 0.33), (10, 0.2), (27, 0.08)],
        *drawn_tables(),
    ],
)
@pytest.mark.parametrize(("preset", "suffix"), [("nyc-ll144", "md"), ("ugesp", "html")])
def test_check_finds_no_error_in_tables_that_the_package_prints(
    cells: list[tuple[int, float]], preset: str, suffix: str, tmp_path: Path
) -> None:
    report = fg.audit(
        people(cells), preset=preset, prediction="hired", positive=1, count="n",
        sensitive=["sex", "race"],
    )  # fmt: skip
    report.save(path := tmp_path / f"audit.{suffix}")
    check = fg.check(path)
    assert check.errors == 0, render(check, "text")
    # of both features, and of both together, or what is to expect at equal rates
    assert len(check.tables) == 3


def test_the_table_of_all_groups_is_no_published_table(tmp_path: Path) -> None:
    """Its shares are of people, not of selected people."""
    report = fg.audit(people([(80, 0.5)] * 4), prediction="hired", positive=1, count="n",
                      sensitive="sex")  # fmt: skip
    (tmp_path / "groups.csv").write_text(render(report, "csv", table="groups"), encoding="utf-8")
    with pytest.raises(fg.DataError, match="without its tables to publish"):
        fg.check(tmp_path / "groups.csv")
