"""Published tables of selection rates: reading them, and checking their arithmetic.

`table_files` reads grids of text, `columns` finds what each column is, `tables` makes the typed
table, and `arithmetic` and `margins` hold its numbers against each other.
"""
