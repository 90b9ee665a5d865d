"""The largest group as reference: chosen when monitoring begins, and the same from then on.

It is chosen by numbers of rows and not by their outcomes, so that the promise holds from the first
period on. A history keeps the choice: a period that arrives late, before the first one, would
otherwise change what the later ones are compared with, and so the alarms that were raised.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fairgauge.enums import ReferenceRule
from fairgauge.monitoring._comparison_counts import sides_by_class
from fairgauge.resolve.group_counts import count_groups
from fairgauge.resolve.references import resolve_references
from fairgauge.results.monitor_results import LargestGroup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.cube.cube import Cube
    from fairgauge.question.specification import Spec


def largest_groups(
    question: Spec, names: Sequence[str], cubes: Sequence[Cube], kept: Sequence[LargestGroup]
) -> tuple[LargestGroup, ...]:
    """Return the reference of every feature where a question asks for the largest group.

    Parameters
    ----------
    question : Spec
        With its task.
    names, cubes : the periods, at least one.
    kept : the choices of earlier runs, which hold while a period has their group.
    """
    if question.reference is not ReferenceRule.LARGEST:
        return ()
    known = {each.feature: each for each in kept if _has(question, names, cubes, each)}
    return tuple(known.get(each.feature, each) for each in _largest(question, names[0], cubes[0]))


def with_references(question: Spec, largest: Sequence[LargestGroup]) -> Spec:
    """Return a question with the largest groups as named references."""
    if question.reference is not ReferenceRule.LARGEST:
        return question
    return replace(question, reference=tuple((each.feature, each.group) for each in largest))


def _largest(question: Spec, name: str, cube: Cube) -> Iterator[LargestGroup]:
    """Yield the largest group of every feature that has groups in a period."""
    for counted in count_groups(cube, question):
        _, sides = next(sides_by_class(counted, cube, question))
        for reference in resolve_references(counted, sides, None, question).each[:1]:
            yield LargestGroup(feature=counted.feature, group=str(reference.group), period=name)


def _has(question: Spec, names: Sequence[str], cubes: Sequence[Cube], chosen: LargestGroup) -> bool:
    """Return whether the first period, or that of the choice, still has the chosen group."""
    held = [0, *(t for t, name in enumerate(names) if name == chosen.period)]
    return any(
        counted.feature == chosen.feature and chosen.group in counted.groups
        for t in held
        for counted in count_groups(cubes[t], question)
    )
