"""Pages and tables that are none are refused before any work."""

import pytest

from fairgauge.errors import DataError
from fairgauge_check.table_files import grids_of_text

TABLE = "<table><tr><th>sex<th>n<th>hired<tr><td>M<td>80<td>40<tr><td>F<td>60<td>20</table>"


def test_a_page_with_nul_or_of_too_many_signs_is_refused():
    for piece, message in (("\0", "NUL"), (", ", "more than 1,000,000 characters")):
        with pytest.raises(DataError, match=message):
            grids_of_text(TABLE + piece * 600_000, ".html")


@pytest.mark.parametrize("piece", ["<!--", "<![x", "\n", "<script>"])
def test_what_is_no_text_of_a_page_costs_nothing(piece):
    assert grids_of_text(TABLE + piece * 40_000, ".html")[0].rows[0] == ("M", "80", "40")


def test_a_table_of_many_rows_is_refused():
    text = "sex,n,hired\n" + "".join(f"g{i},80,40\n" for i in range(2_000))
    with pytest.raises(DataError, match="2,001 rows"):
        grids_of_text(text, ".csv")
