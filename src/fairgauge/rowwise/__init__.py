"""Everything that needs the rows: metrics of single rows, exact scores, a look at the first rows.

Row metrics are computed for all rows, not within strata, and do not take weights.
"""

from fairgauge.rowwise._row_slices import RowReader

__all__ = ["RowReader"]
