"""A file for every command; each holds a click command named ``command``.

The files are found by listing this folder, and all of them are imported for ``--help``: whatever
takes long to import (numpy, duckdb ...) is imported inside the functions that need it.
"""
