"""Individual: the metrics of single rows, computed from the rows themselves.

They are computed for all rows, not within strata, and do not take weights.
"""

from fairgauge.rowwise.row_reader import RowReader, measure_rows

__all__ = ["RowReader", "measure_rows"]
