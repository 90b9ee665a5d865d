"""The brief of a plan: how many rows an audit needs, or which difference a table can show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.render.brief._vocabulary import Vocabulary
from fairgauge.render.words.display_names import called
from fairgauge.render.words.metric_words import compared_rate
from fairgauge.render.words.numbers import amount, count, listing, plural
from fairgauge.results.brief import Brief, Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.planned import Planned, PlannedPairs, Smallest

_MOST_GOALS, _MOST_GROUPS = 4, 3
_PER_HUNDRED = 100
_ROUNDING = 1e-9


def plan_brief(planned: Planned) -> Brief:
    """Return the brief of a plan."""
    return Brief(
        headline=_headline(planned),
        verdict=(),
        looked_at=tuple(_looked_at(planned)),
        found=tuple(_found(planned)),
        certainty=tuple(_certainty(planned)),
        limits=tuple(_limits(planned)),
        steps=tuple(_steps(planned)),
    )


def _ordered(planned: Planned) -> list[tuple[int, Smallest]]:
    """Return the smallest disparities with their places, the largest of them first."""
    return sorted(enumerate(planned.smallest), key=lambda each: -each[1].difference)


def _answers_words(answers: PlannedPairs) -> str:
    """Return how many names, items and runs an audit by swapped names takes."""
    names, items, runs = answers.names, answers.items, answers.runs
    each = f"{runs:,} {plural(runs, 'answer', 'answers')} to each item under each name"
    if names is None or items is None:
        given = f"{items:,} items" if names is None else f"{names:,} names a side"
        more = "names" if names is None else "items"
        return (
            f"No practical number of {more} finds a difference of {answers.detects:g} with {given} "
            f"and {each}"
        )
    return (
        f"{names:,} names a side, {items:,} items and {each} ({2 * names * items * runs:,} "
        f"answers) find a difference of {answers.detects:g}"
    )


def _is_practical(answers: PlannedPairs) -> bool:
    return answers.names is not None and answers.items is not None


def _headline(planned: Planned) -> Sentence:
    if planned.answers is not None:
        return Sentence(_answers_words(planned.answers), ("names", "items", "runs"))
    if planned.needed:
        most = max(planned.needed, key=lambda each: each.total)
        source = (f"needed[{planned.needed.index(most)}]",)
        if math.isinf(most.total):
            return Sentence(f"No number of rows is enough {most.goal}", source)
        return Sentence(f"{most.total:,.0f} rows are probably enough for each goal", source)
    if not planned.smallest:
        return Sentence("The table holds no comparison that could be planned for", ("smallest",))
    place, widest = _ordered(planned)[0]
    return Sentence(
        f"In each comparison a difference of {_of_hundred(widest)} or more would probably be found",
        (f"smallest[{place}].difference",),
    )


def _looked_at(planned: Planned) -> Iterator[Sentence]:
    if planned.answers is not None:
        deviations = [
            f"{name} {amount(deviation, 2)}"
            for name, deviation in planned.answers.deviations.items()
            if deviation
        ]
        yield Sentence(
            "An audit by swapped names, before its answers are there, in which answers vary by "
            f"(standard deviations): {listing(deviations)}.",
            ("answers.deviations",),
        )
    elif planned.needed:
        goals = len(planned.needed)
        yield Sentence(f"{goals:,} {plural(goals, 'goal', 'goals')}, before data are there.")
    else:
        size = len(planned.smallest)
        words = plural(size, "comparison", "comparisons")
        yield Sentence(f"{size:,} {words} of groups in the table that was given.", ("smallest",))


def _of_hundred(each: Smallest) -> str:
    """Return a difference as people of 100, rounded up to one decimal."""
    tenths = math.ceil(10 * _PER_HUNDRED * each.difference - _ROUNDING)
    return f"{tenths / 10:.1f} of 100"


def _found(planned: Planned) -> Iterator[Sentence]:
    for i, needed in enumerate(planned.needed[:_MOST_GOALS]):
        goal = f"{needed.goal[:1].upper()}{needed.goal[1:]}"
        rows = "no number of rows is enough"
        if not math.isinf(needed.total):
            rows = (
                f"{needed.total:,.0f} rows, {needed.group:,.0f} of the group and "
                f"{needed.reference:,.0f} of others"
            )
        yield Sentence(f"{goal}: {rows}.", (f"needed[{i}]",))
    words = Vocabulary({})
    for i, each in _ordered(planned)[:_MOST_GROUPS]:
        rate = (compared_rate(each.definition) or each.definition).title
        group = words.group(each.feature, each.group) if each.feature else called(each.group)
        yield Sentence(
            f"{group[:1].upper()}{group[1:]}, in {rate}: {_of_hundred(each)} ("
            f"{count(each.n_group)} rows, compared with {count(each.n_reference)}).",
            (f"smallest[{i}]",),
        )
    if (more := len(planned.smallest) - _MOST_GROUPS) > 0:
        yield Sentence(
            f"In {more:,} more {plural(more, 'comparison', 'comparisons')} a smaller one, or as "
            "small, would be found.",
            ("smallest",),
        )


def _certainty(planned: Planned) -> Iterator[Sentence]:
    if planned.answers is not None and not _is_practical(planned.answers):
        return
    reached = "find a difference of that size" if planned.smallest else "so planned reach the goal"
    yield Sentence(
        f"{planned.power:.0%} of audits {reached} (power), with "
        f"{100 * planned.confidence:.4g}% confidence intervals.",
        ("power", "confidence"),
    )


def _limits(planned: Planned) -> Iterator[Sentence]:
    if planned.answers is not None:
        yield Sentence("Whether answers vary as assumed: the plan holds only if they do.")
    elif planned.needed:
        yield Sentence("Whether the rates are as assumed: the plan holds only if they are.")
    else:
        yield Sentence("Which differences there are: a plan states what could be found.")


def _steps(planned: Planned) -> Iterator[Sentence]:
    if planned.answers is not None and not _is_practical(planned.answers):
        other = "items (--items)" if planned.answers.items is None else "names (--names)"
        yield Sentence(f"Give the number of {other} instead, more runs, or a larger difference.")
    elif planned.answers is not None:
        yield Sentence("Collect the answers, then audit them: fairgauge pairs.")
    elif planned.needed:
        yield Sentence("Collect the rows, then audit them: fairgauge audit.", ("needed",))
    else:
        yield Sentence(
            "State a limit that the table can decide, or collect more rows of the groups named "
            "first.",
            ("smallest",),
        )
