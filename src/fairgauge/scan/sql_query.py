"""Rows that a database holds, named by its URL; nothing is opened until they are counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

_SIGNATURES = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
"""Where the signature of a file of a database begins, and what it is."""


@dataclass(frozen=True, slots=True)
class Query:
    """A table or a SELECT of a database; see `sql`."""

    url: str = field(repr=False)
    rows: str


def sql(url: str, rows: str) -> Query:
    """Name rows in a database, to be counted where they are.

    Parameters
    ----------
    url : str
        ``postgresql://user@host/name``, ``mysql://user@host/name``, ``sqlite:///file.db``,
        ``duckdb:///file.duckdb``, or any other URL that ibis connects to. A password in it
        is never shown.
    rows : str
        A table (``people``, ``schema.people``) or a SELECT.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.sql("postgresql://me@localhost/bank", "loans")
    Query(rows='loans')
    """
    return Query(url, rows)


def database_url(path: str | Path) -> str | None:
    """Return the URL of a file that is a database, None where it is something else."""
    try:
        with Path(path).open("rb") as handle:
            head = handle.read(16)
    except (OSError, ValueError):
        return None
    for scheme, (start, signature) in _SIGNATURES.items():
        if head[start:].startswith(signature):
            return f"{scheme}:///{path}"
    return None
