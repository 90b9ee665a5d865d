"""Pictures in Python: the charts of a document, drawn by matplotlib on the axes that HTML has."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import singledispatch
from importlib import import_module
from textwrap import fill
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.enums import Outcome
from fairgauge.errors import DataError, needing, quote
from fairgauge.render import _document_tree as tree
from fairgauge.render.chart_axes import (
    Scale,
    chart_axis,
    grid_axes,
    tick_label,
    tick_values,
    time_axes,
)
from fairgauge.render.document import document
from fairgauge.render.grammar import in_words, spoken
from fairgauge.render.streams import streams_of
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.numbers import listing
from fairgauge.render.words.verdict_sentences import verdict_word
from fairgauge.results.shown_result import ShownResult
from fairgauge.start.records import dataclass

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW, _FRAME, _TALL = 8.0, 0.28, 1.0, 3.4
"""In inches: the width, the height of a row, of what is around rows, and of a time chart."""
_LONGEST_NAME, _LONGEST_LINE, _LONGEST_NOTE, _LINE, _IN_POINTS = 40, 70, 100, 12, "offset points"
_SOFT, _MARK, _ALLOWED, _GRID = "#8a8f99", "#0b62ad", "#e0f0e7", "#eceae5"
_CURVES = _MARK, "#b3470b", "#1d6b3f", "#8a2f8f", "#7a5200", "#575c66"
_COLOURS = {Outcome.PASS: "#1d6b3f", Outcome.FAIL: "#a8201a", Outcome.INCONCLUSIVE: "#7a5200"}


_Limits: TypeAlias = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class _Drawing:
    """What fills one ``Axes``: its height in inches, and the function that draws it."""

    height: float
    on: Callable[[Axes], None]


def plot(shown: ShownResult, kind: str | None, ax: Axes | None) -> Figure:
    """Return a figure of the charts of a result; see `ShownResult.plot`."""
    with needing("plot", "a plot"):
        figures = import_module("matplotlib.figure")
    drawings = [each for block in _charts(shown, kind) for each in _drawings(block)]
    if ax is not None:
        if len(drawings) != 1:
            raise DataError(
                f"ax= takes one chart, and there are {len(drawings)}: audit one metric or rule, "
                "or leave ax= out for a figure of all"
            )
        drawings[0].on(ax)
        return ax.get_figure(root=True)

    class Picture(figures.Figure):  # type: ignore[misc,name-defined]
        """A figure that notebooks show without pyplot, which would keep it."""

        def _repr_png_(self) -> bytes:
            content = io.BytesIO()
            self.savefig(content, format="png", dpi=144)
            return content.getvalue()

    heights = [each.height for each in drawings]
    figure = Picture(figsize=(_WIDTH, sum(heights)), layout="constrained")
    places = figure.subplots(len(drawings), squeeze=False, height_ratios=heights)[:, 0]
    for place, drawing in zip(places, drawings, strict=True):
        drawing.on(place)
    return figure


def _charts(shown: ShownResult, kind: str | None) -> list[tree.Block]:
    own = streams_of(shown.KIND.name).get("plots")
    kinds: Mapping[str, Iterable[tree.Block]] = own(shown) if own else {}
    if not own:
        kinds = {"": dict.fromkeys(tree.charts_of(document(shown, full=True)))}
    name = next(iter(kinds)) if kind is None else kind
    if name not in kinds:
        allowed = listing([*filter(None, kinds)]) or "no kind"
        raise DataError(f"no plot {quote(name)} of a {shown.KIND.name}. Allowed: {allowed}")
    if not (found := list(kinds[name])):
        raise DataError(f"this {shown.KIND.name} has no chart{name and ' of its '}{name} to plot")
    return found


@singledispatch
def _drawings(block: tree.Block) -> Iterator[_Drawing]:
    raise AssertionError(block)


@_drawings.register
def _(block: tree.Chart) -> Iterator[_Drawing]:
    rows = [(row, _MARK) for row in block.rows]
    yield _interval_chart(block.caption, rows, chart_axis(block).scale, block.unit, block.neutral)


@_drawings.register
def _(block: tree.RuleGrid) -> Iterator[_Drawing]:
    for i, (rule, axis) in enumerate(zip(block.rules, grid_axes(block), strict=True)):
        rows: list[tuple[tree.ChartRow, str]] = []
        for title, part in block.parts:
            judged = [(head.text, cell) for head, cells in part if (cell := cells[i])]
            if judged:
                rows.append((tree.ChartRow(title, tree.Mark(None), "", emphasis=True), ""))
            for name, cell in judged:
                text = f"{cell.counts}  {in_words(verdict_word(cell.outcome))}"
                row = tree.ChartRow(name, cell.mark, text)
                rows.append((row, _COLOURS.get(cell.outcome, _SOFT)))
        yield _interval_chart(rule.words, rows, axis.scale, rule.unit, rule.neutral, rule.allowed)


@_drawings.register
def _(block: tree.TimeChart) -> Iterator[_Drawing]:
    upwards, numbers = time_axes(block)
    across = None if numbers is None else numbers.scale

    def on(ax: Axes) -> None:
        _entitle(ax, block.caption)
        _dress(ax, "y", upwards, block.unit)
        places = block.across or tuple(map(tree.Mark, range(len(block.times))))
        points = list(zip(block.times, places, block.marks, strict=True))
        for name, x, y in points:
            _draw_mark(ax, x, y, _MARK, across, upwards)
            if block.across and x.value is not None and y.value is not None:
                place, look = (x.value, y.value), {"fontsize": "small", "parse_math": False}
                ax.annotate(printable(name), place, (5, 5), textcoords=_IN_POINTS, **look)
        if across is not None:
            _dress(ax, "x", across, block.across_unit)
            _shade(ax, block.across_allowed, block.allowed)
            return
        heights = [math.nan if mark.value is None else mark.value for mark in block.marks]
        ax.plot(range(len(heights)), heights, color=_MARK, linewidth=1, zorder=1)
        for at in (block.since, block.alarm):
            if at is not None:
                ax.axvline(at, color=_COLOURS[Outcome.FAIL], linewidth=1, linestyle="--")
        if block.allowed:
            _shade(ax, upwards=block.allowed)
        most = max(1, len(block.times) // 6)
        ax.set_xticks(range(0, len(block.times), most), block.times[::most])

    yield _Drawing(_TALL, on)


@_drawings.register
def _(block: tree.CurveChart) -> Iterator[_Drawing]:
    rows = sum(bool(curve.counts) for curve in block.curves)

    def on(ax: Axes) -> None:
        _entitle(ax, block.caption)
        ax.plot([0, 1], [0, 1], color=_SOFT, linewidth=1, linestyle=":")
        words = {"fontsize": "small", "parse_math": False, "transform": ax.transAxes}
        below = {"fontsize": "small", "parse_math": False, "va": "top", "xycoords": ax.transAxes,
                 "textcoords": _IN_POINTS}  # fmt: skip
        for i, (curve, colour) in enumerate(zip(block.curves, _CURVES, strict=False)):
            look, columns = {"color": colour, "clip_on": False}, len(curve.counts)
            heights = [mark.value for mark in curve.marks]
            ax.plot(curve.across, heights, marker="o" if columns else "", markersize=4, **look)
            for x, mark in zip(curve.across, curve.marks, strict=True):
                if mark.low is not None:
                    ax.vlines(x, mark.low, mark.high, linewidth=1, **look)
            x, y = (0.02, 0.95) if columns else (0.45, 0.4)
            ax.text(x, y - 0.055 * i, printable(curve.label), color=colour, **words)
            for column, count in enumerate(("n", *curve.counts) if columns else ()):
                place = (column - 0.5) / columns, 0
                ax.annotate(count, place, (0, -36 - _LINE * i), color=colour, ha="center", **below)
        note = fill(printable(block.note), _LONGEST_NOTE)
        ax.annotate(note, (0, 0), (0, -40 - _LINE * rows), **below)
        for side, label in (("x", block.across), ("y", block.upwards)):
            _dress(ax, side, Scale(0, 1), tree.Unit.PERCENT)
            ax.set(**{f"{side}lim": (0, 1), f"{side}label": label})

    yield _Drawing(_TALL * 1.4 + _LINE * (rows + 3) / 72, on)


def _interval_chart(
    title: str, rows: Sequence[tuple[tree.ChartRow, str]], axis: Scale, unit: tree.Unit,
    neutral: float | None, allowed: _Limits = None,
) -> _Drawing:  # fmt: skip
    def on(ax: Axes) -> None:
        _entitle(ax, title)
        _draw_rows(ax, rows, axis)
        _dress(ax, "x", axis, unit, neutral)
        if allowed is not None:
            _shade(ax, allowed)

    lines = max(len(row.label) // _LONGEST_NAME for row, _ in rows) + 1
    return _Drawing(_FRAME + _ROW * len(rows) * (1 + lines) / 2, on)


def _draw_rows(ax: Axes, rows: Sequence[tuple[tree.ChartRow, str]], axis: Scale) -> None:
    for at, (row, colour) in enumerate(rows):
        if row.before is not None:
            _draw_mark(ax, row.before, tree.Mark(at + 0.25), _SOFT, axis, None, filled=False)
        _draw_mark(ax, row.mark, tree.Mark(at), colour, axis, None)
    names = [fill(printable(row.label), _LONGEST_NAME) for row, _ in rows]
    texts = ["  ".join(filter(None, (row.text, row.below))) for row, _ in rows]
    ax.set_yticks(range(len(rows)), names, parse_math=False)
    for label, (row, _) in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if row.emphasis else "normal")
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    beside = ax.secondary_yaxis("right")
    beside.set_yticks(range(len(rows)), map(printable, texts), fontsize="small", parse_math=False)
    beside.tick_params(length=0)
    beside.spines[:].set_visible(False)


def _entitle(ax: Axes, title: str) -> None:
    text = fill(printable(title), _LONGEST_LINE)
    ax.set_title(text, loc="left", fontsize="medium", parse_math=False)


def _draw_mark(
    ax: Axes, x: tree.Mark, y: tree.Mark, colour: str, across: Scale | None, up: Scale | None,
    *, filled: bool = True,
) -> None:  # fmt: skip
    # a number with its intervals, as far as they lie on the axes
    look = {"color": colour, "alpha": 0.45 if x.sparse or y.sparse else 1.0}
    if y.value is not None and (reach := _reach(across, x)):
        ax.hlines(y.value, *reach, linewidth=1.6, zorder=2, **look)
    if x.value is not None and (reach := _reach(up, y)):
        ax.vlines(x.value, *reach, linewidth=1.6, zorder=2, **look)
    if _is_on(across, x) and _is_on(up, y):
        face = colour if filled else "white"
        ax.plot(x.value, y.value, "o", markerfacecolor=face, markersize=5, zorder=3, **look)


def _reach(axis: Scale | None, mark: tree.Mark) -> tuple[float, float] | None:
    if axis is None or mark.value is None or mark.low is None or mark.high is None:
        return None
    low, high = axis.edges()
    return max(low, mark.low), min(high, mark.high)


def _is_on(axis: Scale | None, mark: tree.Mark) -> bool:
    return mark.value is not None and (axis is None or axis.holds(mark.value))


def _dress(ax: Axes, side: str, axis: Scale, unit: tree.Unit, neutral: float | None = None) -> None:
    # the range, ticks and units of one side, and the number that means "no difference"
    places = tick_values(axis)
    ax.set(**{f"{side}scale": "log" if axis.log else "linear", f"{side}lim": axis.edges()})
    getattr(ax, f"set_{side}ticks")([], minor=True)
    getattr(ax, f"set_{side}ticks")(places, [tick_label(value, unit) for value in places])
    getattr(ax, f"set_{side}label")(spoken().terms["chart"]["units"].get(unit, ""))
    ax.grid(axis=side, color=_GRID)
    if neutral is not None:
        (ax.axvline if side == "x" else ax.axhline)(neutral, color=_SOFT, linewidth=1.2, zorder=1)
    ax.spines[["top", "right"]].set_visible(False)


def _shade(ax: Axes, across: _Limits = None, upwards: _Limits = None) -> None:
    # the region that is allowed, as far as the axes reach
    left, right, low, high = (
        end(value, edge)
        for limits, edges in ((across, ax.get_xlim()), (upwards, ax.get_ylim()))
        for end, value, edge in zip((max, min), limits or edges, sorted(edges), strict=True)
    )
    ax.fill_between([left, right], low, high, color=_ALLOWED, zorder=-1)
