"""Whole columns of files, in the order of the rows, are those that a data frame has."""

from __future__ import annotations

import csv
import gzip
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given

from fairgauge.errors import DataError
from fairgauge.scan.ordered_files import MISSING_TEXTS, first_rows, ordered_csv, ordered_parquet

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = st.sampled_from(["a", "b", "A", " a", "é", '"', "a,b", "x\ny", "true", "1x"])
WHOLE = st.integers(-(10**17), 10**17).map(str) | st.sampled_from(["01", "+5", "0", "-0", " 7"])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.sampled_from(
    ["1e5", "inf", "-inf"]
)
MISSING = st.sampled_from(sorted(MISSING_TEXTS))
COLUMNS = [WHOLE, WHOLE | MISSING, NUMBERS | WHOLE, NUMBERS | MISSING, TEXTS, TEXTS | MISSING]
COLUMNS += [st.sampled_from(["True", "False", "TRUE", "false"])]


def written(path: Path, rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, lineterminator="\n").writerows(rows)
    return path


@given(data=st.data(), count=st.integers(1, 12))
def test_columns_are_those_of_a_data_frame(
    data: st.DataObject, count: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cells = [data.draw(st.lists(each, min_size=count, max_size=count)) for each in COLUMNS]
    rows = [list(row) for row in zip(*cells, strict=True)]
    path = written(tmp_path_factory.mktemp("csv") / "data.csv", rows)
    frame = pd.read_csv(path, header=None)
    found = ordered_csv([(path, False)], len(COLUMNS), "data").encode(range(len(COLUMNS)))
    kinds = {"i": "integer", "f": "float", "b": "boolean"}
    for i, column in enumerate(found):
        codes, levels = pd.factorize(frame[i])
        assert column.type == kinds.get(frame[i].dtype.kind, "text"), cells[i]
        assert column.codes.tolist() == codes.tolist(), cells[i]
        # pandas 2.2 reads some numbers a unit in the last place off
        same = pytest.approx(levels, rel=1e-15) if column.type == "float" else levels.tolist()
        assert list(column.levels) == same, cells[i]


def test_numbers_of_many_digits_stay_apart(tmp_path: Path) -> None:
    path = written(tmp_path / "ids.csv", [["9007199254740993123"], ["9007199254740993124"]])
    (column,) = ordered_csv([(path, False)], 1, "ids").encode([0])
    assert column.levels == (9007199254740993123, 9007199254740993124)


def test_files_below_one_another_keep_their_order(tmp_path: Path) -> None:
    one = written(tmp_path / "1.csv", [["x", "y"], ["b", "1"], ["a", "2"]])
    two = written(tmp_path / "2.csv", [["c", "3"], ["a", "4"]])
    files = ordered_csv([(one, True), (two, False)], 2, "both")
    letters, numbers = files.encode([0, 1])
    assert letters.levels == ("b", "a", "c")
    assert letters.codes.tolist() == [0, 1, 2, 1]
    assert numbers.type == "integer"
    assert numbers.levels == (1, 2, 3, 4)
    assert files.rows == 4


def test_many_rows_stay_in_order(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    values = np.random.default_rng(0).permutation(300_000)
    path.write_text("".join(f"{v},k{v}\n" for v in values.tolist()))
    numbers, texts = ordered_csv([(path, False)], 2, "many").encode([0, 1])
    assert numbers.levels == tuple(values.tolist())
    assert np.array_equal(texts.codes, np.arange(len(values)))


def test_blank_lines_and_compression(tmp_path: Path) -> None:
    path = tmp_path / "one.csv.gz"
    path.write_bytes(gzip.compress(b"a\n\nb\n\n"))
    (column,) = ordered_csv([(path, False)], 1, "one").encode([0])
    assert column.levels == ("a", "b")
    assert first_rows(path, 5) == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1\n", "line 2: the header has 2 columns, this line 1"),
        (b'a,b\n1,"2\n', "a quote is not closed"),
        (b"a,b\n\xff\xfe,1\n", "not UTF-8"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        ordered_csv([(path, False)], 2, "bad.csv").encode([0, 1])


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    import datetime as dt

    values: dict[str, list[Any]] = {
        "text": ["1", "b", None],
        "whole": [3, 1, 3],
        "gaps": [3, None, 1],
        "number": [0.5, float("nan"), 0.5],
        "truth": [True, False, True],
        "list": [[1, 2], [1, 2], []],
        "day": [dt.date(2026, 1, 2)] * 3,
        "wide": [2**64 - 1, 1, 1],
    }
    pl.DataFrame(values, schema_overrides={"wide": pl.UInt64}).write_parquet(
        tmp_path / "data.parquet"
    )
    files, names = ordered_parquet([tmp_path / "data.parquet"], "data")
    assert names == list(values)
    found = dict(zip(names, files.encode(range(len(names))), strict=True))
    assert {name: each.type for name, each in found.items()} == {
        "text": "text", "whole": "integer", "gaps": "float", "number": "float",
        "truth": "boolean", "list": "text", "day": "text", "wide": "integer",
    }  # fmt: skip
    assert found["text"].codes.tolist() == [0, 1, -1]
    assert found["gaps"].levels == (3.0, 1.0)
    assert found["number"].codes.tolist() == [0, -1, 0]
    assert found["truth"].levels == (True, False)
    assert found["list"].levels == ("[1,2]", "[]")
    assert found["day"].levels == ("2026-01-02",)
    assert found["wide"].levels == (2**64 - 1, 1)


def test_parquet_files_of_other_columns_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"b": [1]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"different columns: 'a' in .* and 'b'"):
        ordered_parquet([tmp_path / "1.parquet", tmp_path / "2.parquet"], "both")
