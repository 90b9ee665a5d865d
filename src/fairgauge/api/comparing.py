"""Comparing: two reports, or models on the same rows."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Unpack, overload

from fairgauge.api.audit import counted
from fairgauge.catalogue.facts import described
from fairgauge.errors import Problem, SpecError
from fairgauge.measure.compare_models import compare_candidates
from fairgauge.measure.compare_reports import compare_reports
from fairgauge.question.option_docs import with_options
from fairgauge.resolve.outcomes import decide_task
from fairgauge.results.model_comparison import ModelComparison
from fairgauge.rowwise.paired_score_rows import read_paired_scores
from fairgauge.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from fairgauge.question.options import Options
    from fairgauge.results.comparison import Comparison
    from fairgauge.results.report import Report


@overload
def compare(
    old: Report | str | Path, new: Report | str | Path, *, same_rows: bool | None = None
) -> Comparison: ...


@overload
def compare(old: object, **options: Unpack[Options]) -> ModelComparison: ...


@with_options
def compare(
    old: object,
    new: Report | str | Path | None = None,
    *,
    same_rows: bool | None = None,
    **options: Unpack[Options],
) -> Comparison | ModelComparison:
    """Compare two reports, or candidate models with the model in use on the same rows.

    With two reports: a candidate against the model in use, or this month against the last; their
    rows are different ones. With data and ``candidate``: models that decide the same rows, which
    are counted once, by all decisions together; every change then has a paired confidence interval.

    Parameters
    ----------
    old : Report, str or Path; or data
        The first report, or the JSON file that it was saved to; or data, as of `fairgauge.audit`,
        that hold the decisions of all models.
    new : Report, str or Path, optional
        The second report; not with data.
    same_rows : bool, optional
        Of two reports: whether both rest on the same rows (two models on one table). Then the two
        estimates of a disparity depend on each other in a way that reports do not hold, and no
        change has an interval. Otherwise the rows are taken to be different, and the estimates
        independent. The default looks: the same counts, or groups of just the same sizes, are the
        same rows.
    {options}

    Returns
    -------
    Comparison
        Of two reports: what was asked differently, the verdicts that changed, what became of every
        disparity, and what changed in the data; ``.worse`` states whether anything got
        statistically significantly worse.
    ModelComparison
        Of models: for each candidate whether it dominates the model in use, is a trade-off, is
        worse or undecided, and the changes that this rests on.

    Raises
    ------
    DataError
        A file is missing or unreadable, or holds no report; the data cannot be read.
    SpecError
        The reports are about different labels, favourable values or tasks; the question is wrong.

    Examples
    --------
    >>> import fairgauge as fg
    >>> def report(tp, fn):
    ...     women = {"tp": tp, "fn": fn, "fp": 30, "tn": 300}
    ...     men = {"tp": 400, "fn": 100, "fp": 60, "tn": 500}
    ...     return fg.audit(fg.confusion("sex", {"F": women, "M": men}), metrics="RD")
    >>> found = fg.compare(report(250, 60), report(210, 110))
    >>> found.worse, found.changes[0].group, round(found.changes[0].change, 3)
    (True, 'F', 0.15)

    >>> import polars as pl
    >>> rows = pl.DataFrame({
    ...     "sex": ["F", "F", "F", "M", "M", "M"], "repaid": [1, 1, 0, 1, 1, 0],
    ...     "current": [0, 1, 0, 1, 1, 1], "boosted": [1, 1, 0, 1, 1, 0],
    ...     "n": [50, 120, 200, 150, 30, 40],
    ... })
    >>> found = fg.compare(
    ...     rows, label="repaid", prediction="current", candidate="boosted", sensitive="sex",
    ...     count="n", margins={"accuracy": 0.01},
    ... )
    >>> print(found["boosted"].verdict)
    dominates
    """
    if new is not None:
        if options:
            message = "two reports are compared as they are; options belong to data"
            raise SpecError([Problem(name, message) for name in options])
        return compare_reports(old, new, same_rows=same_rows)  # type: ignore[arg-type]
    return _compare_models(old, options)


def _compare_models(data: object, options: Options) -> ModelComparison:
    cube, source, spec = counted(data, (), options)
    if not spec.candidate:
        message = (
            "name the columns of the candidates' decisions (candidate, --candidate COL), or "
            "compare two reports"
        )
        raise SpecError(Problem("candidate", message))
    return ModelComparison(
        version=__version__,
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        task=decide_task(cube, spec),
        source=source.name if source else "counts",
        fingerprint=cube.digest,
        rows=cube.rows,
        excluded=dict(cube.excluded),
        spec=spec.to_dict(),
        current=spec.prediction or spec.score or "",
        confidence=spec.confidence,
        candidates=compare_candidates(cube, spec, read_paired_scores(source, cube, spec)),
        own=tuple(map(described, spec.catalogue.own)),
    )
