"""What documents of choices have besides their fields: of an alternative model, of thresholds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from fairgauge.catalogue.directions import is_ratio
from fairgauge.catalogue.statistics import Statistic
from fairgauge.question.rules import Rule, parse_rule
from fairgauge.question.specification import read_spec
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.changed import ARROW, change_of, disparity_shift, rate_shift
from fairgauge.render.documents.report_notes import TONES
from fairgauge.render.grammar import describe_reason, in_words, spoken
from fairgauge.render.page import first_page
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.render.words.verdict_sentences import outcome_word, versus
from fairgauge.results.alternatives import Alternative, Alternatives, GapChange, KeptRate
from fairgauge.results.scopes import Interval
from fairgauge.results.threshold_choice import FeatureThresholds, OperatingPoint, ThresholdChoice
from fairgauge.results.verdicts import gravest
from fairgauge.statements.compared import unit_of
from fairgauge.statements.thresholds import group_rates, grown_error

_MOST_CANDIDATES, _MOST_GROUPS = 40, 8


def _ordered(found: Alternatives) -> list[Alternative]:
    # those that are shown first, then by the gap as measured
    def place(one: Alternative) -> tuple[bool, bool, float]:
        return one.name != found.best, not one.shown_for, -found.reduction(one)

    return sorted(found.candidates, key=place)


def _change(found: Alternatives, each: GapChange | KeptRate, ends: Interval | None) -> str:
    if isinstance(each, KeptRate):
        share = found.catalogue.rate_row(each.rate).is_share
        kind = tree.Unit.POINTS if share else tree.Unit.NUMBER
    else:
        kind = tree.Unit.RATIO if is_ratio(found.metric) else metrics.unit(found.metric)
    signed = kind is not tree.Unit.RATIO
    change = metrics.with_unit(each.change, kind, sign=signed)
    if ends is None:
        return change
    return f"{change} ({metrics.shown_range(ends.low, ends.high, kind, sign=signed)})"


def _candidates(found: Alternatives) -> Iterator[dict[str, object]]:
    words = spoken().terms["alternative"]
    several = len({gap.feature for one in found.candidates for gap in one.gaps}) > 1
    for one in _ordered(found):
        state = "worse" if one.worse else "shown" if one.shown_for else "not_shown"
        for gap in one.gaps:
            row = metrics.metric_value(found.metric, gap.new)
            old = metrics.metric_value(found.metric, gap.old)
            yield {
                "name": one.name,
                "group": called(gap.group) + f" ({called(gap.feature)})" * several,
                "gap": f"{old} {ARROW} {row}",
                "change": _change(found, gap, gap.interval),
                "performance": "; ".join(_change(found, e, e.interval) for e in one.performance),
                "state": words["gap" if gap.shown else state],
                "reason": describe_reason(gap.reason or one.withheld_because),
            }


def _simultaneous(found: Alternatives) -> Iterator[dict[str, object]]:
    for one in _ordered(found):
        for kept in one.performance:
            rate = capitalised(metrics.titled(found.catalogue.rate_row(kept.rate).title))
            yield {"name": one.name, "of": rate, "change": _change(found, kept, kept.simultaneous)}
        for gap in one.gaps:
            yield {
                "name": one.name,
                "of": f"{called(gap.group)} ({called(gap.feature)})",
                "change": _change(found, gap, gap.simultaneous),
            }


def _against_performance(found: Alternatives) -> Iterator[tree.Block]:
    # of the gap that is largest under the model in use, and of the first rate
    texts, shown = spoken().terms["alternatives"], _ordered(found)[:_MOST_CANDIDATES]
    largest = max(shown[0].gaps, key=lambda gap: found.reach_of(gap)[1], default=None)
    if largest is None or not shown[0].performance:
        return
    across, upwards = [], []
    for one in shown:
        kept = one.performance[0]
        gaps = (each for each in one.gaps if each.group == largest.group)
        gap = next(each for each in gaps if each.feature == largest.feature)
        low, high = kept.simultaneous or (None, None)
        upwards.append(tree.Mark(kept.change, low, high, sparse=not one.shown_for))
        across.append(tree.Mark(*found.closer(gap)))
    row, who = found.catalogue.rate_row(kept.rate), f"{called(gap.group)} ({called(gap.feature)})"
    yield tree.TimeChart(
        f"{texts['chart']}: {who}, {metrics.titled(row.title)}",
        tuple(one.name for one in shown), tuple(upwards),
        tree.Unit.POINTS if row.is_share else tree.Unit.NUMBER,
        (-math.inf, kept.margin) if kept.lower else (-kept.margin, math.inf),
        notes=(texts["chart_note"],), across=tuple(across), across_unit=metrics.unit(found.metric),
        across_allowed=found.reach_of(largest), strong=0 if shown[0].name == found.best else None,
    )  # fmt: skip


def _drawn(found: Alternatives) -> Iterator[tree.Block]:
    texts = spoken().terms["alternatives"]
    yield from _against_performance(found)
    if found.search is not None and len(found.search.curve) > 1:
        size = math.exp if is_ratio(found.metric) else float
        marks = tuple(tree.Mark(size(value)) for value in found.search.curve)
        times = tuple(str(j + 1) for j in range(len(marks)))
        unit = metrics.unit(found.metric)
        yield tree.TimeChart(texts["curve"], times, marks, unit, notes=(texts["curve_note"],))


def _rates(found: Alternatives) -> Iterator[dict[str, object]]:
    for one in _ordered(found):
        for each in one.rates:
            rate = capitalised(metrics.titled(each.definition.title))
            who = f"{called(each.group)} ({called(each.feature or '')})"
            yield {"name": one.name, "rate": rate, "who": who, "shift": rate_shift(each)}


def _rows(found: Alternatives) -> Iterator[dict[str, object]]:
    for one in found.candidates:
        every: list[tuple[str, str | None, str | None, KeptRate | GapChange]]
        every = [(e.rate, None, None, e) for e in one.performance]
        every += [(found.disparity, e.feature, e.group, e) for e in one.gaps]
        for metric, feature, group, each in every:
            row: dict[str, object] = {"candidate": one.name, "metric": metric, "feature": feature}
            row |= {"group": group, "old": each.old, "new": each.new, "change": each.change}
            for name in ("interval", "simultaneous"):
                low, high = getattr(each, name) or (None, None)
                name = "" if name == "interval" else f"{name}_"
                row |= {f"{name}low": low, f"{name}high": high}
            yield row | {"shown": each.shown, "worse": one.worse}


ALTERNATIVES: Mapping[str, Callable[..., object]] = {
    "facts": lambda found: {
        "whom": unit_of(read_spec(found.spec)),
        "tone": str(TONES[found.outcome]),
        "verdict": spoken().terms["alternatives"][str(found.verdict)].upper(),
        "metric": metrics.metric_words(found.metric),
    },
    "frame": lambda found, **_: {"exhibits": _drawn(found)},
    "tried": _candidates,
    "together": _simultaneous,
    "rates_of_groups": _rates,
    "rows": _rows,
}


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


def _facts_of_choice(choice: ThresholdChoice) -> dict[str, object]:
    # one threshold decides for the groups of every feature: one answer, about all of them
    outcome = gravest(each.outcome for each in choice.features)
    effects = [each.common for each in choice.features if each.common is not None]
    cut, tone = effects[0].threshold if effects else None, TONES[outcome]
    if tone is tree.Tone.GOOD and grown_error(choice, effects[0]) is not None:
        tone = tree.Tone.UNSURE
    verdict = spoken().say("threshold", "short", word=in_words(outcome_word(outcome)), cut=cut)
    return {
        "whom": unit_of(read_spec(choice.spec)),
        "goal": spoken().cell(metrics.written_rule_words(choice.goal)),
        "kept": metrics.titled(choice.kept_rate.title),
        "metric": metrics.metric_words(parse_rule(choice.goal).row),
        "tone": str(tone),
        "verdict": (verdict or "").upper(),
    }


def _groups_drawn(choice: ThresholdChoice) -> Iterator[tree.Chart]:
    groups = [s for s in group_rates(choice) if s.of and s.of.event][:_MOST_GROUPS]
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


THRESHOLDS: Mapping[str, Callable[[Any], object]] = {
    "facts": _facts_of_choice,
    "frame": lambda choice, **_: {"exhibits": _groups_drawn(choice)},
    "parts": lambda choice: [_Part(choice, each) for each in choice.features],
    "some": lambda part: part.rows(part.of.frontier),
    "frontiers": _frontiers,
}
