"""What the document of a search for alternatives has besides its fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from fairgauge.catalogue.directions import is_ratio
from fairgauge.question.specification import read_spec
from fairgauge.render import _document_tree as tree
from fairgauge.render.documents.changed import ARROW, rate_shift
from fairgauge.render.documents.report_notes import TONES
from fairgauge.render.grammar import describe_reason, spoken
from fairgauge.render.words import metric_words as metrics
from fairgauge.render.words.display_names import called, capitalised
from fairgauge.results.alternatives import Alternative, Alternatives, GapChange, KeptRate
from fairgauge.results.scopes import Interval
from fairgauge.statements.compared import unit_of

_MOST_DRAWN = 40


def _ordered(found: Alternatives) -> list[Alternative]:
    # those that are shown first, then by the gap as measured
    def place(one: Alternative) -> tuple[bool, bool, float]:
        return one.name != found.best, not one.shown_for, -found.reduction(one)

    return sorted(found.candidates, key=place)


def _facts(found: Alternatives) -> dict[str, object]:
    return {
        "whom": unit_of(read_spec(found.spec)),
        "tone": str(TONES[found.outcome]),
        "verdict": spoken().terms["alternatives"][str(found.verdict)].upper(),
        "metric": metrics.metric_words(found.metric),
    }


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
    texts, shown = spoken().terms["alternatives"], _ordered(found)[:_MOST_DRAWN]
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


STREAMS: Mapping[str, Callable[..., object]] = {
    "facts": _facts,
    "frame": lambda found, **_: {"exhibits": _drawn(found)},
    "tried": _candidates,
    "together": _simultaneous,
    "rates_of_groups": _rates,
    "rows": _rows,
}
