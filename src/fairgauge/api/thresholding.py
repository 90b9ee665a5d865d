"""Thresholds of a score: specify, count, choose."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from fairgauge.api.audit import counted, repeated_people
from fairgauge.enums import Better, Threshold
from fairgauge.errors import Problem, SpecError, quote
from fairgauge.measure.choose_thresholds import choose_thresholds
from fairgauge.question.argument_syntax import parse_number
from fairgauge.question.option_docs import with_options
from fairgauge.question.option_types import read_margins
from fairgauge.question.rules import Rule, parse_rule
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.threshold_choice import ThresholdChoice
from fairgauge.version import __version__

if TYPE_CHECKING:
    from fairgauge.question.options import Options
    from fairgauge.question.specification import Spec

_KEEP = re.compile(r"\s*(?P<rate>\S+)\s+within\s+(?P<margin>[0-9.eE+-]+)\s*")


@with_options
def thresholds(
    data: object,
    *,
    goal: str | Rule,
    keep: str | Mapping[str, float] = "accuracy within 0.01",
    **options: Unpack[Options],
) -> ThresholdChoice:
    """Find the threshold of a score, closest to today's, that meets a fairness goal.

    Every threshold is weighed by the counts of scores alone: one random half of the rows chooses,
    the other half measures what the choice changes against today's threshold.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        As of `fairgauge.audit`, with a label, a score and sensitive features; thresholds are chosen
        for each feature and intersection by itself.
    goal : str or Rule
        What every group must meet: a difference or a ratio of a rate of decisions, such as
        ``"selection_rate.ratio >= 0.8"``; equalized odds as ``"worst_odds <= 0.1"``, the larger
        difference in true and in false positive rate.
    keep : str or mapping, default "accuracy within 0.01"
        The rate of all rows that may be worse by a margin at most.
    {options}

    Returns
    -------
    ThresholdChoice
        The frontier of all common thresholds; the choice, what it changes and its price; thresholds
        of each group, which are disparate treatment in many places; weights for retraining.

    Raises
    ------
    SpecError
        The goal or what is kept cannot be weighed, or the question is wrong.
    DataError
        The data cannot be read, or do not hold what is asked.

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({
    ...     "sex": ["F", "F", "F", "F", "M", "M", "M", "M"], "repaid": [1, 1, 0, 0, 1, 1, 0, 0],
    ...     "score": [0.45, 0.45, 0.3, 0.1, 0.9, 0.6, 0.3, 0.1], "n": [50] * 8,
    ... })
    >>> found = fg.thresholds(
    ...     rows, label="repaid", score="score", sensitive="sex", count="n",
    ...     goal="selection_rate.ratio >= 0.8",
    ... )
    >>> found.today, found["sex"].common.thresholds["F"], found["sex"].common.value_meets
    (0.5, 0.45, True)
    """
    rule = parse_rule(goal) if isinstance(goal, str) else goal
    if rule.alternatives:
        limits = " or ".join(quote(str(each)) for each in rule.limits)
        message = f"has alternatives, of which thresholds are chosen for one at a time: {limits}"
        raise SpecError(Problem("goal", message))
    rate, margin = _kept(keep)
    cube, source, spec = counted(data, (), options)
    _check(spec, rate)
    chosen = choose_thresholds(cube, spec, rule, rate, margin)
    repeated = (
        Diagnostic.warning(each.code, each.feature, choosing=True, **dict(each.parameters))
        for each in repeated_people(source, spec)
    )
    assert spec.score is not None
    assert isinstance(spec.threshold, tuple)
    return ThresholdChoice(
        version=__version__,
        created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        source=source.name if source else "counts",
        rows=cube.cases,
        score=spec.score,
        accepts=chosen.accepts,
        today=spec.threshold[0],
        goal=str(rule),
        kept=rate,
        margin=margin,
        confidence=spec.confidence,
        seed=spec.seed,
        features=chosen.features,
        diagnostics=(*repeated, *chosen.diagnostics),
    )


def _kept(keep: str | Mapping[str, float]) -> tuple[str, float]:
    """Return the rate that is kept and its margin.

    Raises
    ------
    SpecError
        It is not one rate with a margin of 0 or greater.
    """
    problems: list[Problem] = []
    found = _KEEP.fullmatch(keep) if isinstance(keep, str) else None
    given = {found["rate"]: parse_number([found["margin"]], "keep", problems)} if found else keep
    if not isinstance(given, Mapping) or len(given) != 1:
        message = (
            f"cannot read {quote(keep)}; write 'RATE within MARGIN', such as 'accuracy within 0.01'"
        )
        raise SpecError(Problem("keep", message))
    margins = read_margins(given, "keep", problems)
    if problems:
        raise SpecError(problems)
    ((rate, margin),) = margins
    return rate, margin


def _check(spec: Spec, rate: str) -> None:
    problems = []
    if spec.score is None:
        problems.append(Problem("score", "name the column of the score that is decided by"))
    if spec.label is None:
        problems.append(
            Problem("label", "name the column of the label; thresholds are chosen by it")
        )
    if spec.prediction is not None:
        message = "leave it out: decisions follow from the score and its threshold"
        problems.append(Problem("prediction", message))
    if isinstance(spec.threshold, Threshold) or len(spec.threshold) != 1:
        problems.append(Problem("threshold", "give the one threshold in use today"))
    try:
        kept = spec.catalogue.rate(rate)
        if kept.better is Better.NEITHER or kept.needs - {"label", "prediction"}:
            message = (
                f"{quote(rate)} cannot be kept: name a rate of decisions whose higher or lower "
                "values are better, such as accuracy or true_positive_rate"
            )
            problems.append(Problem("keep", message))
    except LookupError as error:
        problems.append(Problem("keep", str(error)))
    if problems:
        raise SpecError(problems)
