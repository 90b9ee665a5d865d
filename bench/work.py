"""The work of fairgauge that is measured; one name, one job, run by `bench.measure`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.checks import ratios
from bench.data import CONTROLS, TENS, rows_file
from bench.growth import WORKS

Work = Callable[[], Any]
FEATURES: dict[str, Any] = {
    "label": "label",
    "prediction": "prediction",
    "positive": 1,
    "sensitive": ["race", "sex", {"column": "age", "cuts": [30, 60]}],
    "intersections": [("race", "sex", "age")],
    "weight": "weight",
}
_ONE: dict[str, Any] = {
    "label": "label",
    "prediction": "prediction",
    "positive": 1,
    "sensitive": "race",
    "metrics": "clarify",
}


_PAIRS = 25
_COLUMNS = ("race", "sex", "age", "label", "prediction", "weight")


def _place(rows: int, place: str) -> str:
    # a file of these rows: in a bucket, or of this suffix
    bucket = f"{place}/{rows_file(rows).name}"
    return bucket if place.startswith("s3:") else str(rows_file(rows, place))


def bare_scan(rows: int, place: str = ".parquet") -> Work:
    """Read the columns of the three features, label, prediction and weight, and no more."""
    import duckdb

    if place.startswith("s3:"):
        import fsspec

        duckdb.register_filesystem(fsspec.filesystem("s3"))
    asked = ", ".join(f"min({c}), max({c})" for c in _COLUMNS)
    # DuckDB answers from the statistics of the file alone, unless rows may be left out: none is
    query = f"SELECT {asked} FROM '{_place(rows, place)}' WHERE weight <> 0.70003"
    duckdb.sql(f"FROM '{_place(1_000, place)}'").fetchall()
    return lambda: duckdb.sql(query).fetchall()


_SCORED = FEATURES | {"score": "score", "threshold": 0.5}
del _SCORED["prediction"]


def bare_folder(folder: str) -> Work:
    """Read the columns of three features, label, score and weight of all files of a folder."""
    import duckdb

    columns = ("race", "sex", "age", "label", "score", "weight")
    asked = ", ".join(f"min({c}), max({c})" for c in columns)
    query = f"SELECT {asked} FROM '{folder}/*.parquet' WHERE weight <> 0.70003"
    return lambda: duckdb.sql(query).fetchall()


def count_folder(folder: str) -> Work:
    """Count all files of a folder as one table."""
    import fairgauge as fg

    fg.count(rows_file(1_000), **_SCORED)
    return lambda: fg.count(f"{folder}/*.parquet", **_SCORED)


def add_shards(folder: str) -> Work:
    """Count every file of a folder apart, and add the cubes up."""
    import fairgauge as fg

    fg.count(rows_file(1_000), **_SCORED)

    def added() -> Any:
        first, *others = sorted(Path(folder).glob("*.parquet"))
        total = fg.count(first, **_SCORED)
        for path in others:
            total = total.add(fg.count(path, **_SCORED), allow_duplicates=True)
        return total

    return added


def _bytes_and_digest(found: Any) -> str:
    digest = f", {found.digest[:15]}" if hasattr(found, "digest") else ""
    lines = Path("/proc/self/io").read_text().splitlines()
    read = next(int(line.split()[1]) for line in lines if line.startswith("rchar"))
    return f"{read / 1e6:,.0f} MB read{digest}"


def bare_arrow(rows: int) -> Work:
    """Read the same columns of an Arrow file by Arrow alone."""
    from pyarrow import compute, feather

    def work() -> Any:
        table = feather.read_table(_place(rows, ".arrow"), columns=[*_COLUMNS])
        return [compute.min_max(column).as_py() for column in table.columns]

    return work


def bare_wide(rows: int, question: str) -> Work:
    """Read the columns that ``find`` or ``why`` is asked about, and no more."""
    import duckdb

    columns = TENS if question == "find" else ["race", *CONTROLS]
    asked = ", ".join(f"min({c}), max({c})" for c in (*columns, "label", "prediction"))
    query = f"SELECT {asked} FROM '{rows_file(rows, wide=True)}'"
    duckdb.sql("SET disabled_optimizers = 'statistics_propagation'")  # else it reads nothing
    return lambda: duckdb.sql(query).fetchall()


def find(rows: int) -> Work:
    """Search all subgroups of up to three of ten features: 978,200."""
    import fairgauge as fg

    asked = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": TENS}
    fg.find(rows_file(10_000, wide=True), metrics="accuracy", **asked)
    return lambda: fg.find(rows_file(rows, wide=True), metrics="accuracy", **asked)


def why(rows: int) -> Work:
    """Decompose the gaps of five groups by four controls, of 400 combinations."""
    import fairgauge as fg

    asked = {"prediction": "prediction", "positive": 1, "sensitive": "race", "strata": [*CONTROLS]}
    fg.why(rows_file(10_000, wide=True), **asked)
    return lambda: fg.why(rows_file(rows, wide=True), **asked)


def cube(rows: int, place: str = ".parquet") -> Work:
    """Count three features and their intersection, weighted."""
    import fairgauge as fg

    path = _place(rows, place)
    fg.count(_place(1_000, place), **FEATURES)
    return lambda: fg.count(path, **FEATURES)


def _frame(rows: int, kind: str) -> Any:
    """Return race, label and prediction as a frame of some kind."""
    import duckdb

    table = duckdb.sql(f"SELECT race, label, prediction FROM '{rows_file(rows)}'")
    if kind.startswith("pandas"):
        return _pandas(table.df(), kind)
    if kind == "pyarrow":
        return table.to_arrow_table()
    if kind == "polars":
        return table.pl()
    import polars as pl

    return table.pl().with_columns(pl.col("race").cast(pl.Categorical))


def _pandas(frame: Any, kind: str) -> Any:
    import numpy as np
    import pandas as pd

    codes, names = pd.factorize(frame["race"])
    shared = np.array(names.tolist(), dtype=object)[codes]
    if kind == "pandas_objects":
        race = pd.Series(shared, dtype=object)
    elif kind == "pandas_own_objects":
        race = pd.Series([f"{text} "[:-1] for text in shared], dtype=object)
    elif kind == "pandas_categories":
        race = pd.Series(pd.Categorical.from_codes(codes, names))
    elif kind == "pandas_codes":
        race = pd.Series(codes)
    else:
        race = pd.Series(shared).astype("str")
    return frame.assign(race=race)


def count_frame(rows: int, kind: str) -> Work:
    """Count one feature of a frame."""
    import fairgauge as fg

    frame = _frame(rows, kind)
    fg.count(frame[:1_000], **_ONE)
    return lambda: fg.count(frame, **_ONE)


def count_file(rows: int, suffix: str) -> Work:
    """Count one feature of a file."""
    import fairgauge as fg

    path = rows_file(rows, suffix)
    fg.count(rows_file(1_000, suffix), **_ONE)
    return lambda: fg.count(path, **_ONE)


def bare_read(rows: int) -> Work:
    """Read the columns of one feature of a CSV file by DuckDB alone."""
    import duckdb

    of = ", ".join(f"min({c}), max({c})" for c in ("race", "label", "prediction"))
    query = f"SELECT {of} FROM '{{}}'"
    duckdb.sql(query.format(rows_file(1_000, ".csv"))).fetchall()
    return lambda: duckdb.sql(query.format(rows_file(rows, ".csv"))).fetchall()


def audit_frame(rows: int) -> Work:
    """Audit a pandas frame of text objects: all of Clarify's metrics, with intervals."""
    import fairgauge as fg

    frame = _frame(rows, "pandas_objects")
    fg.audit(frame[:1_000], **_ONE)
    return lambda: fg.audit(frame, **_ONE)


def warm_audit() -> Work:
    """Audit 2,000 rows in memory twenty times, each with its plain values."""
    import fairgauge as fg

    every = [_frame(2_000, "pyarrow").to_pydict() for _ in range(20)]
    for i, rows in enumerate(every):  # no two audits are of the same rows
        rows["label"][i] = 1 - rows["label"][i]

    def work() -> None:
        for rows in every:
            fg.audit(rows, **_ONE).to_dict()

    fg.audit(_frame(1_000, "pyarrow").to_pydict(), **_ONE).to_dict()
    return work


def checks(use: str, suffix: str, tries: int) -> Work:
    """Audit a file with its checks and without them in turn; the ratios of CPU are the answer."""
    return lambda: ratios(use, suffix, tries, "new", "all")


def growth(name: str, size: int) -> Work:
    """Do one of the works of `bench.growth`."""
    return WORKS[name][0](size)


def _differences(report: Any) -> str:
    """Return by how much the selection rate of each group exceeds that of all others."""
    every = (e for e in report.estimates if e.metric == "DPPL")
    return json.dumps({each.group: -each.value for each in every})


WORK: dict[str, Callable[..., Work]] = {
    each.__name__: each
    for each in (
        add_shards, audit_frame, bare_arrow, bare_folder, bare_read, bare_scan, bare_wide, checks,
        count_file, count_folder, count_frame, cube, find, growth, warm_audit, why,
    )
}  # fmt: skip
ANSWERS: dict[str, Callable[[Any], str]] = {"audit_frame": _differences, "checks": json.dumps}
ANSWERS |= dict.fromkeys(("add_shards", "bare_folder", "count_folder"), _bytes_and_digest)
