"""Published tables of selection rates: reading them, and checking their arithmetic.

`_table_files` reads grids of text, `_stated_columns` finds the columns that are stated,
`published_table` is the typed table, and `table_arithmetic` holds its numbers against each other.
"""
