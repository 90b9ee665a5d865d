"""Rows that a database holds, named by its URL; nothing is opened until they are counted."""

from __future__ import annotations

from dataclasses import dataclass, field


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
        ``postgresql://user@host/name``, ``sqlite:///file.db``, ``duckdb:///file.duckdb``, or any
        other URL that ibis connects to. A password in it is never shown.
    rows : str
        A table (``people``, ``schema.people``) or a SELECT.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.sql("postgresql://me@localhost/bank", "loans")
    Query(rows='loans')
    """
    return Query(url, rows)
