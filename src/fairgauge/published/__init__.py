"""Published tables of selection rates: reading them, and checking their arithmetic.

`_table_files` reads grids of text, `_told_columns` the columns that are told, `published_table` is
the typed table, and `table_arithmetic` holds its numbers against each other.
"""
