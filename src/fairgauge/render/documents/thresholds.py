"""What the document of a choice of thresholds has besides its fields: effects, points, a chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from fairgauge.catalogue.statistics import Statistic
from fairgauge.question.rules import Rule, parse_rule
from fairgauge.question.specification import read_spec
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.changed import ARROW, change_of, disparity_shift, rate_shift
from fairgauge.render.documents.report_notes import TONES
from fairgauge.render.grammar import in_words, spoken
from fairgauge.render.page import first_page
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.verdict_sentences import outcome_word, versus
from fairgauge.results.scopes import Interval
from fairgauge.results.threshold_choice import FeatureThresholds, OperatingPoint, ThresholdChoice
from fairgauge.statements.compared import unit_of
from fairgauge.statements.thresholds import group_rates, grown_error

_MOST_DRAWN = 8


class _Part:
    """A feature of a choice, with what names it where there are several."""

    def __init__(self, choice: ThresholdChoice, of: FeatureThresholds) -> None:
        self.choice, self.of = choice, of
        self.named = f", {called(of.feature)}" if len(choice.features) > 1 else ""
        self.goal = parse_rule(choice.goal)
        words = spoken().terms["cut"]
        self.cuts = {choice.today: words["today"]}
        if of.common is not None:
            self.cuts.setdefault(of.common.threshold, words["chosen"])

    def rows(self, points: Iterable[OperatingPoint]) -> Iterator[Mapping[str, object]]:
        kept = self.choice.kept_rate
        for each in points:
            yield {
                "name": f"{each.threshold:g} {self.cuts.get(each.threshold, '')}".strip(),
                "performance": _share(kept, each.performance, each.performance_interval),
                "disparity": _disparity(self.goal, each),
                "group": f"{called(each.group)}{versus(each.reference)}",
                "outcome": each.outcome,
            }

    def common(self) -> Iterator[str]:
        if (effect := self.of.common) is None:
            return
        g = spoken()
        rates = (e for e in effect.rates if e.feature is None and e.rate != self.choice.kept)
        for each in (effect.performance, *rates):
            rate = capitalised(metrics.titled(each.definition.title))
            yield f"{rate}: {g.cell(rate_shift(each))}"
        for one in effect.disparities:
            change = "" if one.change is None else f" ({change_of(one)})"
            whose = f"{called(one.group)}{versus(one.reference)}"
            metric = capitalised(metrics.metric_words(one.definition))
            yield f"{metric}, {whose}: {g.cell(disparity_shift(one) + change)}"


def _facts(choice: ThresholdChoice) -> dict[str, object]:
    verdicts = [_verdict(choice, each) for each in choice.features]
    severity = (tree.Tone.GOOD, tree.Tone.UNSURE, tree.Tone.BAD).index
    several = len(verdicts) > 1
    return {
        "whom": unit_of(read_spec(choice.spec)),
        "goal": spoken().cell(metrics.written_rule_words(choice.goal)),
        "kept": metrics.titled(choice.kept_rate.title),
        "metric": metrics.metric_words(parse_rule(choice.goal).row),
        "tone": str(max((tone for _, tone in verdicts), key=severity)),
        "verdict": "; ".join(
            f"{called(each.feature)}: {text}" if several else text
            for each, (text, _) in zip(choice.features, verdicts, strict=True)
        ),
    }


def _verdict(choice: ThresholdChoice, of: FeatureThresholds) -> tuple[str, tree.Tone]:
    word, cut = in_words(outcome_word(of.outcome)), of.common and of.common.threshold
    text = spoken().say("threshold", "short", word=word, cut=cut) or ""
    tone = TONES[of.outcome]
    if of.common is not None:
        tone = TONES[of.common.outcome]
        if tone is tree.Tone.GOOD and grown_error(choice, of.common) is not None:
            tone = tree.Tone.UNSURE
    return text.upper(), tone


def _groups_drawn(choice: ThresholdChoice) -> Iterator[tree.Chart]:
    groups = [s for s in group_rates(choice) if s.of and s.of.event][:_MOST_DRAWN]
    if not groups:
        return
    grammar, facts = first_page(choice).language, groups[0].facts
    rows = []
    for each in groups:
        old, new = each.facts["old_value"], each.facts["new_value"]
        values = (old, new) if facts["moves"] else (new,)
        text = f" {ARROW} ".join(metrics.shown(value, tree.Unit.PERCENT) for value in values)
        before = tree.Mark(old) if facts["moves"] else None
        label = capitalised(grammar.whom(each))
        rows.append(tree.ChartRow(label, tree.Mark(new), text, before=before))
    title, note = (grammar.say("groups_drawn", place, groups[0]) or "" for place in ("text", "key"))
    yield tree.Chart(title, tuple(rows), tree.Unit.PERCENT, None, notes=(note,))


def _share(rate: Statistic, value: float | None, interval: Interval | None) -> str:
    if value is None or interval is None:
        return "-" if value is None else metrics.rate_text(rate, value)
    kind = tree.Unit.PERCENT if rate.is_share else tree.Unit.NUMBER
    ends = metrics.shown_range(interval.low, interval.high, kind)
    return f"{metrics.rate_text(rate, value)} ({ends})"


def _disparity(goal: Rule, each: OperatingPoint) -> str:
    limits = tuple(filter(math.isfinite, (goal.low, goal.high)))
    text, ends = metrics.metric_value(goal.row, each.disparity, limits), each.disparity_interval
    shown = metrics.metric_range(goal.row, ends.low, ends.high, limits) if ends else ""
    return f"{text} ({shown})" if ends else text


def _frontiers(choice: ThresholdChoice) -> Iterator[dict[str, object]]:
    # every feature and threshold; ``value_meets`` is by the value alone
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


STREAMS: Mapping[str, Callable[[Any], object]] = {
    "facts": _facts,
    "frame": lambda choice, **_: {"exhibits": _groups_drawn(choice)},
    "parts": lambda choice: [_Part(choice, each) for each in choice.features],
    "some": lambda part: part.rows(part.of.frontier),
    "frontiers": _frontiers,
}
