"""The document of a choice of thresholds: the choice, its price, the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import Outcome
from fairgauge.render import numbers
from fairgauge.render.display_names import called, capitalised
from fairgauge.render.document_tree import (
    Block,
    Cell,
    Chart,
    ChartRow,
    Column,
    DocumentTree,
    Items,
    Mark,
    Paragraph,
    Section,
    Table,
    Tone,
    Unit,
)
from fairgauge.render.metric_words import (
    is_share,
    metric_words,
    neutral,
    rate_words,
    shown,
    shown_range,
    signed,
    unit,
)
from fairgauge.render.models_document import describe_disparity_shift, describe_rate_shift
from fairgauge.spec.rules import parse_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.comparison.threshold_choice import (
        FeatureThresholds,
        OperatingPoint,
        ThresholdChoice,
        ThresholdEffect,
    )
    from fairgauge.report.results import Interval

_MOST_POINTS = 25
_OUTCOMES = {
    Outcome.PASS: ("PASS", Tone.GOOD, "the whole confidence interval of every group meets it"),
    Outcome.FAIL: ("FAIL", Tone.BAD, "the whole confidence interval of a group is beyond it"),
    Outcome.INCONCLUSIVE: (
        "INCONCLUSIVE",
        Tone.UNSURE,
        "the confidence interval of a group includes its limit",
    ),
}
WARNING = (
    "Different thresholds for different groups are disparate treatment, and unlawful for many uses "
    "in many places. Seek legal advice before using them."
)
METHOD = (
    "One random half of the rows chooses the thresholds; every number shown is of the other half. "
    "Both halves are drawn from the counts (hypergeometric), with the seed of the audit. Changes "
    "against today are paired: both thresholds decide the same rows."
)


def thresholds_document(choice: ThresholdChoice) -> DocumentTree:
    """Build the document of a choice of thresholds."""
    kept, margin = rate_words(choice.kept), _points(choice.kept, choice.margin)
    names = numbers.listing([called(each.feature) for each in choice.features])
    lead = (
        f"Goal: {choice.goal} for every group of {names}, with {kept} worse by at most {margin}. "
        f"The threshold of {called(choice.score)} is {choice.today:g} today."
    )
    if len(choice.features) > 1:
        lead += " Thresholds are chosen for each feature by itself."
    sections = [
        section
        for i, each in enumerate(choice.features)
        for section in _of_feature(choice, each, i)
    ]
    sections.append(Section("notes", "Notes", (Paragraph(METHOD, Tone.SOFT),)))
    verdicts = [_verdict(each) for each in choice.features]
    worst = max((tone for _, tone in verdicts), key=(Tone.GOOD, Tone.UNSURE, Tone.BAD).index)
    several = len(verdicts) > 1
    verdict = "; ".join(
        f"{called(each.feature)}: {text}" if several else text
        for each, (text, _) in zip(choice.features, verdicts, strict=True)
    )
    return DocumentTree(
        title=f"Thresholds of {called(choice.score)}",
        beside=f"{numbers.count(choice.rows)} rows",
        lead=(lead,),
        cover=(),
        verdict=verdict,
        tone=worst,
        sections=tuple(section for section in sections if section.blocks),
        created=choice.created,
        version=choice.version,
    )


def _verdict(of: FeatureThresholds) -> tuple[str, Tone]:
    if of.common is None:
        return "NO COMMON THRESHOLD MEETS THE GOAL", Tone.BAD
    word, tone, _ = _OUTCOMES[of.common.outcome]
    return f"{word} AT {_cut(of.common):g}", tone


def _of_feature(choice: ThresholdChoice, of: FeatureThresholds, place: int) -> Iterator[Section]:
    """Yield the sections of one feature; their names state it where there are several."""
    several = len(choice.features) > 1
    of_words = f", {called(of.feature)}" if several else ""
    at = f"-{place}" if several else ""
    for name, title, blocks, short in (
        ("common", "One threshold for all", _common(choice, of), "Common"),
        ("by-group", "A threshold for each group", _by_group(choice, of), "Groups"),
        ("frontier", "Every threshold", _frontier(choice, of), "Frontier"),
        ("all", "Chart", _chart(choice, of), "Chart"),
    ):
        yield Section(
            f"{name}{at}", f"{title}{of_words}", tuple(blocks), short=f"{short}{of_words}"
        )
    title = f"Weights for retraining{of_words}"
    yield Section(f"reweighing{at}", title, tuple(_reweighing(of)), folded=True)


def _cut(effect: ThresholdEffect) -> float:
    return next(iter(effect.thresholds.values()))


def _common(choice: ThresholdChoice, of: FeatureThresholds) -> Iterator[Block]:
    effect = of.common
    if effect is None:
        margin = _points(choice.kept, choice.margin)
        yield Paragraph(
            f"No common threshold meets {choice.goal} and keeps {rate_words(choice.kept)} within "
            f"{margin}."
        )
        return
    yield Paragraph(
        f"The threshold closest to today's {choice.today:g} is {_cut(effect):g}. In the other half "
        f"of the rows {_OUTCOMES[effect.outcome][2]}."
    )
    yield from _effect(choice, effect)


def _by_group(choice: ThresholdChoice, of: FeatureThresholds) -> Iterator[Block]:
    effect = of.by_group
    if effect is None:
        return
    yield Paragraph(WARNING, Tone.BAD)
    cuts = (f"{called(name)} {cut:g}" for name, cut in effect.thresholds.items())
    yield Paragraph(
        f"The most accurate thresholds that meet the goal: {', '.join(cuts)}. In the other half of "
        f"the rows {_OUTCOMES[effect.outcome][2]}."
    )
    yield from _effect(choice, effect)


def _effect(choice: ThresholdChoice, effect: ThresholdEffect) -> Iterator[Block]:
    """Yield what a choice changes, and its price."""
    sentences = [
        f"{capitalised(rate_words(choice.kept))}: {describe_rate_shift(effect.performance)}."
    ]
    for each in effect.disparities:
        shift = describe_disparity_shift(each)
        sentences.append(
            f"{capitalised(metric_words(each.metric))}, {called(each.group)}: {shift}."
        )
    yield Items(tuple(sentences))


def _frontier(choice: ThresholdChoice, of: FeatureThresholds) -> Iterator[Block]:
    """Yield a table of some thresholds."""
    metric = parse_rule(choice.goal).metric
    points = _some(choice, of)
    marked = _marked(choice, of)
    rows = []
    for each in points:
        name = f"{each.threshold:g} {marked.get(each.threshold, '')}".strip()
        rows.append(
            (
                Cell(name),
                Cell(_share(choice.kept, each.performance, each.performance_interval)),
                Cell(_disparity(metric, each)),
                Cell(called(each.group), name=True),
                Cell("yes" if each.meets else "no", tone=Tone.GOOD if each.meets else Tone.PLAIN),
            )
        )
    columns = (
        Column("threshold", numeric=False),
        Column(rate_words(choice.kept)),
        Column(metric_words(metric)),
        Column("furthest group", numeric=False),
        Column("meets the goal", numeric=False),
    )
    yield Table("Every threshold", columns, tuple(rows))


def _chart(choice: ThresholdChoice, of: FeatureThresholds) -> Iterator[Block]:
    """Yield the disparity at each threshold, on the axis of the goal."""
    goal = parse_rule(choice.goal)
    metric, marked = goal.metric, _marked(choice, of)
    kind = unit(metric)
    rows = tuple(
        ChartRow(
            f"{each.threshold:g} {marked.get(each.threshold, '')}".strip(),
            Mark(each.disparity, *(each.disparity_interval or (None, None))),
            _disparity(metric, each),
            emphasis=each.threshold in marked,
        )
        for each in _some(choice, of)
    )
    title = capitalised(f"{metric_words(metric)} by threshold")
    yield Chart(title, rows, kind, neutral(metric), allowed=(goal.low, goal.high))


def _marked(choice: ThresholdChoice, of: FeatureThresholds) -> dict[float, str]:
    marked = {choice.today: "today"}
    if of.common is not None:
        marked.setdefault(_cut(of.common), "chosen")
    return marked


def _some(choice: ThresholdChoice, of: FeatureThresholds) -> list[OperatingPoint]:
    """Return a part of the frontier, evenly spaced, with today's threshold and the chosen one."""
    points = of.frontier
    step = max(1, len(points) // _MOST_POINTS)
    wanted = set(range(0, len(points), step))
    cuts = [choice.today, *([] if of.common is None else [_cut(of.common)])]
    for cut in cuts:
        wanted.add(min(range(len(points)), key=lambda i: abs(points[i].threshold - cut)))
    return [points[i] for i in sorted(wanted)]


def _reweighing(of: FeatureThresholds) -> Iterator[Block]:
    """Yield the weights at which label and group are independent."""
    yield Paragraph(
        "Weights of Kamiran and Calders (2012): with them, label and group are independent in the "
        "table that a model is retrained on."
    )
    rows = tuple(
        (Cell(called(group), name=True), *(Cell(f"{by_label[label]:.4f}") for label in by_label))
        for group, by_label in of.reweighing.items()
    )
    heads = (Column("group", numeric=False), Column("positive label"), Column("negative label"))
    yield Table("Weights", heads, rows)


def _share(rate: str, value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "-"
    text = numbers.percent(value) if is_share(rate) else numbers.amount(value)
    if interval is None:
        return text
    kind = Unit.PERCENT if is_share(rate) else Unit.NUMBER
    return f"{text} ({shown_range(interval.low, interval.high, kind)})"


def _disparity(metric: str, each: OperatingPoint) -> str:
    kind, sign = unit(metric), signed(metric)
    text = shown(each.disparity, kind, sign=sign)
    if each.disparity_interval is None:
        return text
    low, high = each.disparity_interval
    return f"{text} ({shown_range(low, high, kind, sign=sign)})"


def _points(rate: str, margin: float) -> str:
    return f"{100 * margin:g} pp" if is_share(rate) else f"{margin:g}"
