"""Numbers in files, however they are written, are the same numbers in counts and in rows."""

from __future__ import annotations

import csv
import re
import shlex
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pytest

import fairgauge as fg

if TYPE_CHECKING:
    from pathlib import Path


def write(path: Path, special: str) -> str:
    rng = np.random.default_rng(3)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["g", "y", "s", "t", "p"])
        for i, score in enumerate(rng.random(300).tolist()):
            text = special if i == 7 else repr(score)
            target, answer = rng.normal(size=2).tolist()
            label = int(rng.random() < score)
            writer.writerow(["ab"[i % 2], label, text, repr(target), repr(answer)])
    return str(path)


SPELLINGS = ["0.25", "+0.25", ".25", "0.2500000000000001", " 0.25", "2.5e-1"]


@pytest.mark.parametrize("special", SPELLINGS)
def test_scores_of_any_spelling_count(tmp_path: Path, special: str) -> None:
    asked = {"label": "y", "positive": 1, "score": "s", "sensitive": "g", "metrics": ["roc_auc"]}
    plain = fg.audit(write(tmp_path / "plain.csv", "0.25"), **asked)
    other = fg.audit(write(tmp_path / "other.csv", special), **asked)
    ours, theirs = (
        [group.rates["roc_auc"].value for group in report.groups] for report in (plain, other)
    )
    assert None not in ours
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_a_score_that_is_nan_is_missing(tmp_path: Path) -> None:
    asked = {"label": "y", "positive": 1, "score": "s", "sensitive": "g", "metrics": ["roc_auc"]}
    report = fg.audit(write(tmp_path / "rows.csv", "NaN"), **asked)
    assert report.data.excluded == {"missing score": 1}
    assert all(group.rates["roc_auc"].value is not None for group in report.groups)


def test_floats_of_full_precision_are_a_regression(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.csv", "0.5")
    report = fg.audit(path, label="t", prediction="p", sensitive="g", metrics=["mean_error"])
    assert report.task == "regression"


def parquet(rows: pl.DataFrame, folder: Path) -> Path:
    rows.write_parquet(folder / "rows.parquet")
    return folder / "rows.parquet"


ENGINES = {
    "parquet": parquet,
    "pandas": lambda rows, _: rows.to_pandas(),
    "pandas objects": lambda rows, _: rows.to_pandas().astype(
        {"n": object if rows["n"].dtype == pl.String else int}
    ),
    "polars": lambda rows, _: rows,
    "arrow": lambda rows, _: rows.to_arrow(),
    "duckdb": lambda rows, _: duckdb.sql("SELECT * FROM rows"),
}
DECIDED = {"prediction": "p", "positive": 1, "sensitive": "g"}
ROLES: dict[str, dict[str, Any]] = {
    "weight": DECIDED | {"weight": "n"},
    "count": DECIDED | {"count": "n"},
    "probability": DECIDED | {"sensitive": {"of": fg.probabilities(A="n", B="b")}},
    "score": {"label": "p", "positive": 1, "score": "n", "sensitive": "g", "score_range": (0, 9)},
    "label": {"label": "n", "task": "regression", "sensitive": "g"},
    "feature": DECIDED | {"sensitive": fg.cut("n", [1])},
    "stratum": DECIDED | {"strata": fg.cut("n", [1])},
    "condition": DECIDED | {"where": "n >= 0"},
}


@pytest.mark.parametrize("engine", ["parquet", "pandas objects"])
@pytest.mark.parametrize("role", ROLES)
def test_what_to_do_with_a_column_of_texts_works_in_its_role(
    tmp_path: Path, role: str, engine: str
) -> None:
    rows = pl.DataFrame(
        {"g": ["a", "b"] * 20, "p": [0, 1, 1, 0] * 10, "b": [0.0, 1.0] * 20, "n": ["1", "0"] * 20}
    )
    asked = ROLES[role]
    with pytest.raises(fg.DataError, match="'n' must hold numbers, but has the type") as error:
        fg.audit(ENGINES[engine](rows, tmp_path), **asked)
    line = re.search(r"--recode .* (?=\(recode\))", str(error.value))
    if role in ("weight", "count", "probability"):
        assert "; make it a column of numbers in the data" in str(error.value)
        assert line is None
        rows = rows.cast({"n": pl.Int64})
    else:
        assert line is not None
        asked = asked | {"recode": shlex.split(line[0])[1]}
    assert fg.audit(ENGINES[engine](rows, tmp_path), **asked).data.rows == 40


def test_a_score_just_outside_its_range_is_shown_as_it_is() -> None:
    """The message was that a score of 1 does not lie in [0, 1]."""
    rows = pl.DataFrame({"y": [1, 0], "g": ["a", "b"], "s": [0.5, 1.000000001]})
    with pytest.raises(fg.FairgaugeError, match=r"in \[0, 1\], but has 1\.000000001; "):
        fg.count(rows, label="y", score="s", sensitive="g")


@pytest.mark.parametrize("typed", [False, True])
def test_cut_points_of_a_column_of_texts(tmp_path: Path, *, typed: bool) -> None:
    """The advice was to list every value as unknown, which was refused in turn."""
    rows = pl.DataFrame({"y": [1, 0] * 9, "sex": ["Female", "Male"] * 9, "n": ["7", "old"] * 9})
    rows.write_csv(tmp_path / "rows.csv")
    data = rows if typed else tmp_path / "rows.csv"
    remedy = "to compare the values of the column, name it without them"
    with pytest.raises(fg.FairgaugeError, match=remedy) as caught:
        fg.count(data, label="y", sensitive={"column": "sex", "cuts": [1, 2]})
    assert typed or "unknown" not in str(caught.value)
    with pytest.raises(fg.FairgaugeError, match=r"listed as unknown.*--recode 'n = ") as caught:
        fg.count(data, label="y", sensitive={"column": "n", "cuts": [1, 2]})
    assert typed or remedy not in str(caught.value)


@pytest.mark.parametrize("yes", ["Yes", "yes "])
def test_decisions_in_another_spelling_than_the_label_may_be_recoded(yes: str) -> None:
    rows = pl.DataFrame({"y": ["yes", "no"] * 9, "p": [yes, yes] * 9, "g": [*"ab"] * 9})
    asked = {"label": "y", "prediction": "p", "positive": "yes", "sensitive": "g"}
    with pytest.raises(fg.SpecError, match=r"or use the same in both \(recode\)"):
        fg.audit(rows, **asked)
    fg.audit(rows, **asked, recode={"p": {"yes": [yes]}})
