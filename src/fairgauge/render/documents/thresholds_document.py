"""The document of a choice of thresholds: the choice, its price, the frontier."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Outcome
from fairgauge.question.rules import Rule, parse_rule
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents._document_parts import TONES, document_of, listed, table_of_rows
from fairgauge.render.documents.report_notes import opening_warnings, report_warnings
from fairgauge.render.page import told
from fairgauge.render.words import numbers
from fairgauge.render.words.change_words import ARROW, describe_disparity_shift, describe_rate_shift
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.estimate_sentences import versus
from fairgauge.render.words.metric_words import (
    metric_number,
    metric_range,
    metric_value,
    metric_words,
    neutral,
    rate_text,
    shown,
    shown_range,
    unit,
)
from fairgauge.render.words.question_sentences import unit_of
from fairgauge.render.words.rule_words import written_rule_words
from fairgauge.render.words.verdict_sentences import outcome_word
from fairgauge.results.scopes import Interval
from fairgauge.results.threshold_choice import (
    FeatureThresholds,
    OperatingPoint,
    ThresholdChoice,
)
from fairgauge.statements.thresholds import group_rates, grown_error

_MOST_POINTS, _MOST_DRAWN = 25, 8
_BETWEEN = 3
"""In how many steps the table goes from today's threshold to the chosen one."""
_ANSWERS = {
    Outcome.PASS: "yes",
    Outcome.FAIL: "no",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.NOT_EVALUATED: "insufficient data",
}
METHOD = (
    "One random half of the rows of every group chooses the thresholds. Numbers and outcomes are "
    "of the other half. Where they can be, thresholds are chosen with a margin: in the half that "
    "chooses, even wider confidence intervals than those shown meet the goal and keep the rate. "
    "The other half may still not confirm it. Both halves are drawn from the counts "
    "(hypergeometric), with the seed of the audit. Changes against today are "
    "paired: both thresholds decide the same rows."
)


def thresholds_document(choice: ThresholdChoice, *, full: bool = True) -> tree.DocumentTree:
    """Build the document of a choice of thresholds."""
    del full  # it has no summary
    sections = [
        section
        for i, each in enumerate(choice.features)
        for section in _of_feature(choice, each, i)
    ]
    every = [block for each in choice.features for block in _every(choice, each)]
    sections.append(listed("all", "More thresholds", *every))
    method = f"Goal: {written_rule_words(choice.goal)}. {METHOD}"
    sections.append(tree.Section("notes", "Notes", (tree.Paragraph(method, tree.Tone.SOFT),)))
    verdicts = [_verdict(choice, each) for each in choice.features]
    worst = max(
        (tone for _, tone in verdicts), key=(tree.Tone.GOOD, tree.Tone.UNSURE, tree.Tone.BAD).index
    )
    several = len(verdicts) > 1
    verdict = "; ".join(
        f"{called(each.feature)}: {text}" if several else text
        for each, (text, _) in zip(choice.features, verdicts, strict=True)
    )
    return document_of(
        choice,
        title=f"Thresholds of {called(choice.score)}",
        beside=numbers.numbered(choice.data.rows, unit_of(choice.spec)),
        verdict=verdict,
        tone=worst,
        sections=sections,
        exhibits=_groups_drawn(choice),
        file_name="thresholds",
        warnings=opening_warnings(report_warnings(choice.diagnostics)),
    )


def _groups_drawn(choice: ThresholdChoice) -> Iterator[tree.Chart]:
    """Yield how often it happens to each group, today and at the chosen threshold."""
    groups = [s for s in group_rates(choice) if s.who and s.of and s.of.event]
    if not groups:
        return
    grammar, facts = told(choice).language, groups[0].facts
    event, today, cut = groups[0].of and groups[0].of.event, choice.today, facts["new"]["value"]
    assert event is not None
    rows = []
    for each in groups[:_MOST_DRAWN]:
        old, new = each.facts["old_value"], each.facts["new_value"]
        values = (old, new) if facts["moves"] else (new,)
        text = f" {ARROW} ".join(shown(value, tree.Unit.PERCENT) for value in values)
        before = tree.Mark(old) if facts["moves"] else None
        label = capitalised(grammar.whom(each))
        rows.append(tree.ChartRow(label, tree.Mark(new), text, before=before))
    note = f"Open: at {today:g}; filled: at {cut:g}." if facts["moves"] else f"At {cut:g}."
    if (more := len(groups) - len(rows)) > 0:
        note += f" {numbers.plural(more, 'One group', f'{more:,} groups')} more not drawn."
    title = f"Of 100 in each group, how many {grammar.was(event)}"
    yield tree.Chart(title, tuple(rows), tree.Unit.PERCENT, None, notes=(note,))


def _verdict(choice: ThresholdChoice, of: FeatureThresholds) -> tuple[str, tree.Tone]:
    if of.common is None:
        kept = choice.kept_rate.title.upper()
        if of.outcome is not Outcome.FAIL:
            word = outcome_word(of.outcome).upper()
            return f"{word}: NO COMMON THRESHOLD IS PROPOSED", TONES[of.outcome]
        return f"NO COMMON THRESHOLD MEETS THE GOAL AND KEEPS {kept}", tree.Tone.BAD
    outcome = of.common.outcome
    tone = TONES[outcome]
    if tone is tree.Tone.GOOD and grown_error(choice, of.common) is not None:
        tone = tree.Tone.UNSURE
    return f"{outcome_word(outcome).upper()} AT {of.common.threshold:g}", tone


def _of_feature(
    choice: ThresholdChoice, of: FeatureThresholds, place: int
) -> Iterator[tree.Section]:
    """Yield the sections of one feature; their names state it where there are several."""
    several = len(choice.features) > 1
    of_words = f", {called(of.feature)}" if several else ""
    at = f"-{place}" if several else ""
    for name, title, blocks in (
        ("common", "One threshold for all", _effect(choice, of)),
        ("frontier", "Thresholds compared", _frontier(choice, of)),
    ):
        full = f"{title}{of_words}"
        yield listed(f"{name}{at}", full, *blocks)


def _effect(choice: ThresholdChoice, of: FeatureThresholds) -> Iterator[tree.Block]:
    """Yield what a choice changes, and its price; the values alone where no decision changes."""
    effect = of.common
    if effect is None:
        return
    changes = effect.threshold != choice.today
    kept = _share(choice.kept_rate, effect.performance.new, None)
    shift = describe_rate_shift(effect.performance) if changes else kept
    sentences = [f"{capitalised(choice.kept_rate.title)}: {shift}."]
    sentences += [
        f"{capitalised(each.definition.title)}: "
        f"{describe_rate_shift(each) if changes else _share(each.definition, each.new, None)}."
        for each in effect.rates
        if each.feature is None and each.rate != choice.kept
    ]
    alike: dict[tuple[str, str, str], list[str]] = {}  # worst odds of two groups are the same
    for each in effect.disparities:
        value = metric_value(each.definition, each.new)
        shift = describe_disparity_shift(each) if changes else value
        row = metric_words(each.definition), versus(each.reference), shift
        alike.setdefault(row, []).append(called(each.group))
    sentences += [
        f"{capitalised(metric)}, {numbers.listing(groups)}{reference}: {shift}."
        for (metric, reference, shift), groups in alike.items()
    ]
    yield tree.Items(tuple(sentences))


def _frontier(choice: ThresholdChoice, of: FeatureThresholds) -> Iterator[tree.Block]:
    """Yield the thresholds from today's to the chosen one, and how to read them."""
    none = "" if of.common is not None else " None of these thresholds is proposed."
    yield tree.Paragraph(
        "In the half of the rows that measures. The group decides whether the goal is met, by its "
        f"whole confidence interval; of several, the furthest from the goal.{none}"
    )
    caption = "From today's threshold to the chosen one"
    if of.common is None or of.common.threshold == choice.today:
        caption = "Today's threshold, and beside it"
    yield _by_threshold(choice, of, caption, _near(choice, of))


def _every(choice: ThresholdChoice, of: FeatureThresholds) -> Iterator[tree.Block]:
    """Yield thresholds over the whole range, as a table and drawn."""
    points = _some(choice, of)
    named = f", {called(of.feature)}" if len(choice.features) > 1 else ""
    caption = f"{len(points):,} of {numbers.count(len(of.frontier))} thresholds{named}"
    yield _by_threshold(choice, of, caption, points)
    yield _chart(choice, of)


def _by_threshold(
    choice: ThresholdChoice, of: FeatureThresholds, caption: str, points: list[OperatingPoint]
) -> tree.Table:
    """Return a table of thresholds, each with the group that decides it."""
    goal = parse_rule(choice.goal)
    kept, name = choice.kept_rate, _named(choice, of)
    return table_of_rows(
        caption,
        points,
        (tree.Column("threshold", numeric=False), name),
        (kept.title, lambda each: _share(kept, each.performance, each.performance_interval)),
        (metric_words(goal.row), lambda each: _disparity(goal, each)),
        (
            tree.Column("deciding group", numeric=False),
            lambda each: tree.Cell(_deciding(each), name=True),
        ),
        (
            tree.Column("meets the goal", numeric=False),
            lambda each: tree.Cell(_ANSWERS[each.outcome], tone=TONES[each.outcome]),
        ),
        titled=True,
    )


def _deciding(point: OperatingPoint) -> str:
    """Return the group that decides, and what it is compared with."""
    return f"{called(point.group)}{versus(point.reference)}"


def _chart(choice: ThresholdChoice, of: FeatureThresholds) -> tree.Chart:
    """Return the disparity at each threshold, on the axis of the goal."""
    goal = parse_rule(choice.goal)
    metric, marked, name = goal.row, _marked(choice, of), _named(choice, of)
    kind = unit(metric)
    rows = tuple(
        tree.ChartRow(
            f"{name(each)}, {_deciding(each)}",
            tree.mark_of(each.disparity, each.disparity_interval),
            _disparity(goal, each),
            emphasis=each.threshold in marked,
        )
        for each in _some(choice, of)
    )
    title = capitalised(f"{metric_words(metric)} by threshold, {called(of.feature)}")
    return tree.Chart(title, rows, kind, neutral(metric), allowed=(goal.low, goal.high))


def _marked(choice: ThresholdChoice, of: FeatureThresholds) -> dict[float, str]:
    marked = {choice.today: "today"}
    if of.common is not None:
        marked.setdefault(of.common.threshold, "chosen")
    return marked


def _named(choice: ThresholdChoice, of: FeatureThresholds) -> Callable[[OperatingPoint], str]:
    """Return what names a threshold: its number, and whether it is today's or the chosen one."""
    marked = _marked(choice, of)
    return lambda each: f"{each.threshold:g} {marked.get(each.threshold, '')}".strip()


def _some(choice: ThresholdChoice, of: FeatureThresholds) -> list[OperatingPoint]:
    """Return a part of the frontier, evenly spaced, with today's threshold and the chosen one."""
    points = of.frontier
    step = max(1, len(points) // _MOST_POINTS)
    wanted = {*range(0, len(points), step), *_places(choice, of)}
    return [points[i] for i in sorted(wanted)]


def _near(choice: ThresholdChoice, of: FeatureThresholds) -> list[OperatingPoint]:
    """Return today's threshold, the chosen one and some between; beside it where both are one."""
    places = _places(choice, of)
    first, last, every = min(places), max(places), len(of.frontier)
    if first == last:
        step = max(1, every // _MOST_POINTS)
        return [of.frontier[i] for i in sorted({max(0, first - step), first,
                                                min(every - 1, last + step)})]  # fmt: skip
    between = (first + round(part * (last - first) / _BETWEEN) for part in range(_BETWEEN + 1))
    return [of.frontier[i] for i in sorted({*places, *between})]


def _places(choice: ThresholdChoice, of: FeatureThresholds) -> list[int]:
    """Return where today's threshold is in the frontier, and the chosen one."""
    cuts = [choice.today, *([] if of.common is None else [of.common.threshold])]
    of_all = range(len(of.frontier))
    return [min(of_all, key=lambda i: abs(of.frontier[i].threshold - cut)) for cut in cuts]


def _share(rate: Statistic, value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "-"
    text = rate_text(rate, value)
    if interval is None:
        return text
    kind = tree.Unit.PERCENT if rate.is_share else tree.Unit.NUMBER
    return f"{text} ({shown_range(interval.low, interval.high, kind)})"


def _disparity(goal: Rule, each: OperatingPoint) -> str:
    """Return the metric of the goal with its interval, on their own sides of its limits."""
    limits = tuple(filter(math.isfinite, (goal.low, goal.high)))
    text = metric_number(goal.row, each.disparity, limits)
    if each.disparity_interval is None:
        return text
    low, high = each.disparity_interval
    return f"{text} ({metric_range(goal.row, low, high, limits)})"
