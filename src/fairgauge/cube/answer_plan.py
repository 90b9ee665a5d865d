"""The plan of a table of answers: counted by item, variant, group, model and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.cube.plan import Axis, Moment, Plan
from fairgauge.enums import Role
from fairgauge.question.features import Above
from fairgauge.question.options import Spec

if TYPE_CHECKING:
    from fairgauge.question.swap_question import SwapQuestion

SUM, SQUARES = "s", "s2"
"""The sums of scores and of their squares."""


def answer_plan(question: SwapQuestion) -> Plan:
    """Return what must be counted to compare answers under different names.

    Whether a score is there shows at an axis of two intervals, as a number is in one of them.
    """
    spec = question.spec
    named = {Role.ITEM: question.item, Role.VARIANT: question.variant, Role.MODEL: question.model,
             Role.RUN: question.run}  # fmt: skip
    axes = [
        Axis(role, column, recoding=spec.recoding(column))
        for role, column in named.items()
        if column is not None
    ]
    axes += [Axis(Role.FEATURE, c, recoding=spec.recoding(c)) for c in question.feature]
    moments: tuple[Moment, ...] = ()
    if question.decides:
        cuts = (spec.positive.threshold,) if isinstance(spec.positive, Above) else ()
        recoding = None if cuts else spec.recoding(question.answer)
        axes.append(Axis(Role.PREDICTION, question.answer, cuts, recoding=recoding))
    else:
        axes.append(Axis(Role.SCORE, question.answer, (0.0,)))
        answer = (question.answer,)
        moments = (Moment(SUM, answer, ("x",)), Moment(SQUARES, answer, ("x", "x")))
    asked = Spec(sensitive=spec.sensitive, intersections=spec.intersections, count=spec.count)
    return Plan(tuple(axes), (tuple(range(len(axes))),), asked, moments)


def is_of_answers(plan: Plan) -> bool:
    """Return whether a plan counts answers under swapped names."""
    return plan.axis(Role.ITEM) is not None
