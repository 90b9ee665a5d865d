"""Comparing: two reports, or models on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import Never, Unpack

from fairgauge.api.audit import counted
from fairgauge.catalogue.facts import described
from fairgauge.errors import Problem, SpecError
from fairgauge.measure.compare_models import compare_candidates
from fairgauge.measure.compare_reports import compare_reports
from fairgauge.question.option_docs import with_options
from fairgauge.question.options import Options
from fairgauge.question.spec_file import Config, with_config
from fairgauge.question.specification import MODELS_INSTEAD
from fairgauge.resolve.excluded_rows import excluded_rows
from fairgauge.resolve.outcomes import decide_task
from fairgauge.results.comparison import Comparison
from fairgauge.results.model_comparison import ComparedData, ModelComparison
from fairgauge.results.report import Report
from fairgauge.results.shown_result import made_now
from fairgauge.rowwise.paired_score_rows import read_paired_scores


def compare(
    old: Report | str | Path,
    new: Report | str | Path | None = None,
    *,
    same_rows: bool | None = None,
    **options: Never,
) -> Comparison:
    """Compare two reports: a candidate against the model in use, or this month against the last.

    Their rows are different ones, or the reports do not show which rows they share. Models that
    decide the same rows are compared by `fairgauge.compare_models`.

    Parameters
    ----------
    old, new : Report, str or Path
        The two reports, or the JSON files that they were saved to.
    same_rows : bool, optional
        Whether both rest on the same rows (two models on one table). Then the two estimates of a
        disparity depend on each other in a way that reports do not hold, and no change has an
        interval. Otherwise the rows are taken to be different, and the estimates independent. The
        default looks: the same counts, or groups of just the same sizes, are the same rows.
    **options
        None: two reports are compared as they are.

    Returns
    -------
    Comparison
        What was asked differently, the verdicts that changed, what became of every disparity, and
        what changed in the data; ``.worse`` states whether anything got statistically significantly
        worse.

    Raises
    ------
    DataError
        A file is missing or unreadable, or holds no report.
    SpecError
        The reports are about different labels, favourable values or tasks.

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
    """
    message = "two reports are compared as they are; give it to the audit that makes each of them"
    problems = [Problem(name, message) for name in options]
    if new is None or "candidate" in options:
        problems = [Problem("compare", f"takes two reports, old and new; {MODELS_INSTEAD}")]
    if problems:
        raise SpecError(problems)
    assert new is not None
    return compare_reports(old, new, same_rows=same_rows)


@with_options
def compare_models(
    data: object = None, *, config: Config = None, **options: Unpack[Options]
) -> ModelComparison:
    """Compare candidate models with the model in use on the same rows.

    The rows are counted once, by all decisions together; every change has a paired confidence
    interval.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        As of `fairgauge.audit`, with the decisions (or scores) of all models.
    {config}
    {options}

    Returns
    -------
    ModelComparison
        For each candidate whether it dominates the model in use, is better in what could be tested,
        is a trade-off, is worse or undecided, and the changes that this rests on.

    Raises
    ------
    SpecError
        No candidate is named, or the question is wrong.
    DataError
        The data cannot be read, or do not hold what is asked.

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({
    ...     "sex": ["F", "F", "F", "M", "M", "M"], "repaid": [1, 1, 0, 1, 1, 0],
    ...     "current": [0, 1, 0, 1, 1, 1], "boosted": [1, 1, 0, 1, 1, 0],
    ...     "n": [500, 1200, 2000, 1500, 300, 400],
    ... })
    >>> found = fg.compare_models(
    ...     rows, label="repaid", prediction="current", candidate="boosted", sensitive="sex",
    ...     count="n", margins={"accuracy": 0.01, "disparity": 0.05},
    ... )
    >>> print(found["boosted"].verdict)
    dominates
    """
    cube, source, spec = counted(data, (), with_config(config, options))
    if not spec.candidate:
        message = (
            "name the columns of the candidates' decisions (candidate=..., --candidate COL); two "
            "reports are compared by fg.compare(old, new), fairgauge compare OLD NEW"
        )
        raise SpecError(Problem("candidate", message))
    return ModelComparison(
        **made_now(),
        task=decide_task(cube, spec),
        data=ComparedData(
            source=source.name if source else "counts",
            fingerprint=cube.digest,
            rows=cube.rows,
            excluded=excluded_rows(cube, spec, cube.rows_by_level())[0],
        ),
        spec=spec.to_dict(),
        current=spec.prediction or spec.score or "",
        confidence=spec.confidence,
        candidates=compare_candidates(cube, spec, read_paired_scores(source, cube, spec)),
        own=tuple(map(described, spec.catalogue.own)),
    )
