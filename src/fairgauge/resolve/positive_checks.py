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
from fairgauge.enums import DiagnosticCode, Favourable, Profile, Role, Task
from fairgauge.errors import Problem, SpecError, alternatives, quote
from fairgauge.question.category_words import is_adverse, is_no
from fairgauge.question.hmda_actions import APPROVED, action_code, are_actions
from fairgauge.question.presets import preset
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import Value, is_one_of, matches, name_of

_FAVOURABLE = re.compile(
    r"approv|accept|admit|admission|hire|select|grant|pass|award|promot|qualif|eligib|success|"
    r"invit|offer|graduat|employ|favou?r|repa(y|id)|good|recommend|shortlist",
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
    axis = cube.plan.axis(Role.LABEL) or cube.plan.axis(Role.PREDICTION)
    if axis is None or axis.bins:
        return
    levels = cube.levels[axis]
    value = next((name_of(level) for level in levels if matches(1, level)), None)
    others = tuple(name_of(level) for level in levels if not matches(1, level))
    made = Diagnostic.note if _FAVOURABLE.search(axis.column) else Diagnostic.warning
    yield made(
        DiagnosticCode.ASSUMED_POSITIVE, column=axis.column, value=value or "1", others=others
    )


def unfavourable_positive(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn where what is stated as favourable has the name of the opposite, and other values not.

    Of "no" and "false" the name of the column decides: "hired = no", not "default = no"; of HMDA's
    codes their meaning.

    Raises
    ------
    SpecError
        A preset would call such an outcome by the word for its opposite.
    """
    stated = spec.positive if isinstance(spec.positive, tuple) else ()
    axis = cube.plan.axis(Role.LABEL) or cube.plan.axis(Role.PREDICTION)
    if not stated or task is not Task.BINARY or axis is None or axis.bins:
        return
    of_hiring = bool(_FAVOURABLE.search(axis.column)) and not is_adverse(axis.column)
    codes = are_actions(axis.column, cube.levels[axis])

    def is_denied(value: Value) -> bool:
        text = name_of(value).strip()
        if codes:
            return action_code(text) not in APPROVED
        return is_adverse(text) or bool(of_hiring and is_no(text))

    others = [v for v in cube.levels[axis] if not is_one_of(v, stated)]
    better = [value for value in others if not is_denied(value)]
    if better and all(map(is_denied, stated)) and spec.words.favourable is Favourable.POSITIVE:
        decided = axis is (cube.plan.axis(Role.PREDICTION) or axis)
        if decided and spec.preset is not None and not spec.words.positive:
            _refuse_denials(spec.preset, axis.column, better)
        yield Diagnostic.warning(
            DiagnosticCode.UNFAVOURABLE_POSITIVE,
            column=axis.column,
            values=tuple(map(name_of, stated)),
            others=tuple(map(name_of, better)),
        )


def _refuse_denials(name: str, column: str, better: Sequence[Value]) -> None:
    """Refuse a positive value that a preset would call by the word for its opposite."""
    if word := preset(name).words.get("positive"):
        message = (
            f"the preset {quote(name)} calls the positive outcome {quote(word)}, and what is "
            f"stated has the name or code of the opposite in {quote(column)}; state "
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
