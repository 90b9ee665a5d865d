"""Audits by swapped names: read the question, count the answers, compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairgauge.checks.names import doubtful_names
from fairgauge.checks.open_doubts import with_accepted, withhold
from fairgauge.checks.outcome_checks import undecided_outcomes
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import SQUARES, SUM, answer_plan, is_of_answers
from fairgauge.enums import DiagnosticCode, Level, Role
from fairgauge.errors import CubeError, Problem, SpecError, nearest, quote, refuse
from fairgauge.measure.swap_differences import compare_swaps
from fairgauge.question.category_words import FAR_BELOW
from fairgauge.question.features import Above
from fairgauge.question.spec_file import Config, with_config
from fairgauge.question.swap_question import (
    COLUMNS,
    SHARED,
    SwapQuestion,
    check_swap_columns,
    check_swap_options,
    read_swap_question,
)
from fairgauge.resolve.answers import read_answers
from fairgauge.results.name_swaps import AnswerCounts, PairsAudit
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import made_now
from fairgauge.rowwise.file_notes import notes_of_files
from fairgauge.rowwise.first_rows import doubled_answers
from fairgauge.scan import open_rows
from fairgauge.scan.row_access import read_rows
from fairgauge.scan.source import Source
from fairgauge.values import Value, is_one_of

_MOST_VALUES = 1_000


def pairs(
    data: object,
    *,
    item: str | None = None,
    variant: str | Mapping[str, str] | None = None,
    sensitive: str | None = None,
    score: str | None = None,
    prediction: str | None = None,
    positive: Value | Sequence[Value] | Above = None,
    model: str | None = None,
    by: str | None = None,
    releases: Sequence[Value] | None = None,
    baseline: Value = None,
    run: str | None = None,
    family: str | None = None,
    reference: str | Mapping[str, Value] | None = None,
    placebo: Value | Sequence[Value] = None,
    margins: Mapping[str, float] | None = None,
    config: Config = None,
    **options: Any,
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
    variant : str, or mapping of columns to groups
        Column of the name, or the edit, under which it was asked. Of a wide table, with a row for
        each item and a column of answers for each variant, these columns with their groups:
        ``{"Aisha": "Black", "Emily": "White"}``; ``sensitive`` and ``score`` (or ``prediction``)
        are then what groups and answers are called.
    sensitive : str
        Column of the group that the variant belongs to.
    score, prediction : str
        Column of the answer: a number, or a decision. One of the two.
    positive : value or list of values, optional
        The favourable decisions; needed where they are not 0 and 1.
    model, run : str, optional
        Column of the model that answered, and of the repetition.
    family : str, optional
        Column of the text that items are made from (a CV in several postings, a vignette): items of
        one text are then one cluster. Without it, items are taken as independent.
    by : str, optional
        In place of ``model``, the column of the releases of one model, which have an order: each is
        also compared with the release before it.
    releases : list of values, optional
        The releases, the oldest first; others are excluded (default: all, in the order of their
        names, in which numbers count as numbers).
    baseline : value, optional
        The release that all others are compared with, in place of the one before each.
    reference : {"others", "largest"} or mapping of the feature to a group
        What every group is compared with (default others: the names of all other groups).
    placebo : value or list of values, optional
        Values of the sensitive feature whose variants are irrelevant edits.
    margins : mapping, optional
        The difference that is regarded as equivalent: ``{"score": 0.1}``, or of decisions
        ``{"selection_rate": 0.02}``.
    config : str, Path or mapping, optional
        A specification file, or its keys, which the options override.
    **options
        ``intersections``, ``exclude_groups``, ``unknown``, ``recode``, ``count``, ``confidence``
        and ``seed``, as of `fairgauge.audit`.

    Returns
    -------
    PairsAudit
        The differences with their verdicts: differs, equivalent or cannot tell.

    Raises
    ------
    SpecError
        The question is wrong, or the table of answers is none of such a design; every mistake is
        listed.
    DataError
        The data cannot be read, or a score is no finite number.
    CubeError
        The data are counts of something else.

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
    named: dict[str, Any] = {
        "item": item, "variant": variant, "sensitive": sensitive, "score": score,
        "prediction": prediction, "positive": positive, "model": model, "by": by,
        "releases": releases, "baseline": baseline, "run": run, "family": family,
        "reference": reference, "placebo": placebo, "margins": margins,
    }  # fmt: skip
    check_swap_options(options)
    asked: Any = options | {name: value for name, value in named.items() if value is not None}
    asked = with_config(config, asked)
    columns = asked.get("variant")
    cube, source, question = counted_answers(data, asked)
    answers = read_answers(cube, question)
    there = answers.n > 0
    found = with_accepted(_doubtful_answers(cube, question), question.spec)
    of_answers = replace(question.spec, sensitive=(), intersections=())
    compared = compare_swaps(answers, question)
    for name in ("differences", "changes"):
        compared[name] = withhold(compared[name], found, cube, of_answers)
    return PairsAudit(
        **made_now(),
        data=AnswerCounts(
            source=source.name if source else "counts",
            fingerprint=cube.digest,
            answers=int(answers.n.sum()),
            missing=int(answers.missing.sum()),
            items=len(np.unique(answers.item[there])),
            variants=len(np.unique(answers.variant[there])),
            models=len(np.unique(answers.model[there])),
            runs=int(answers.n.max()),
            excluded=answers.excluded,
            families=answers.families,
        ),
        spec=question.to_dict() | ({"variant": columns} if isinstance(columns, Mapping) else {}),
        diagnostics=(
            *_repeated_rows(data, source, cube, question),
            *found,
        ),
        **compared,
    )


def _doubtful_answers(cube: Cube, question: SwapQuestion) -> Iterator[Diagnostic]:
    """Warn of groups and answers that may mean a missing value, and of decisions that are none.

    Groups of irrelevant edits may be called as what is missing is.
    """
    for each in (*doubtful_names(cube, question.spec), *undecided_outcomes(cube, question.spec)):
        edit = each.code is DiagnosticCode.MISSING_MARKER and is_one_of(
            each["value"], question.placebo
        )
        scale = each.code is DiagnosticCode.CODED_NUMBERS and (
            each["column"] == question.answer and _is_of_a_scale(cube, float(each["value"]))
        )
        stated = each.code is DiagnosticCode.UNDECIDED_OUTCOMES and all(
            is_one_of(value, question.spec.unknown) for value in each["values"]
        )
        if each.level is Level.WARNING and not (edit or scale or stated):
            yield each


def _is_of_a_scale(cube: Cube, end: float) -> bool:
    """Return whether a negative number is one of several, or the opposite of all positive ones."""
    if end <= FAR_BELOW or end > 0:
        return False
    (table,) = cube.tables
    scores = next(i for i, axis in enumerate(table.axes) if axis.role is Role.SCORE)
    n, total, squares = (
        np.bincount(table.codes[:, scores] + 1, table.sums[name], 3)[1:]
        for name in (cube.plan.cases, SUM, SQUARES)
    )
    # both sums are of terms of one sign, so that 0 means that each of them is
    others = squares[0] - end * total[0]
    positive = squares[1] + 2 * end * total[1] + end**2 * n[1]
    return not np.isclose(others, 0, atol=1e-6) or bool(np.isclose(positive, 0, atol=1e-6))


def _repeated_rows(
    data: object, source: Source | None, cube: Cube, question: SwapQuestion
) -> Iterator[Diagnostic]:
    """Warn of copied files, and of answers that are all there several times."""
    of_files = notes_of_files(data)
    yield from of_files
    copied = any(each.code is DiagnosticCode.COPIED_FILES for each in of_files)
    if source is not None and not copied:
        yield from doubled_answers(source, cube, question)


def counted_answers(
    data: object, asked: Mapping[str, Any]
) -> tuple[Cube, Source | None, SwapQuestion]:
    """Return the counts of answers, the rows that they are of, if any, and the question.

    Raises
    ------
    SpecError
        The question is wrong.
    DataError
        The data cannot be read.
    CubeError
        The data are counts of something else.
    """
    if asked.get("by") is not None:
        if asked.get("model") not in (None, asked["by"]):
            message = "names the releases of one model, and model several; give one of the two"
            raise SpecError(Problem("by", message))
        asked = {**asked, "model": asked["by"]}
    if isinstance(data, Cube):
        question = read_swap_question(_asked_of_counts(data, asked))
        if answer_plan(question).axes != data.plan.axes:
            raise CubeError(
                "these counts are of other columns or other decisions; count the answers again"
            )
        return data, None, question
    source, _ = open_rows(data, {})
    columns = asked.get("variant")
    if isinstance(columns, Mapping):
        source, asked = _made_long(source, asked, columns)
    question = read_swap_question(asked)
    check_swap_columns(question, source.columns)
    cube = source.count(answer_plan(question), _MOST_VALUES)
    return replace(cube, question=question.spec), source, question


def _asked_of_counts(cube: Cube, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of counts of answers, with those that are asked in their place."""
    columns = {str(axis.role): axis.column for axis in cube.plan.axes}
    if not is_of_answers(cube.plan):
        raise CubeError(
            "these counts are of people, not of answers under swapped names; audit them "
            "(fairgauge audit)"
        )
    saved = {name: value for name, value in cube.asked.to_dict().items() if name in SHARED}
    held = {name: columns.get(name) for name in COLUMNS}
    wide = isinstance(asked.get("variant"), Mapping)
    made = ("variant", "sensitive", "score", "prediction") if wide else ()
    given = {name: value for name, value in asked.items() if name not in made}
    return saved | held | given


def _made_long(
    source: Source, asked: Mapping[str, Any], groups: Mapping[str, Any]
) -> tuple[Source, dict[str, Any]]:
    """Return a row for each answer of a table with a column of answers for each variant."""
    kept = [
        asked[name]
        for name in ("item", "model", "run", "family")
        if isinstance(asked.get(name), str)
    ]
    missing = [column for column in (*groups, *kept) if column not in source.columns]
    problems = [
        Problem("variant", f"the data have no column {quote(c)}.{nearest(c, source.columns)}")
        for c in missing
    ]
    if asked.get("count") is not None:
        problems.append(Problem("count", "remove it: a wide table has a row for each item"))
    refuse(problems)
    rows = read_rows(source, [*kept, *groups])
    size = len(rows[next(iter(groups))]) if groups else 0
    feature = asked.get("sensitive") or "group"
    if not isinstance(feature, str):  # of the command line a list
        feature = feature[0] if len(feature) == 1 and isinstance(feature[0], str) else None
    if feature is None:
        message = "of a wide table, give one name that its groups are to have, such as race"
        raise SpecError(Problem("sensitive", message))
    rate = "prediction" if asked.get("prediction") is not None else "score"
    names = {"variant": "variant", "sensitive": feature}
    names[rate] = asked.get(rate) or rate
    taken = [*kept]
    for option, name in names.items():
        while name in taken:
            name = f"{name}_"
        names[option] = name
        taken.append(name)
    long: dict[str, list[Value]] = {column: rows[column] * len(groups) for column in kept}
    long[names["variant"]] = [column for column in groups for _ in range(size)]
    long[names["sensitive"]] = [group for group in groups.values() for _ in range(size)]
    long[names[rate]] = [answer for column in groups for answer in rows[column]]
    opened, _ = open_rows(long, {})
    return opened, {**asked, **names}
