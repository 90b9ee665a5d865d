"""Checks of the favourable outcome: which value is assumed, and whether the opposite is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fairgauge.catalogue.across import DifferentialFairness
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.distributions import Distance, ScoreDistance
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import DiagnosticCode, Favourable, Profile, Role, Task
from fairgauge.errors import Problem, SpecError, alternatives, quote
from fairgauge.question.category_words import (
    is_adverse,
    is_harm,
    is_no,
    is_of_denials,
    is_yes,
    no_outcomes,
)
from fairgauge.question.hmda_actions import APPROVED, action_code, are_actions
from fairgauge.question.presets import preset
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import Value, is_one_of, matches, name_of

_FAVOURABLE = re.compile(
    r"(?<!un)(approv|accept|(?<!re)admi(t|ssion)|hire|select|(?<!mi)grant|pass|award|promot|qualif|"
    r"eligib|success|invit|offer|graduat|employ|favou?r|repa(y|id)|good|recommend|shortlist)",
    re.IGNORECASE,
)
"""Parts of the names of columns in which 1 is the favourable outcome."""
_OF_ALL_OUTCOMES = (DifferentialFairness, Distance, ScoreDistance)
"""Metrics in which every outcome counts alike, as consistency does."""
_COUNTS = np.array([[11.0, 7.0, 5.0, 3.0]])
"""TP, FP, FN and TN; reversed, they are those with the other outcome as the positive one."""


def assumed_positive(
    cube: Cube, spec: Spec, task: Task, rows: Iterable[Metric | Statistic]
) -> Iterator[Diagnostic]:
    """Report which value is assumed to be favourable, where what is measured depends on it.

    This is a warning unless the name of the column suggests something favourable: for labels such
    as ``recidivism`` or ``default``, 1 is the unfavourable outcome.
    """
    if spec.positive != () or task is not Task.BINARY or not any(map(depends_on_positive, rows)):
        return
    if spec.favourable is not Favourable.POSITIVE:
        return  # what 1 is for a person is stated
    axis = cube.plan.axis(Role.LABEL) or cube.plan.axis(Role.PREDICTION)
    if axis is None or axis.bins:
        return
    levels = cube.levels[axis]
    value = next((name_of(level) for level in levels if matches(1, level)), None)
    others = tuple(name_of(level) for level in levels if not matches(1, level))
    favourable = _FAVOURABLE.search(axis.column) and not is_of_denials(axis.column)
    made = Diagnostic.note if favourable else Diagnostic.warning
    yield made(
        DiagnosticCode.ASSUMED_POSITIVE, column=axis.column, value=value or "1", others=others
    )


def unfavourable_positive(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn where what is stated as favourable has the name of a harm, and other values not.

    Of yes and no, 1 and 0, the name of the column decides: "hired = no" and "denied = yes", not
    "default = no"; of HMDA's codes their meaning.

    Raises
    ------
    SpecError
        A preset would call such an outcome by the word for its opposite, whether or not it is
        stated.
    """
    if not spec.names_values or task is not Task.BINARY:
        return
    if spec.favourable is Favourable.NEITHER:
        return
    negative = spec.favourable is Favourable.NEGATIVE
    for i, axis in enumerate(cube.plan.outcomes):
        positive = spec.positive_of(axis.column)
        better = _better_outcomes(axis, cube.levels[axis], positive or (1,), negative=negative)
        if better and axis is cube.plan.outcomes[-1]:
            _refuse_denials(spec, axis.column, better)
        if better and (i == 0 or not spec.words_of_predictions) and (positive or negative):
            yield Diagnostic.warning(
                DiagnosticCode.UNFAVOURABLE_POSITIVE,
                column=axis.column,
                values=tuple(map(name_of, positive or (1,))),
                others=tuple(map(name_of, better)),
                negative=negative,
            )


def _better_outcomes(
    axis: Axis, levels: Sequence[Value], positive: Sequence[Value], *, negative: bool
) -> list[Value]:
    """Return the outcomes that are no harm, where all those that are favourable are.

    Those are the positive ones, or with ``negative`` all others.
    """
    if axis.bins:
        return []
    of_hiring = bool(_FAVOURABLE.search(axis.column)) and not is_adverse(axis.column)
    of_denials = is_of_denials(axis.column) or is_harm(axis.column)
    codes = are_actions(axis.column, levels)

    def is_denied(value: Value) -> bool:
        text = name_of(value).strip()
        if codes:
            return action_code(text) not in APPROVED
        if is_no(text) or matches(0, text):
            return of_hiring
        return of_denials if is_yes(text) else is_adverse(text) or is_harm(text, axis.column)

    none = [] if codes else no_outcomes(levels)
    others = [each for each in levels if not is_one_of(each, positive) and each not in none]
    favoured, rest = (others, positive) if negative else (positive, others)
    harmed = bool(favoured) and all(map(is_denied, favoured))
    return [each for each in rest if harmed and not is_denied(each)]


def _refuse_denials(spec: Spec, column: str, better: Sequence[Value]) -> None:
    """Refuse a positive value that a preset would call by the word for its opposite."""
    if spec.preset is None:
        return
    if word := preset(spec.preset).words.get("positive"):
        what = "what is stated" if spec.positive else "1, which is assumed,"
        message = (
            f"the preset {quote(spec.preset)} calls the positive outcome {quote(word)}, and {what} "
            f"has the name or code of the opposite in {quote(column)}; state "
            f"{alternatives(map(name_of, better))} (--positive)"
        )
        raise SpecError(Problem("positive", message))


def depends_on_positive(row: Metric | Statistic) -> bool:
    """Return whether a metric or rate of two outcomes is another one if the other is positive.

    Examples
    --------
    >>> from fairgauge.catalogue.lookup import find_rate
    >>> depends_on_positive(find_rate("selection_rate")), depends_on_positive(find_rate("accuracy"))
    (True, False)
    """
    if Task.BINARY not in row.tasks or not row.needs & {"label", "prediction"}:
        return False
    if isinstance(row, Metric):
        alike = isinstance(row, _OF_ALL_OUTCOMES) or row.name == "consistency"
        return any(map(depends_on_positive, row.statistics)) if row.statistics else not alike
    if "score" in row.needs:
        return True
    sides = (
        ConfusionCounts(size=each.sum(axis=-1), cells={row.needs: each})
        for each in (_COUNTS, _COUNTS[:, ::-1])
    )
    one, other = (row.value(side, Profile.DOCUMENTED) for side in sides)
    return not np.allclose(one, other)
