"""What the document of a choice of thresholds has besides its fields: effects, points, a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Outcome
from fairgauge.question.rules import Rule, parse_rule
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.document_parts import TONES
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


class _Part:
    """A feature of a choice, with what names it where there are several."""

    def __init__(self, choice: ThresholdChoice, of: FeatureThresholds) -> None:
        self.choice, self.of = choice, of
        self.named = f", {called(of.feature)}" if len(choice.features) > 1 else ""
        self.goal = parse_rule(choice.goal)
        self.cuts = {choice.today: "today"}
        if of.common is not None:
            self.cuts.setdefault(of.common.threshold, "chosen")

    def rows(self, points: Iterable[OperatingPoint]) -> Iterator[Mapping[str, Any]]:
        """Yield thresholds, each with the group that decides it and what that is compared with."""
        for each in points:
            yield {
                "name": f"{each.threshold:g} {self.cuts.get(each.threshold, '')}".strip(),
                "performance": _share(
                    self.choice.kept_rate, each.performance, each.performance_interval
                ),
                "disparity": _disparity(self.goal, each),
                "group": f"{called(each.group)}{versus(each.reference)}",
                "outcome": each.outcome,
            }

    @property
    def places(self) -> list[int]:
        """Return where today's threshold is in the frontier, and the chosen one."""
        every = range(len(self.of.frontier))
        return [
            min(every, key=lambda i: abs(self.of.frontier[i].threshold - cut)) for cut in self.cuts
        ]

    @property
    def near(self) -> list[OperatingPoint]:
        """Return today's threshold, the chosen one and some between; or those beside it."""
        places, last = self.places, len(self.of.frontier) - 1
        low, high = min(places), max(places)
        if low == high:
            step = max(1, (last + 1) // _MOST_POINTS)
            beside = {max(0, low - step), low, min(last, high + step)}
            return [self.of.frontier[i] for i in sorted(beside)]
        between = (low + round(part * (high - low) / _BETWEEN) for part in range(_BETWEEN + 1))
        return [self.of.frontier[i] for i in sorted({*places, *between})]

    @property
    def some(self) -> list[OperatingPoint]:
        """Return a part of the frontier, evenly spaced, with both thresholds."""
        step = max(1, len(self.of.frontier) // _MOST_POINTS)
        wanted = {*range(0, len(self.of.frontier), step), *self.places}
        return [self.of.frontier[i] for i in sorted(wanted)]


def _facts(choice: ThresholdChoice) -> dict[str, Any]:
    verdicts = [_verdict(choice, each) for each in choice.features]
    severity = (tree.Tone.GOOD, tree.Tone.UNSURE, tree.Tone.BAD).index
    several = len(verdicts) > 1
    return {
        "whom": unit_of(choice.spec),
        "goal": written_rule_words(choice.goal),
        "metric": metric_words(parse_rule(choice.goal).row),
        "tone": str(max((tone for _, tone in verdicts), key=severity)),
        "verdict": "; ".join(
            f"{called(each.feature)}: {text}" if several else text
            for each, (text, _) in zip(choice.features, verdicts, strict=True)
        ),
    }


def _verdict(choice: ThresholdChoice, of: FeatureThresholds) -> tuple[str, tree.Tone]:
    if of.common is None:
        if of.outcome is not Outcome.FAIL:
            word = outcome_word(of.outcome).upper()
            return f"{word}: NO COMMON THRESHOLD IS PROPOSED", TONES[of.outcome]
        kept = choice.kept_rate.title.upper()
        return f"NO COMMON THRESHOLD MEETS THE GOAL AND KEEPS {kept}", tree.Tone.BAD
    tone = TONES[of.common.outcome]
    if tone is tree.Tone.GOOD and grown_error(choice, of.common) is not None:
        tone = tree.Tone.UNSURE
    return f"{outcome_word(of.common.outcome).upper()} AT {of.common.threshold:g}", tone


def _common(part: _Part) -> Iterator[str]:
    """Yield what a choice changes, and its price; the values alone where no decision changes."""
    choice, effect = part.choice, part.of.common
    if effect is None:
        return
    changes = effect.threshold != choice.today
    rates = (e for e in effect.rates if e.feature is None and e.rate != choice.kept)
    for each in (effect.performance, *rates):
        shift = describe_rate_shift(each) if changes else _share(each.definition, each.new, None)
        yield f"{capitalised(each.definition.title)}: {shift}."
    alike: dict[tuple[str, str, str], list[str]] = {}  # worst odds of two groups are the same
    for change in effect.disparities:
        value = metric_value(change.definition, change.new)
        shift = describe_disparity_shift(change) if changes else value
        row = metric_words(change.definition), versus(change.reference), shift
        alike.setdefault(row, []).append(called(change.group))
    for (metric, reference, shift), groups in alike.items():
        yield f"{capitalised(metric)}, {numbers.listing(groups)}{reference}: {shift}."


def _groups_drawn(choice: ThresholdChoice) -> Iterator[tree.Chart]:
    """Yield how often it happens to each group, today and at the chosen threshold."""
    groups = [s for s in group_rates(choice) if s.of and s.of.event]
    if not groups:
        return
    grammar, facts = told(choice).language, groups[0].facts
    event: Any = groups[0].of and groups[0].of.event
    today, cut = choice.today, facts["new"]["value"]
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


def _drawn(part: _Part) -> Iterator[tree.Chart]:
    """Yield the disparity at each threshold, on the axis of the goal."""
    metric, points = part.goal.row, part.some
    rows = tuple(
        tree.ChartRow(
            f"{row['name']}, {row['group']}",
            tree.mark_of(point.disparity, point.disparity_interval),
            row["disparity"],
            emphasis=point.threshold in part.cuts,
        )
        for point, row in zip(points, part.rows(points), strict=True)
    )
    title = capitalised(f"{metric_words(metric)} by threshold, {called(part.of.feature)}")
    allowed = (part.goal.low, part.goal.high)
    yield tree.Chart(title, rows, unit(metric), neutral(metric), allowed=allowed)


def _share(rate: Statistic, value: float | None, interval: Interval | None) -> str:
    if value is None or interval is None:
        return "-" if value is None else rate_text(rate, value)
    kind = tree.Unit.PERCENT if rate.is_share else tree.Unit.NUMBER
    return f"{rate_text(rate, value)} ({shown_range(interval.low, interval.high, kind)})"


def _disparity(goal: Rule, each: OperatingPoint) -> str:
    """Return the metric of the goal with its interval, on their own sides of its limits."""
    limits = tuple(filter(math.isfinite, (goal.low, goal.high)))
    text = metric_number(goal.row, each.disparity, limits)
    if each.disparity_interval is None:
        return text
    low, high = each.disparity_interval
    return f"{text} ({metric_range(goal.row, low, high, limits)})"


def _frontiers(choice: ThresholdChoice) -> Iterator[dict[str, Any]]:
    """Yield every feature and threshold; ``value_meets`` is by the value alone."""
    for of in choice.features:
        chosen = None if of.common is None else of.common.threshold
        for each in of.frontier:
            row = {"feature": of.feature, "threshold": each.threshold, "group": each.group}
            row |= {"value_meets": each.value_meets, "outcome": str(each.outcome)}
            row |= {"today": each.threshold == choice.today}
            row |= {"chosen": each.threshold == chosen}
            for name in ("performance", "disparity"):
                low, high = getattr(each, f"{name}_interval") or (None, None)
                row |= {name: getattr(each, name), f"{name}_low": low, f"{name}_high": high}
            yield row


STREAMS: Mapping[str, Callable[[Any], Any]] = {
    "facts": _facts,
    "frame": lambda choice, **_: {"exhibits": _groups_drawn(choice)},
    "parts": lambda choice: [_Part(choice, each) for each in choice.features],
    "common": _common,
    "near": lambda part: part.rows(part.near),
    "some": lambda part: part.rows(part.some),
    "drawn": _drawn,
    "frontiers": _frontiers,
}
