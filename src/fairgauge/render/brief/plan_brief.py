"""The brief of a plan: rows that an audit needs, differences that a table shows, people to ask."""

from __future__ import annotations

import math
from collections.abc import Iterator

from fairgauge.enums import Estimator
from fairgauge.reasons import FEWEST_ROWS, ReasonCode
from fairgauge.render.brief._next_steps import analyst, owner, supplier
from fairgauge.render.brief._vocabulary import Vocabulary, place_in_words
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.metric_words import compared_rate, metric_value
from fairgauge.render.words.numbers import amount, count, listing, numbered, plural
from fairgauge.render.words.reason_sentences import describe_reason
from fairgauge.render.words.rule_words import written_rule_words
from fairgauge.results.brief import Brief, Sentence
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
    """Return the smallest disparities with their places: those that are none, then the largest."""

    def size(each: tuple[int, Smallest]) -> tuple[bool, bool, float]:
        _, smallest = each
        none = smallest.difference is None
        rank = smallest.n_group if smallest.difference is None else -smallest.difference
        return not none, smallest.reason is None, rank

    return sorted(enumerate(planned.smallest), key=size)


def _answers_words(answers: PlannedPairs) -> str:
    """Return how many names, items and runs an audit by swapped names takes."""
    names, items, runs = answers.names, answers.items, answers.runs
    each = f"{numbered(runs, 'answers')} to each item under each name"
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
    if planned.self_reports:
        return _answers_of_all(planned)
    if not planned.smallest:
        return Sentence("No comparison of the table can be planned for", ("smallest",))
    shown = [(i, each) for i, each in _ordered(planned) if each.difference is not None]
    if not shown:
        text = "In no comparison of the table would a difference probably be found"
        if all(each.reason is not None for each in planned.smallest):
            text = "No comparison of the table would be evaluated"
        return Sentence(text, ("smallest",))
    place, widest = shown[0]
    every = len(planned.smallest)
    which = "each comparison"
    if len(shown) < every:
        which = f"{len(shown):,} of {every:,} comparisons"
    return Sentence(
        f"In {which} a difference of {per_hundred(widest)} of 100 or more would probably be found",
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
        yield Sentence(f"{numbered(goals, 'goals')}, before data are there.")
    if planned.self_reports:
        features = listing(list(dict.fromkeys(called(e.feature) for e in planned.self_reports)))
        yield Sentence(
            f"The rules about {features}, of which the table has probabilities: how many of the "
            "people have to be asked until each is decided.",
            ("self_reports",),
        )
    if planned.smallest:
        size = numbered(len(planned.smallest), "comparisons")
        yield Sentence(f"{size} of groups in the table that was given.", ("smallest",))
    elif not (planned.answers or planned.needed or planned.self_reports):
        yield Sentence(
            "The table that was given. A plan is for rates of two groups that share no row, with "
            "confidence intervals.",
            ("smallest",),
        )


_EXPECTS = {
    Estimator.LIKELIHOOD: "if the outcome does not depend on the probabilities within a group",
    Estimator.VALIDATED: "if others answer as those who were asked",
}


def _answers_of_all(planned: Planned) -> Sentence:
    """Return how many answers decide how many rules, and if what is right."""
    rows = planned.self_reports
    expected = {each.expects for each in rows}
    expects = Estimator.LIKELIHOOD if Estimator.LIKELIHOOD in expected else Estimator.VALIDATED
    answered = max(each.answered for each in rows)
    decided = _decided([each.self_reports for each in rows], answered)
    return Sentence(capitalised(f"{_EXPECTS[expects]}, {decided}"), ("self_reports",))


def _decided(needed: list[float], answered: int) -> str:
    """Return how many rules of groups so many answers decide."""
    enough = [each for each in needed if math.isfinite(each)]
    if not enough:
        return "the answers of all people of the table would probably not decide a rule"
    which = "every rule"
    if len(enough) < len(needed):
        which = f"{len(enough):,} of {len(needed):,} rules of groups, and those of all no more"
    return f"the answers of {_people(max(enough), answered)} would probably decide {which}"


def _people(needed: float, answered: int) -> str:
    """Return how many people drawn at random have to be asked, with those who were already."""
    if math.isinf(needed):
        return "more than all people of the table"
    if not answered:
        return f"{needed:,.0f} people"
    more = f"{needed - answered:,.0f}" if needed > answered else "no"
    return f"{needed:,.0f} people in all ({more} more)"


def _people_to_ask(planned: Planned) -> Iterator[Sentence]:
    """Yield how many people to ask for each group, and if what is right."""
    words = Vocabulary({})
    for i, each in enumerate(planned.self_reports[:_MOST_GROUPS]):
        group = words.group(each.feature, each.group)
        people = _people(each.self_reports, each.answered)
        value = metric_value(each.definition, each.expected)
        rule = written_rule_words(each.rule, each.definition)
        at = "" if each.threshold is None else f", threshold {each.threshold:g}"
        yield Sentence(
            f"{group[:1].upper()}{group[1:]}, {rule}{at}: {people} {_EXPECTS[each.expects]} "
            f"({value}).",
            (f"self_reports[{i}]",),
        )
    if (more := len(planned.self_reports) - _MOST_GROUPS) > 0:
        yield Sentence(
            f"{more:,} more {plural(more, 'rule', 'rules')} of groups: in the full record.",
            ("self_reports",),
        )


def per_hundred(each: Smallest) -> str:
    """Return a difference in percentage points, rounded up to one decimal: never as less."""
    assert each.difference is not None
    return f"{math.ceil(10 * _PER_HUNDRED * each.difference - _ROUNDING) / 10:.1f}"


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
    yield from _people_to_ask(planned)
    words = Vocabulary({})
    for i, each in _ordered(planned)[:_MOST_GROUPS]:
        group = words.group(each.feature, each.group) if each.feature else called(each.group)
        yield Sentence(
            f"{group[:1].upper()}{group[1:]}, in {rate_of(each)}: {_size(each)} "
            f"({numbered(each.n_group)}, compared with {count(each.n_reference)}).",
            (f"smallest[{i}]",),
        )
    yield from _others(planned)


def rate_of(each: Smallest) -> str:
    """Return the rate that is compared, with the class and the threshold where it has one."""
    rate = (compared_rate(each.definition) or each.definition).title
    return f"{rate}{place_in_words(each.class_scope, each.threshold)}"


def _size(each: Smallest) -> str:
    """Return the smallest difference that would be found, or why none would."""
    if each.reason is not None:
        why = f"not evaluated, because {describe_reason(each.reason)}"
        if each.reason.get("n") is None:  # too few clusters, or effective rows
            return why
        lacking = math.ceil(each.reason["minimum"] - each.reason["n"])
        needed = f"{numbered(lacking, 'more rows')} {plural(lacking, 'is', 'are')} needed"
        return f"{why}; {needed}"
    if each.difference is None:
        return "no difference that there can be would probably be found"
    return f"{per_hundred(each)} of 100"


def _others(planned: Planned) -> Iterator[Sentence]:
    """Yield what there is besides the comparisons that are named."""
    named, others = (
        [each for _, each in _ordered(planned)[part]]
        for part in (slice(_MOST_GROUPS), slice(_MOST_GROUPS, None))
    )
    shown = [each for each in others if each.difference is not None]
    if none := len(others) - len(shown):
        yield Sentence(
            f"In {none:,} more {plural(none, 'comparison', 'comparisons')} no difference would be "
            "found.",
            ("smallest",),
        )
    if more := len(shown):
        size = "a smaller one, or as small,"
        if all(each.difference is None for each in named):
            size = f"a difference of {per_hundred(shown[0])} of 100, or a smaller one,"
        yield Sentence(
            f"In {more:,} more {plural(more, 'comparison', 'comparisons')} {size} would be found.",
            ("smallest",),
        )


def _certainty(planned: Planned) -> Iterator[Sentence]:
    shown = any(each.difference is not None for each in planned.smallest)
    of_table = shown or planned.needed or planned.self_reports
    if not (of_table or (planned.answers is not None and _is_practical(planned.answers))):
        return
    reached = "find a difference of that size" if shown else "so planned reach the goal"
    if planned.self_reports and not shown:
        reached = "with so many answers decide the rule"
    yield Sentence(
        f"{planned.power:.0%} of audits {reached} (power), with "
        f"{100 * planned.confidence:.4g}% confidence intervals.",
        ("power", "confidence"),
    )
    if planned.self_reports:
        yield Sentence(
            "Fewer answers may decide a rule, with a lower probability. Verdicts are on all people "
            "whom such a table could hold, so that the answers of all in this one leave them open "
            "where the difference is close to the limit.",
            ("self_reports",),
        )


def _limits(planned: Planned) -> Iterator[Sentence]:
    if planned.answers is not None:
        yield Sentence("Whether answers vary as assumed: the plan holds only if they do.")
    elif planned.needed:
        yield Sentence("Whether the rates are as assumed: the plan holds only if they are.")
    if planned.self_reports:
        yield Sentence(
            "Which assumption is right, and whether the probabilities are: where they show nothing "
            "of the group, as many people have to be asked as stated under at_most.",
            ("self_reports",),
        )
        yield from _unused_answers(planned)
    if planned.smallest:
        yield Sentence("Which differences there are: a plan states what could be found.")


def _unused_answers(planned: Planned) -> Iterator[Sentence]:
    """Yield for which groups answers at hand are too few to take the place of an assumption."""
    words = Vocabulary({})
    few = {
        words.group(each.feature, each.group): each.answered
        for each in planned.self_reports
        if each.answered and each.expects is not Estimator.VALIDATED
    }
    if few:
        yield Sentence(
            f"What the {max(few.values()):,} people who were asked already show of "
            f"{listing(list(few))}: fewer than {FEWEST_ROWS} of them are of one of the sides that "
            "are compared, so that their answers are not used for it.",
            ("self_reports",),
        )


def _steps(planned: Planned) -> Iterator[Sentence]:
    if planned.answers is not None and not _is_practical(planned.answers):
        other = "items, with --items," if planned.answers.items is None else "names, with --names,"
        yield analyst(f"give the number of {other} instead, more runs, or a larger difference.")
    elif planned.answers is not None:
        yield analyst("collect the answers, then audit them (fairgauge pairs).")
    elif planned.needed:
        yield analyst("collect the rows, then audit them (fairgauge audit).", ("needed",))
    if planned.self_reports:
        needed = [each for each in planned.self_reports if math.isfinite(each.self_reports)]
        if not needed:
            yield supplier(
                "collect more rows, with the answers of people drawn at random, and plan again.",
                ("self_reports",),
            )
            return
        if all(each.self_reports <= each.answered for each in needed):
            yield analyst("audit the answers there are (fairgauge audit).", ("self_reports",))
            return
        asked = any(each.answered for each in planned.self_reports)
        who = "so many more, not asked before," if asked else "the people"
        yield supplier(
            f"draw {who} at random from all rows, ask them, name the column of their answers "
            "(known, with known_drawn = random), and audit again (fairgauge audit).",
            ("self_reports",),
        )
    if planned.smallest:
        reasons = [each.reason.code for each in planned.smallest if each.reason is not None]
        more = "rows of more clusters" if ReasonCode.FEW_CLUSTERS in reasons else "more rows"
        yield owner(
            f"state limits that the table can decide, or collect {more} of the groups named "
            "first. An audit states the rows that would probably decide an inconclusive rule.",
            ("smallest",),
        )
    elif not (planned.answers or planned.needed or planned.self_reports):
        yield analyst(
            "audit the table, by rules: an inconclusive one states the rows it needs, if a "
            "practical number would probably decide it."
        )
