"""Rows are read in the order of the file, so that two columns and two runs agree."""

import pytest

from fairgauge.scan.input_files import open_files
from fairgauge.scan.row_codes import read_rows


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_rows_are_read_in_the_order_of_the_file(tmp_path, suffix):
    polars = pytest.importorskip("polars")
    path = tmp_path / f"rows.{suffix}"
    rows = polars.DataFrame({"at": range(400_000)})
    rows.write_csv(path) if suffix == "csv" else rows.write_parquet(path, row_group_size=20_000)
    source = open_files([path])
    for most in (None, 150_000):
        assert read_rows(source, ["at"], most)["at"] == list(range(most or 400_000))
