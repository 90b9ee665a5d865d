"""The work of fairgauge that is measured; one name, one job, run by `bench.measure`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bench.clarify_job import clarify, flip_test
from bench.data import CANDIDATES, models_file, rows_file

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


def bare_scan(rows: int) -> Work:
    """Read the columns of the three features, label, prediction and weight, and no more."""
    import duckdb

    columns = ("race", "sex", "age", "label", "prediction", "weight")
    asked = ", ".join(f"min({c}), max({c})" for c in columns)
    query = f"SELECT {asked} FROM '{rows_file(rows)}'"
    duckdb.sql(f"FROM '{rows_file(1_000)}'").fetchall()
    return lambda: duckdb.sql(query).fetchall()


def cube(rows: int) -> Work:
    """Count three features and their intersection, weighted, from Parquet."""
    import fairgauge as fg

    path = rows_file(rows)
    fg.count(rows_file(1_000), **FEATURES)
    return lambda: fg.count(path, **FEATURES)


def report_of_cube(rows: int) -> Work:
    """Make a report of a cube that was counted before."""
    import fairgauge as fg

    counted = fg.count(rows_file(rows), **FEATURES)
    fg.audit(fg.count(rows_file(1_000), **FEATURES))
    return lambda: fg.audit(counted)


def audit_model(rows: int) -> Work:
    """Audit one model: three features and their intersection, weighted, from Parquet."""
    import fairgauge as fg

    path = models_file(rows)
    fg.audit(models_file(1_000), **FEATURES)
    return lambda: fg.audit(path, **FEATURES)


def compare_models(rows: int) -> Work:
    """Compare four candidates with the model in use on the same rows, with a margin."""
    import fairgauge as fg

    path = models_file(rows)
    asked = {**FEATURES, "candidate": list(CANDIDATES), "margins": {"accuracy": 0.01}}
    fg.compare_models(models_file(1_000), **asked)
    return lambda: fg.compare_models(path, **asked)


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


def audit_frame(rows: int, method: str) -> Work:
    """Audit a pandas frame of text objects: all of Clarify's metrics, with intervals."""
    import fairgauge as fg

    frame = _frame(rows, "pandas_objects")
    fg.audit(frame[:1_000], **_ONE, method=method)
    return lambda: fg.audit(frame, **_ONE, method=method)


def audit_input(rows: int, kind: str, sure: str) -> Work:
    """Audit a frame or a file, two features: "with" intervals and p-values, or "without"."""
    import fairgauge as fg

    if sure == "without":
        _without_intervals()
    asked = {k: v for k, v in _ONE.items() if k != "metrics"}
    small, data = (
        (rows_file(n, kind) for n in (1_000, rows))
        if kind.startswith(".")
        else (_frame(n, kind) for n in (1_000, rows))
    )
    fg.audit(small, **asked)
    fg.audit(small, **asked)  # what is made once for a process is not a cost of intervals,
    time.sleep(0.5)  # nor are the threads of libraries, which spin for a while once loaded
    return lambda: fg.audit(data, **asked)


def _without_intervals() -> None:
    """Let fairgauge return no interval wherever it would compute one."""
    from importlib import import_module

    from fairgauge.inference.interval import no_intervals
    from fairgauge.inference.uncertainty import Uncertainty
    from fairgauge.reasons import Reason, ReasonCode

    unknown = Reason.of(ReasonCode.NO_METHOD, of="a benchmark without intervals")
    answers: dict[str, Callable[..., Any]] = {
        "of_rates": lambda _, every, __, margin: [
            (no_intervals(len(margin), unknown), None) for _ in every
        ],
        "of_metric": lambda _, __, ___, value: no_intervals(len(value), unknown),
        "of_feature": lambda _, __, ___, slots, ____: no_intervals(slots, unknown),
    }
    for name, answer in answers.items():
        setattr(Uncertainty, name, answer)
    for name in ("homogeneity_notes", "pairwise"):
        setattr(import_module("fairgauge.measure.measure"), name, lambda *_: [])


WORK: dict[str, Callable[..., Work]] = {
    each.__name__: each
    for each in (
        bare_scan,
        cube,
        report_of_cube,
        audit_model,
        compare_models,
        count_frame,
        count_file,
        audit_frame,
        audit_input,
        clarify,
        flip_test,
    )
}
