"""Predictions and the labels that came later, joined by an identifier.

Nothing is guessed: a row that is there twice is one, rows of one identifier that differ decide
nothing, and every row that is excluded is counted.
"""

from __future__ import annotations

from pathlib import Path

from fairgauge.atomic_files import private_folder
from fairgauge.errors import DataError, listing, quote, suggest
from fairgauge.scan._duckdb_relation import DuckRows, run
from fairgauge.scan._sql import identifier, literal
from fairgauge.scan.source import Source
from fairgauge.start.records import dataclass, replace

_FORMATS = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER"}


@dataclass(frozen=True, slots=True)
class DisjointIdentifiers:
    """An identifier of each of two files that have none in common: the first in text order."""

    predictions: str
    labels: str


@dataclass(frozen=True, slots=True)
class JoinCounts:
    """What became of the rows of a join.

    ``written``: rows of the result: the predictions, each with its label or without.
    ``unlabelled``: rows of the result without a label.
    ``repeated_predictions, repeated_labels``: rows that are there more than once, and count once.
    ``conflicting_predictions``: identifiers with different predictions, which are excluded.
    ``conflicting_labels``: identifiers with different labels, whose predictions have none.
    ``orphans``: labels without a prediction.
    ``unidentified``: rows without an identifier, which are excluded.
    ``disjoint``: an identifier of each file, where both have some and no label has a prediction.
    """

    written: int
    unlabelled: int
    repeated_predictions: int
    repeated_labels: int
    conflicting_predictions: int
    conflicting_labels: int
    orphans: int
    unidentified: int
    disjoint: DisjointIdentifiers | None = None


def join_labels(predictions: Source, labels: Source, on: str, output: str | Path) -> JoinCounts:
    """Put labels beside predictions by a column ``on``, and write both whole, or not at all."""
    # Identifiers are compared as text, so that ``01`` and ``1`` differ; of whole numbers that
    # became floating-point, as pandas writes them beside a missing one, ``1.0`` is ``1``. The rows
    # keep the order of the predictions.
    target = Path(output)
    if target.suffix.lower() not in _FORMATS:
        raise DataError(f"the output {quote(output)} is neither {' nor '.join(_FORMATS)}")
    tables = f"WITH {_side('p', predictions, on)}, {_side('l', labels, on)}"
    shared = [c for c in predictions.columns if c in labels.columns and c != on]
    if shared:
        raise DataError(
            f"predictions and labels both have {listing(shared)}; rename or remove one of them"
        )
    name = f"{predictions.name} and {labels.name}"
    *counts, labelled, prediction, label = next(run(f"{tables} {_COUNTS}", name))
    columns = [(f"p{i}", c) for i, c in enumerate(predictions.columns)]
    columns += [(f"l{i}", c) for i, c in enumerate(labels.columns) if c != on]
    chosen = ", ".join(f"{place} AS {identifier(column)}" for place, column in columns)
    query = f"{tables} SELECT {chosen} FROM p_one LEFT JOIN l_one USING (id) ORDER BY p_place"
    _write_joined(query, name, target)
    found = JoinCounts(*counts)
    if prediction is None or label is None or found.orphans != labelled:
        return found
    return replace(found, disjoint=DisjointIdentifiers(prediction, label))


def _side(name: str, source: Source, on: str) -> str:
    # write one side: its rows, each once with its first place, and the undisputed ones
    if not (isinstance(source, DuckRows) and source.plain):
        raise DataError(f"{quote(source.name)} is neither a CSV nor a Parquet file")
    if on not in source.columns:
        have = suggest(on, source.columns) or f" It has {listing(source.columns)}"
        raise DataError(f"{quote(source.name)} has no column {quote(on)}.{have}")
    written = source.written.key
    columns = ", ".join(f"{written(c)} AS {name}{i}" for i, c in enumerate(source.columns))
    own = f"{name}{source.columns.index(on)}"
    others = [f"{name}{i}" for i, c in enumerate(source.columns) if c != on]
    once = ", ".join(["id", *others])
    text = f"CAST({written(on)} AS VARCHAR)"
    return (
        f"{name}_all AS (SELECT regexp_replace({text}, '^(-?\\d+)\\.0+$', '\\1') AS id, "
        f"row_number() OVER () AS {name}_place, {columns} FROM {source.relation}), "
        f"{name}_each AS (SELECT {once}, min({name}_place) AS {name}_place, "
        f"arg_min({own}, {name}_place) AS {own} "
        f"FROM {name}_all WHERE id IS NOT NULL GROUP BY {once}), "
        f"{name}_twice AS (SELECT id FROM {name}_each GROUP BY id HAVING count(*) > 1), "
        f"{name}_one AS (SELECT * FROM {name}_each WHERE id NOT IN (FROM {name}_twice))"
    )


# the fields of `JoinCounts`, then the identifiers of the labels, and the first of each side.
_COUNTS = """SELECT
    (SELECT count(*) FROM p_one),
    (SELECT count(*) FROM p_one WHERE id NOT IN (SELECT id FROM l_one)),
    (SELECT count(id) FROM p_all) - (SELECT count(*) FROM p_each),
    (SELECT count(id) FROM l_all) - (SELECT count(*) FROM l_each),
    (SELECT count(*) FROM p_twice),
    (SELECT count(*) FROM l_twice),
    (SELECT count(DISTINCT id) FROM l_each WHERE id NOT IN (SELECT id FROM p_each)),
    (SELECT count(*) - count(id) FROM p_all) + (SELECT count(*) - count(id) FROM l_all),
    (SELECT count(DISTINCT id) FROM l_each),
    (SELECT min(id) FROM p_each),
    (SELECT min(id) FROM l_each)"""


def _write_joined(query: str, name: str, target: Path) -> None:
    try:
        with private_folder(target.parent) as folder:
            made = Path(folder, "rows")
            options = _FORMATS[target.suffix.lower()]
            for _ in run(f"COPY ({query}) TO {literal(str(made))} ({options})", name):
                pass
            made.replace(target)
    except OSError as error:
        raise DataError(f"cannot write {quote(target)}: {error.strerror or error}") from None
