"""Columns made of probabilities of groups, to be counted like others: the cell and whole sums.

The cell numbers where the probabilities of a row are on a grid of 1/20, with a place of its own for
1. What is summed for a group is its probability times 2 to the 30th, rounded: sums of whole
numbers do not depend on the order of rows, so that shards add up digit for digit. The mean of a
cell is what is estimated with, so that the grid costs information and makes no bias.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.cube.cube import Cube
from fairgauge.enums import Role
from fairgauge.errors import DataError, Problem, SpecError, quote, refuse
from fairgauge.question.probabilities import Probabilities
from fairgauge.question.specification import Spec
from fairgauge.scan._arrays import Arrays
from fairgauge.scan._probability_tables import (
    OFF,
    OUTSIDE,
    PARTLY_MISSING,
    ProbabilityTable,
    described,
    part_names,
    read_table,
    unmatched,
    wrong_probabilities,
    wrong_rows,
)
from fairgauge.scan._sql import Columns, identifier
from fairgauge.scan.row_access import numbers_of, read_rows
from fairgauge.scan.source import Source, readable

GRID = 20
BASE = GRID + 1
WHOLE = 2.0**30
_ROUNDED = 1e-9
_FIRST_ROWS = 3


def with_probabilities(source: Source, spec: Spec) -> Source:
    """Return a source with the columns that are counted of probabilities.

    Raises
    ------
    SpecError
        A column has the name of one of these.
    DataError
        The data are of an engine in which they are not made.
    """
    for i, feature in enumerate(spec.probabilities):
        path = f"probabilities[{i}]"
        for name in _names(feature):
            if name in source.columns:
                message = f"there is a column {quote(name)} already; rename it"
                raise SpecError(Problem(f"{path}.name", message))
        table = read_table(feature, path) if feature.table else None
        source = _with_feature(source, feature, table)
    return source


def _names(feature: Probabilities) -> list[str]:
    return [*feature.summed, feature.cell]


def _with_feature(source: Source, feature: Probabilities, table: ProbabilityTable | None) -> Source:
    from fairgauge.scan._duckdb_files import DuckFiles

    if isinstance(source, DuckFiles) and source.plain:
        written, relation = _written(source.written, feature), source.relation
        stages = _stages(source.written, feature)
        if table is not None:
            relation = table.joined(relation, source.written.key(table.on), [*stages.pop(0)])
        for stage in stages:
            made = ", ".join(f"{text} AS {name}" for name, text in stage.items())
            relation = f"(SELECT *, {made} FROM {relation})"
        columns = (*source.columns, *_names(feature))
        return replace(source, columns=columns, relation=relation, written=written)
    from fairgauge.scan._duckdb_relation import Relation, open_relation

    if isinstance(source, Arrays):
        source = source.relation()
    if isinstance(source, Relation) and table is None:
        rows, stages = source.relation, _stages(source.written(), feature)
        for stage in stages:
            made = ", ".join(f"{text} AS {name}" for name, text in stage.items())
            rows = rows.project(f"*, {made}")
        parts = ", ".join(name for stage in stages[:3] for name in stage)
        return open_relation(rows.project(f"* EXCLUDE ({parts})"), source.name)
    from fairgauge.scan._narwhals import NarwhalsFrame

    if isinstance(source, NarwhalsFrame) and (table is None or source.at_hand):
        return NarwhalsFrame(source.name, _derived(source.frame, feature, table))
    if type(source).__name__ == "PandasFrame":
        import narwhals.stable.v2 as nw

        from fairgauge.scan._pandas import PandasFrame

        assert isinstance(source, PandasFrame)
        frame = nw.from_native(source.frame)
        return PandasFrame(source.name, _derived(frame, feature, table).to_native())
    if table is not None:
        raise DataError(
            f"a table of probabilities is joined to CSV and Parquet files and to frames of pandas, "
            f"polars and pyarrow, not to {quote(source.name)}; join it before, and name the columns"
        )
    raise DataError(
        f"probabilities of groups are counted in files and in frames of pandas, polars, pyarrow "
        f"and DuckDB, not in {quote(source.name)}; read the rows into one of them, or into a file"
    )


def check_cells(cube: Cube, source: Source, spec: Spec) -> None:
    """Refuse rows whose probabilities are none, all problems at once."""
    problems = []
    for i, feature in enumerate(spec.probabilities):
        axis = cube.plan.axis(Role.PROXY, feature.cell)
        assert axis is not None
        table = cube.marginal([axis])
        if feature.table and not (table.codes >= 0).any() and readable(source):
            keys = read_rows(source, [str(feature.on)], _FIRST_ROWS)[str(feature.on)]
            problems.append(Problem(f"probabilities[{i}].on", unmatched(feature, keys)))
        for position, level in enumerate(cube.levels[axis]):
            if isinstance(level, int) and level < 0:
                rows = int(table.sums["rows"][table.codes[:, 0] == position].sum())
                message = wrong_probabilities(level, rows, _first(level, source, feature), feature)
                problems.append(Problem(f"probabilities[{i}]", message))
    refuse(problems)


def _first(kind: int, source: Source, feature: Probabilities) -> tuple[int, str] | None:
    """Return the first row of a kind and its probabilities; None where rows cannot be read."""
    if not readable(source):
        return None
    names = [column for _, column in feature.columns]
    rows = read_rows(source, names, None)
    p = np.stack([numbers_of(rows[name]) for name in names], axis=1)
    return described(wrong_rows(p, feature.tolerance)[kind], p, feature, kind)


def _written(own: Columns, feature: Probabilities) -> Columns:
    """Return how columns are written, those of probabilities among them."""
    parts = () if feature.table else feature.columns
    wrong = {feature.sum_of(group): own.wrong(column) for group, column in parts}
    made = {
        name: (key := identifier(name), f"CAST({key} AS {own.double})", wrong.get(name))
        for name in _names(feature)
    }
    return own.beside(made)


def _stages(columns: Columns, feature: Probabilities) -> list[dict[str, str]]:
    """Write the columns of a feature in SQL, each stage from the columns of those before.

    DuckDB computes what is written twice inside of CASE twice, and so each part has a column. What
    is wrong with a row is asked only where something is: the functions of several columns are slow.
    """
    p = part_names(feature)
    total, state = (identifier(f"{feature.name} ({part})") for part in ("total", "state"))
    least, most = f"least({', '.join(p)})", f"greatest({', '.join(p)})"
    inside = " AND ".join(f"{each} BETWEEN 0 AND 1" for each in p)
    tolerance, whole = columns.constant(feature.tolerance), columns.constant(WHOLE)
    half, rounded = columns.constant(0.5), columns.constant(_ROUNDED)
    sums = [identifier(feature.sum_of(group)) for group in feature.groups]
    along = columns.constant(GRID / WHOLE)  # a double exactly, and so are the products
    places = " + ".join(
        f"floor({each} * {along}) * {columns.constant(float(BASE**i))}"
        for i, each in enumerate(sums)
    )
    cell = f"CASE WHEN {state} = 0 THEN CAST({places} AS BIGINT) ELSE {state} END"
    return [
        {
            each: "" if feature.table else columns.number(c)
            for each, (_, c) in zip(p, feature.columns, strict=True)
        },
        {total: " + ".join(p)},
        {
            state: (  # of least and greatest missing values are no part, of the total they are
                f"CASE WHEN {inside} AND abs({total} - 1) <= {tolerance} THEN 0 "
                f"WHEN {least} IS NULL THEN NULL "
                f"WHEN {total} IS NULL THEN {PARTLY_MISSING} "
                f"WHEN {least} < 0 OR {most} > 1 THEN {OUTSIDE} ELSE {OFF} END"
            )
        },
        {
            **{
                sum_: f"CASE WHEN {state} = 0 THEN floor({each} / {total} * {whole} + {half}) "
                "ELSE 0 END"
                for sum_, each in zip(sums, p, strict=True)
            },
            identifier(feature.rounded): (
                f"CASE WHEN {state} = 0 AND abs({total} - 1) > {rounded} THEN 1 ELSE 0 END"
            ),
        },
        {identifier(feature.cell): cell},
    ]


def _derived(frame: Any, feature: Probabilities, table: ProbabilityTable | None) -> Any:
    """Add the columns of a feature to a frame that narwhals knows, in the same arithmetic."""
    import narwhals.stable.v2 as nw

    from fairgauge.scan._narwhals import as_flag, as_number, check_numeric

    size = len(feature.columns)
    p = [f"fg p{i}" for i in range(size)]
    read = [column for _, column in feature.columns]
    if table is not None:
        frame, read = table.beside(frame, p), p
    schema = frame.collect_schema()
    for column in read:
        check_numeric(column, schema[column])

    added = partial(reduce, operator.add)
    made = frame.with_columns(**{name: as_number(c) for name, c in zip(p, read, strict=True)})
    made = made.with_columns(
        **{
            "fg total": added([nw.col(name) for name in p]),
            "fg missing": added([as_flag(nw.col(name).is_null()) for name in p]),
            "fg outside": added([as_flag(nw.col(n) < 0) + as_flag(nw.col(n) > 1) for n in p]),
        }
    )
    distance = (nw.col("fg total") - 1).abs()
    made = made.with_columns(**{"fg off": as_flag(distance > feature.tolerance)})
    right = (nw.col("fg missing") + nw.col("fg outside") + nw.col("fg off")) == 0
    sums = [feature.sum_of(group) for group in feature.groups]
    zero = nw.lit(0.0)
    made = made.with_columns(
        **{
            total: nw.when(right)
            .then((nw.col(name) / nw.col("fg total") * WHOLE + 0.5).floor())
            .otherwise(zero)
            for total, name in zip(sums, p, strict=True)
        },
        **{
            feature.rounded: nw.when(right & (distance > _ROUNDED))
            .then(nw.lit(1.0))
            .otherwise(zero)
        },
    )
    cell = added(
        [(nw.col(n) * GRID / WHOLE).floor().cast(nw.Int64) * BASE**i for i, n in enumerate(sums)]
    )
    whole: nw.Expr = nw.when(right).then(cell)
    for condition, code in (
        (nw.col("fg off") > 0, OFF),
        (nw.col("fg outside") > 0, OUTSIDE),
        (nw.col("fg missing") > 0, PARTLY_MISSING),
    ):
        whole = nw.when(condition).then(nw.lit(code, nw.Int64)).otherwise(whole)
    every = nw.col("fg missing") == size
    made = made.with_columns(**{feature.cell: nw.when(~every).then(whole)})
    return made.drop([*p, "fg total", "fg missing", "fg outside", "fg off"])


def digits_of(cells: list[int], groups: int) -> NDArray[np.int64]:
    """Return the place of the probability of every group in each cell."""
    places = np.array(cells, dtype=np.int64)[:, None] // BASE ** np.arange(groups, dtype=np.int64)
    return places % BASE
