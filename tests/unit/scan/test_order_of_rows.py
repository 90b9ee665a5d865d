"""Rows are read in the order of the files, so that two columns and two runs agree."""

import pytest

from fairgauge.scan.input_files import open_files
from fairgauge.scan.row_codes import read_rows


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_rows_are_read_in_the_order_of_the_files(tmp_path, suffix):
    polars = pytest.importorskip("polars")
    rows, paths = polars.DataFrame({"file_row_number": range(400_000)}), []  # as DuckDB has it
    for part in (rows[:30_000], rows[30_000:]):
        paths.append(path := tmp_path / f"{len(paths)}.{suffix}")
        part.write_csv(path) if suffix == "csv" else part.write_parquet(path, row_group_size=20_000)
    source = open_files(paths)
    for most in (None, 150_000):
        read = read_rows(source, ["file_row_number"], most)["file_row_number"]
        assert read == list(range(most or 400_000))
