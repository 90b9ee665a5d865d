"""MLflow: a report in a run, as metrics, tags and artifacts."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from fairgauge.enums import Outcome, ScopeKind
from fairgauge.errors import CubeError, DataError, MissingExtra, SpecError

try:
    import mlflow
except ImportError as error:
    raise MissingExtra("logging to MLflow", "mlflow", error) from error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.report import Report

__all__ = ["log_report"]

_ILLEGAL = re.compile(r"[^\w\- .]")
_LONGEST_NAME = 250
_MOST_AT_ONCE = 1_000
_FORMATS = {"html": "html", "json": "json", "md": "markdown"}


def log_report(
    report: Report, name: str = "fairgauge", *, run_id: str | None = None
) -> dict[str, float]:
    """Log a report to an MLflow run.

    Logged are the report as HTML, JSON and Markdown (artifacts ``NAME/report.html`` ...), the page
    of `report.explore` where it can be made without counts of fewer than ten persons
    (``NAME/explore.html``), every finite estimate of all rows (metrics
    ``NAME/METRIC/FEATURE/GROUP``) with its limits (``.../low``, ``.../high``), the numbers of
    verdicts (``NAME/rules/fail`` ...) and the overall verdict (tag ``NAME.verdict``). Of names
    MLflow allows few characters: others are ``_``.

    Parameters
    ----------
    report : Report
        What `fairgauge.audit` returned.
    name : str
        What all names begin with, where a run holds several reports.
    run_id : str, optional
        The run; otherwise the active run, or a new one.

    Returns
    -------
    dict
        The metrics as they are logged.

    Examples
    --------
    >>> import fairgauge as fg
    >>> with mlflow.start_run():                                     # doctest: +SKIP
    ...     fg.mlflow.log_report(fg.audit("loans.csv", sensitive="sex", label="paid"))
    """
    from fairgauge.render.formats import render

    run = run_id or (mlflow.active_run() or mlflow.start_run()).info.run_id
    client = mlflow.MlflowClient()
    metrics = dict(_metric_values(report, name))
    items = list(metrics.items())
    for start in range(0, len(items), _MOST_AT_ONCE):
        mlflow.log_metrics(dict(items[start : start + _MOST_AT_ONCE]), run_id=run)
    client.set_tag(run, f"{name}.verdict", str(report.verdict))
    for suffix, format_ in _FORMATS.items():
        client.log_text(run, render(report, format_), f"{name}/report.{suffix}")
    with suppress(CubeError, SpecError, DataError):  # of no counts, or small ones
        client.log_text(run, report.explore().html, f"{name}/explore.html")
    return metrics


def _metric_values(report: Report, name: str) -> Iterator[tuple[str, float]]:
    taken: set[str] = set()
    for each in report.estimates:
        if each.scope.kind is ScopeKind.STRATUM or each.value is None:
            continue
        threshold = None if each.threshold is None else f"threshold {each.threshold:g}"
        scope = None if each.scope.kind is ScopeKind.OVERALL else str(each.scope.kind)
        of_class = " ".join(filter(None, (each.class_scope.average, each.class_scope.name)))
        parts = (each.metric, each.feature, each.group, scope, of_class, threshold)
        metric_key = "/".join([name, *(_allowed_name(str(part)) for part in parts if part)])[
            : _LONGEST_NAME - len("/high")
        ]
        key = _unique_key(metric_key, taken)
        numbers = each.value, *((each.interval.low, each.interval.high) if each.interval else ())
        for end, value in zip(("", "/low", "/high"), numbers, strict=False):
            if math.isfinite(value):
                yield f"{key}{end}", value
    for outcome in Outcome if report.verdicts else ():
        count = sum(verdict.outcome is outcome for verdict in report.verdicts)
        of = "ignored" if outcome is Outcome.NONE else outcome
        yield _unique_key(f"{name}/rules/{of}", taken), float(count)


def _allowed_name(part: str) -> str:
    """Return a part of a name in the characters that MLflow allows.

    >>> _allowed_name("(40, inf)"), _allowed_name("..")
    ('_40_ inf_', '_')
    """
    return _ILLEGAL.sub("_", part).strip(" .") or "_"


def _unique_key(key: str, taken: set[str]) -> str:
    numbered, number = key, 2
    while numbered in taken:
        numbered = f"{key[: _LONGEST_NAME - 8]} {number}"
        number += 1
    taken.add(numbered)
    return numbered
