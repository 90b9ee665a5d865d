"""Audits by swapped names: read the question, count the answers, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairgauge.api.audit import Run, counted_answers
from fairgauge.checks.names import doubtful_names
from fairgauge.checks.outcome_checks import undecided_outcomes
from fairgauge.enums import Level
from fairgauge.measure.swap_differences import compare_swaps
from fairgauge.question.features import Above
from fairgauge.question.options import with_options
from fairgauge.question.specification import Config, check_swap_options, with_config
from fairgauge.resolve.answers import read_answers
from fairgauge.results.name_swaps import AnswerCounts, PairsAudit
from fairgauge.values import Value, is_one_of


@with_options
def pairs(
    data: object,
    *,
    item: str | None = None,
    variant: str | None = None,
    sensitive: str | None = None,
    score: str | None = None,
    prediction: str | None = None,
    positive: Value | Sequence[Value] | Above = None,
    model: str | None = None,
    family: str | None = None,
    reference: str | Mapping[str, Value] | None = None,
    placebo: Value | Sequence[Value] = None,
    margins: Mapping[str, float] | None = None,
    config: Config = None,
    **options: object,
) -> PairsAudit:
    """Compare answers to the same items under the names of several groups.

    The difference between groups is held against the variation between names of one group, between
    irrelevant edits, items and runs: names and items are samples. No model is called.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        A row for each answer; a missing score or prediction is an answer that was not given. Of
        counts that `fairgauge.count` made of them, the columns need not be named again.
    item : str
        Column of what was asked (résumé, prompt, posting).
    variant : str
        Column of the name, or the edit, under which it was asked.
    sensitive : str
        Column of the group that the variant belongs to.
    score, prediction : str
        Column of the answer: a number, or a decision. One of the two.
    positive : value or list of values, optional
        The favourable decisions; needed where they are not 0 and 1.
    model : str, optional
        Column of the model that answered.
    family : str, optional
        Column of the text that items are made from (a CV in several postings, a vignette): items of
        one text are then one cluster. Without it, items are taken as independent.
    reference : {"others", "largest"} or mapping of the feature to a group
        What every group is compared with (default others: the names of all other groups).
    placebo : value or list of values, optional
        Values of the sensitive feature whose variants are irrelevant edits.
    margins : mapping, optional
        The difference that is regarded as equivalent: ``{"score": 0.1}``, or of decisions
        ``{"selection_rate": 0.02}``.
    {config}
    **options
        ``intersections``, ``exclude_groups``, ``unknown``, ``recode``, ``count``, ``confidence``
        and ``seed``, as of `fairgauge.audit`.

    Returns
    -------
    PairsAudit
        The differences with their verdicts: differs, equivalent or cannot tell.

    {errors}

    Notes
    -----
    The variance of a difference has a term for names and one for items, less that of single
    answers, which is in both (Cameron, Gelbach and Miller 2011), with degrees of freedom by
    Satterthwaite. With three irrelevant edits or more, their variance stands in the place of that
    of names where the interval is wider so. Verdicts control the error rate of all comparisons
    together (Holm). A group of one name has no verdict: group and name cannot be separated.

    Examples
    --------
    >>> import fairgauge as fg, polars as pl
    >>> names = {"Ann": "A", "Amy": "A", "Ada": "A", "Bea": "B", "Bob": "B", "Ben": "B"}
    >>> rows = [
    ...     {"cv": i, "name": name, "group": group, "score": 5 + i % 3 - 2 * (group == "B")
    ...      + 0.1 * ((i * k) % 5)}
    ...     for i in range(8) for k, (name, group) in enumerate(names.items())
    ... ]
    >>> audit = fg.pairs(
    ...     pl.DataFrame(rows), item="cv", variant="name", sensitive="group", score="score",
    ...     reference={"group": "A"},
    ... )
    >>> str(audit.verdict), round(audit.differences[0].value, 2)
    ('differs', -1.99)
    """
    named: dict[str, object] = {
        "item": item, "variant": variant, "sensitive": sensitive, "score": score,
        "prediction": prediction, "positive": positive, "model": model, "family": family,
        "reference": reference, "placebo": placebo, "margins": margins,
    }  # fmt: skip
    check_swap_options(options)
    asked: Any = options | {name: value for name, value in named.items() if value is not None}
    asked = with_config(config, asked)
    cube, source, question = counted_answers(data, asked)
    run = Run("pairs", data, cube, source, question.spec)
    answers = read_answers(cube, question)
    there = answers.n > 0
    known = (*question.spec.unknown, *question.placebo)
    unclear = (
        note
        for note in (*undecided_outcomes(cube, question.spec), *doubtful_names(cube, question.spec))
        if note.level is Level.WARNING
        and not all(is_one_of(v, known) for v in note.get("values") or [note.get("value")])
    )
    found = run.mistakes(unclear, ())
    compared = compare_swaps(answers, question)
    compared["differences"] = run.withhold(compared["differences"], found)
    counts = AnswerCounts(
        source=run.name,
        fingerprint=cube.digest,
        answers=int(answers.n.sum()),
        missing=int(answers.missing.sum()),
        items=len(np.unique(answers.item[there])),
        variants=len(np.unique(answers.variant[there])),
        models=len(np.unique(answers.model[there])),
        runs=int(answers.n.max()),
        excluded=answers.excluded,
        families=answers.families,
    )
    stated = {**run.stated(cube.read), "data": counts, "spec": question.to_dict()}
    return PairsAudit(**stated, diagnostics=found, **compared)
