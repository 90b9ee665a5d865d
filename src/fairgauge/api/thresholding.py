"""Thresholds of a score: specify, count, choose."""

from __future__ import annotations

from typing import Any, Unpack

from fairgauge.api.audit import run_verb, with_meant_reference
from fairgauge.catalogue.directions import better_of
from fairgauge.checks.outcome_checks import assumed_positive
from fairgauge.cube.cube import Cube
from fairgauge.enums import Profile, Task
from fairgauge.errors import problems_where, refuse
from fairgauge.measure.choose_thresholds import choose_thresholds, reference_notes
from fairgauge.question.options import Options, with_options
from fairgauge.question.specification import Config, Spec, with_config
from fairgauge.resolve.question_checks import limits_only_the_better_off
from fairgauge.results.threshold_choice import ThresholdChoice

# what is kept, where no margin is given
_MARGINS = (("accuracy", 0.01),)


@with_options
def thresholds(
    data: object = None, *, config: Config = None, **options: Unpack[Options]
) -> ThresholdChoice:
    """Find the threshold of a score, closest to today's, that meets a fairness rule.

    Today's threshold is judged first, as an audit judges it: where it meets the rule, it is the
    answer. Otherwise candidates are those named and at most 20 quantiles of the score, which no
    outcome has a part in, and claims about them hold for all of them together, on all rows.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        As of `fairgauge.audit`, with a label, a score and sensitive features; one threshold decides
        for the groups of every feature and intersection. Of the options, ``threshold`` is the one
        in use today, and after it others to consider; ``rules`` is the one rule that every group
        must meet, a difference or a ratio of a rate of decisions, such as
        ``"selection_rate.ratio >= 0.8"``; and ``margins`` is the one rate of all rows that may be
        worse, and by how much at most (default ``{"accuracy": 0.01}``).
    {config}
    {options}

    Returns
    -------
    ThresholdChoice
        The candidates; the choice, what it changes and its price.

    {errors}

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> rows = pl.DataFrame({
    ...     "sex": ["F", "F", "F", "F", "M", "M", "M", "M"], "repaid": [1, 1, 0, 0, 1, 1, 0, 0],
    ...     "score": [0.45, 0.45, 0.3, 0.1, 0.9, 0.6, 0.3, 0.1], "n": [500] * 8,
    ... })
    >>> found = fg.thresholds(
    ...     rows, label="repaid", score="score", threshold=0.5, sensitive="sex", count="n",
    ...     rules="selection_rate.ratio >= 0.8",
    ... )
    >>> found.today, found["sex"].common.threshold, found["sex"].common.value_meets
    (0.5, 0.45, True)
    """
    return run_verb(
        "thresholds", data, with_config(config, options), _choose_by_rule, check=_check_thresholds
    )


def _choose_by_rule(cube: Cube, spec: Spec, **common: Any) -> ThresholdChoice:
    (rule,) = spec.rules
    ((rate, margin),) = spec.margins or _MARGINS
    chosen = choose_thresholds(cube, spec, rule, rate, margin)
    assumed = assumed_positive(cube, spec, Task.BINARY, (rule.row,))
    of_reference = with_meant_reference(reference_notes(rule, chosen["features"]), spec)
    assert spec.score is not None
    assert isinstance(spec.threshold, tuple)
    return ThresholdChoice(
        score=spec.score,
        today=spec.threshold[0],
        goal=str(rule),
        kept=rate,
        margin=margin,
        confidence=spec.confidence,
        **chosen | {"diagnostics": (*assumed, *of_reference, *chosen["diagnostics"])},
        **common,
    )


def _check_thresholds(spec: Spec) -> None:
    cuts = spec.threshold if isinstance(spec.threshold, tuple) else ()
    problems = problems_where(
        (spec.score is None, "score", "name the column of the score that is decided by"),
        (spec.label is None, "label", "name the column of the label; thresholds are chosen by it"),
        (spec.prediction is not None, "prediction",
         "leave it out: decisions follow from the score and its threshold"),
        (spec.profile is not Profile.DOCUMENTED, "profile",
         "thresholds are chosen by the documented formulas"),
        (not cuts, "threshold", "give the threshold in use today, and after it others to consider"),
        (spec.seed, "seed", "leave it out: nothing is drawn at random"),
        (len(spec.rules) != 1, "rules",
         "name the one rule to meet, such as 'selection_rate.ratio >= 0.8' (--rule RULE)"),
        (len(spec.margins) > 1, "margins",
         "name the one rate to keep, such as accuracy (--margin accuracy=0.01)"),
    )  # fmt: skip
    problems += limits_only_the_better_off(spec.rules, spec.catalogue, spec, "rules")
    for name, _ in spec.margins:
        rate, message = spec.catalogue.rate(name), ""
        if rate.needs - {"label", "prediction"}:
            message = "cannot be kept: name a rate of decisions, such as accuracy"
        elif better_of(rate, spec.favourable) is not rate.better:
            message = f"is turned by favourable = {spec.favourable}; keep accuracy"
        problems += problems_where((message, f"margins.{name}", message))
    refuse(problems)
