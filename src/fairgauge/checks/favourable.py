"""Checks of the favourable outcome: which value is assumed, and whether the opposite is meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fairgauge.catalogue.across import DifferentialFairness
from fairgauge.catalogue.cells import ConfusionCounts
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.distributions import Distance
from fairgauge.catalogue.statistics import Statistic
from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import Axis
from fairgauge.enums import DiagnosticCode, Favourable, Profile, Role, Task
from fairgauge.errors import Problem, SpecError, alternatives, quote
from fairgauge.question.category_words import (
    APPROVED,
    action_code,
    are_actions,
    is_adverse,
    is_harm,
    is_no,
    is_of_denials,
    is_of_favours,
    is_of_risk,
    is_unclear_code,
    is_yes,
    no_outcomes,
)
from fairgauge.question.features import Above
from fairgauge.question.kits import find_kit
from fairgauge.question.specification import Spec
from fairgauge.results.scopes import Diagnostic
from fairgauge.values import Value, is_one_of, matches, name_of

# metrics in which every outcome counts alike, as consistency does
_OF_ALL_OUTCOMES = (DifferentialFairness, Distance)
# TP, FP, FN and TN; reversed, they are those with the other outcome as the positive one
_COUNTS = np.array([[11.0, 7.0, 5.0, 3.0]])


def assumed_positive(
    cube: Cube, spec: Spec, task: Task, rows: Iterable[Metric | Statistic]
) -> Iterator[Diagnostic]:
    """Report which value is assumed to be favourable, where what is measured depends on it.

    This is a warning unless the name of the column suggests something favourable: for labels such
    as ``recidivism`` or ``default``, 1 is the unfavourable outcome.
    """
    if spec.positive != () or task is not Task.BINARY or not any(map(depends_on_positive, rows)):
        return
    if spec.favourable is not None and not _word_of_preset(spec):
        return  # what 1 is for a person is stated
    axis = cube.plan.axis(Role.LABEL) or cube.plan.axis(Role.PREDICTION)
    if axis is None or axis.bins:
        return
    levels = cube.levels[axis]
    value = next((name_of(level) for level in levels if matches(1, level)), None)
    others = tuple(name_of(level) for level in levels if not matches(1, level))
    favourable = is_of_favours(axis.column) and not is_of_denials(axis.column)
    warned = any(each["column"] == axis.column for each in unfavourable_positive(cube, spec, task))
    made = Diagnostic.note if favourable or warned else Diagnostic.warning
    yield made(
        DiagnosticCode.ASSUMED_POSITIVE, column=axis.column, value=value or "1", others=others
    )


def unfavourable_positive(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn where what counts as favourable has the name of a harm, and other values not.

    Of yes and no, 1 and 0, and of a cut the name of the column decides: "hired = no" and
    "denied = yes", not "default = no"; of HMDA's codes their meaning, and of a recoding the values
    that it is from. Of a score without a label its name decides.

    Raises ``SpecError``: A preset would call such an outcome by the word for its opposite, whether
        or not it is stated.
    """
    if task is not Task.BINARY:
        return
    negative, word = spec.favourable is Favourable.NEGATIVE, _word_of_preset(spec)
    if spec.favourable is not None and not negative and not word:
        return  # as it is stated
    scored = spec.score if spec.prediction is None else None
    axes = _axes_of_outcomes(cube, spec)
    for i, axis in enumerate(axes):
        positive = spec.positive_of(axis.column) or (1,)
        better = _better_outcomes(axis, cube.levels[axis], positive, negative=negative)
        if better and axis is axes[-1]:
            _refuse_denials(spec, word, axis.column, better)
        if better and (i == 0 or not spec.words_of_predictions):
            cut = spec.positive.threshold if isinstance(spec.positive, Above) else None
            yield Diagnostic.warning(
                DiagnosticCode.UNFAVOURABLE_POSITIVE,
                column=axis.column,
                values=tuple(map(name_of, positive)) if cut is None else (f"above {cut:g}",),
                others=tuple(map(name_of, better)),
                negative=negative,
                preset=word,
            )
    stated = spec.words.positive
    if word and (is_adverse(stated) or is_harm(stated)):
        message = (
            f"{quote(stated)} contradicts the preset {quote(spec.preset)}, in which "
            f"{quote(word)} is the positive outcome; remove it, and state the values that mean it "
            "(--positive)"
        )
        raise SpecError(Problem("words.positive", message))
    if scored and not axes and not negative and (is_of_denials(scored) or is_of_risk(scored)):
        yield Diagnostic.warning(
            DiagnosticCode.UNFAVOURABLE_POSITIVE, column=scored, values=("a high score",),
            others=(), negative=False, preset=word,
        )  # fmt: skip


def codes_as_favourable(cube: Cube, spec: Spec, task: Task) -> Iterator[Diagnostic]:
    """Warn where a preset would call a code approved or selected that may be that of its opposite.

    That is a number other than 1, or a few letters that begin no word of a favourable outcome, of
    which neither the column nor a codebook states what it means: ``action = 3``, ``decision = D``.
    """
    word = _word_of_preset(spec)
    if word is None or spec.words.positive or task is not Task.BINARY:
        return
    for axis in _axes_of_outcomes(cube, spec)[-1:]:
        levels = [] if axis.bins else cube.levels[axis]
        is_hmda = word == "approved" and "action" in axis.column.casefold()
        codebook = is_hmda and are_actions("action_taken", levels)
        clear = is_of_denials(axis.column) or is_harm(axis.column)
        values = [
            name_of(value)
            for value in spec.positive_of(axis.column)
            if is_one_of(value, levels)
            and not (codebook and action_code(name_of(value)) in APPROVED)
            and not (clear and (is_no(name_of(value)) or matches(0, value)))
            and is_unclear_code(name_of(value))
        ]
        if values:
            yield Diagnostic.warning(
                DiagnosticCode.CODE_AS_FAVOURABLE,
                column=axis.column,
                values=tuple(values),
                rows=cube.read,
                preset=word,
            )


def _axes_of_outcomes(cube: Cube, spec: Spec) -> list[Axis]:
    # the label and the decisions that are recorded, and not made from a score
    scored = spec.score if spec.prediction is None else None
    return [each for each in cube.plan.outcomes if each.column != scored]


def _better_outcomes(
    axis: Axis, levels: Sequence[Value], positive: Sequence[Value], *, negative: bool
) -> list[Value]:
    # those are the positive ones, or with ``negative`` all others
    of_hiring = is_of_favours(axis.column) and not is_adverse(axis.column)
    of_denials = is_of_denials(axis.column) or is_harm(axis.column)
    if axis.bins:
        (cut, *_) = axis.cuts
        low = 0 if 0 <= cut < 1 else f"a recoding of the values up to {cut:g}"
        return [low] if of_denials and not negative else []
    sources = dict(axis.recoding.categories) if axis.recoding else {}
    every = [each for level in levels for each in sources.get(name_of(level), (level,))]
    codes = are_actions(axis.column, every)

    def has_harmful_name(value: Value) -> bool:
        text = name_of(value).strip()
        if codes:
            return action_code(text) not in APPROVED
        if is_no(text) or matches(0, text):
            return of_hiring
        return of_denials if is_yes(text) else is_adverse(text) or is_harm(text, axis.column)

    def is_denied(value: Value) -> bool:
        names = sources.get(text := name_of(value), ())
        if names and all(map(has_harmful_name, names)):
            return True
        plain = is_yes(text) or is_no(text) or matches(0, text)
        return not (names and (plain or codes)) and has_harmful_name(value)

    none = [] if codes else no_outcomes(levels)
    others = [each for each in levels if not is_one_of(each, positive) and each not in none]
    favoured, rest = (others, positive) if negative else (positive, others)
    harmed = bool(favoured) and all(map(is_denied, favoured))
    return [each for each in rest if harmed and not is_denied(each)]


def _word_of_preset(spec: Spec) -> str | None:
    # what a preset calls the positive outcome: favourable, where it has no other word
    if not spec.preset:
        return None
    about = find_kit(spec.preset)
    stated = about.options.get("favourable") == Favourable.POSITIVE
    return about.words.get("positive", "favourable" if stated else None)


def _refuse_denials(spec: Spec, word: str | None, column: str, better: Sequence[Value]) -> None:
    # refuse a positive value that a preset would call by the word for its opposite
    if word:
        what = "what is stated" if spec.positive else "1, which is assumed,"
        message = (
            f"the preset {quote(spec.preset)} calls the positive outcome {quote(word)}, and {what} "
            f"has the name or code of the opposite in {quote(column)}; state "
            f"{alternatives(map(name_of, better))} (--positive)"
        )
        raise SpecError(Problem("positive", message))


def depends_on_positive(row: Metric | Statistic) -> bool:
    """Return whether a metric or rate of two outcomes is another one if the other is positive.

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
