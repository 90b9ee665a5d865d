"""The catalogue for people: every rate and metric, explained."""

from __future__ import annotations

import math
import re
import textwrap
from functools import cache

from fairgauge.catalogue.catalogue import METRICS, NAMES, RATES, Name
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.lookup import find_metric, find_rate, names_a_rate, record_of
from fairgauge.catalogue.own import metric_or_name
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Better
from fairgauge.errors import Problem, SpecError
from fairgauge.start.records import dataclass

_WIDTH = 80
_SOURCES = {
    "clarify": "Amazon SageMaker Clarify guide",
    "vertex": "Google Vertex AI guide to bias metrics",
    "sklearn": "scikit-learn",
    "fairlearn": "Fairlearn",
    "aif360": "AI Fairness 360",
    "holisticai": "Holistic AI",
}
_SIDES = "where d is the group and a its reference"
_TWO_SIDES = re.compile(r"_[da]\b|\bof [da]\b|\bn_[da]")
_BETTER = {
    Better.HIGHER: "a higher value favours the group",
    Better.LOWER: "a lower value favours the group",
    Better.NEITHER: "neither direction is better by itself",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDescription:
    """A row of the catalogue; ``print`` explains it."""

    name: str  # the catalogue name: `accuracy`, `AD`, `vertex.dpptl`, `accuracy.ratio`
    # "rate" (a number of one group), or whose metric it is: "clarify", "vertex", "native", and
    # "own" of a user's
    set: str
    title: str  # its name in words
    says: str  # what it measures
    formula: str  # in plain text; `d` is the group, `a` its reference
    range: tuple[float, float]  # the smallest and the largest possible value
    neutral: float | None  # the value that means "no difference"; None of a rate
    reading: str  # what a value above the neutral one means; for a rate, which direction is better
    edges: str  # what happens where the formula divides by zero
    needs: tuple[str, ...]  # the columns that it needs
    synonyms: tuple[str, ...]  # other names for exactly this, sign included
    tools: tuple[Name, ...]  # what other tools call it, and how theirs differs where it does
    sources: tuple[str, ...]  # where it is defined
    standard: bool  # whether `metrics="standard"` includes it

    def elsewhere(self) -> list[str]:
        """Return its names by tool: ``Fairlearn: recall_score, recall_macro``."""
        names: dict[str, list[str]] = {}
        for each in self.tools:
            names.setdefault(each.tool, []).append(each.name)
        return [f"{tool}: {', '.join(every)}" for tool, every in names.items()]

    def differing(self) -> list[str]:
        """Return how the numbers of other tools differ, equal explanations together."""
        names: dict[str, list[str]] = {}
        for tool in self.tools:
            if tool.differs:
                names.setdefault(tool.differs, []).append(f"{tool.tool}'s {tool.name}")
        return [f"{', '.join(every)}: {how}" for how, every in names.items()]

    def __str__(self) -> str:
        """Explain the entry on lines of at most 80 columns."""
        rate = self.set == "rate"
        neutral = "" if self.neutral is None else f"; {self.neutral:g} means no difference"
        lines = {
            "meaning": self.says,
            "formula": f"{self.formula}{f'   {_SIDES}' if _TWO_SIDES.search(self.formula) else ''}",
            "range": f"{_format_bound(self.range[0])} to {_format_bound(self.range[1])}{neutral}",
            "better" if rate else "reading": self.reading,
            "edge cases": self.edges,
            "needs": " and ".join(f"a {need}" for need in self.needs) or "only the groups",
            "also called": "; ".join(self.synonyms),
            "other tools": "; ".join(self.elsewhere()),
            "differing": "; ".join(self.differing()),
            "defined in": "; ".join(self.sources),
            "set": "" if rate else self.set,
        }
        body = (_hung(f"  {key:<13}", text) for key, text in lines.items() if text)
        title = self.title.removesuffix(f" ({self.name})")
        plain = self.name.replace("_", " ").casefold() == title.casefold()
        heading = self.name if plain else _hung("", f"{self.name}: {title}")
        return "\n".join([heading, *body])


def metrics() -> tuple[MetricDescription, ...]:
    """Return the catalogue: all rates, then the metrics of Clarify, Vertex and fairgauge.

    Examples
    --------
    >>> import fairgauge as fg
    >>> sorted({entry.set for entry in fg.metrics()})
    ['clarify', 'native', 'rate', 'vertex']
    """
    return tuple(map(entry, (*RATES, *METRICS)))


def metric(name: str | Statistic | Metric) -> MetricDescription:
    """Explain one metric or rate.

    Parameters
    ----------
    name : str, rate or metric
        Its name, its title, a synonym, or what another tool calls it; or a metric of one's own.

    Raises
    ------
    SpecError
        There is none, and the message names the nearest; or tools give the name to metrics that
        differ, and it names them.

    Examples
    --------
    >>> import fairgauge as fg
    >>> print(fg.metric("RD").formula)
    [TP / (TP + FN)]_a - [TP / (TP + FN)]_d
    """
    try:
        row = metric_or_name(name)
        if isinstance(row, str):
            row = find_rate(row) if names_a_rate(row) else find_metric(row)
        return entry(row)
    except LookupError as error:
        raise SpecError(Problem("", str(error))) from None


@cache
def entry(row: Statistic | Metric) -> MetricDescription:
    """Explain a row of the catalogue, or a user's own."""
    needs, others = tuple(sorted(map(str, row.needs))), {}
    if isinstance(row, Statistic):
        others = {"set": "rate", "neutral": None, "reading": _BETTER[row.better], "standard": False}
    elif row.scope == "pooled":
        needs += ("stratum",)
    return record_of(
        row, MetricDescription, synonyms=row.aka, needs=needs,
        tools=tuple(each for each in NAMES if each.ours == row.name),
        sources=tuple(map(_expand_citation, row.cite)), **others,
    )  # fmt: skip


def _expand_citation(cite: str) -> str:
    prefix, _, page = cite.partition(":")
    where = _SOURCES.get(prefix, prefix)
    return f"{where}, {page}" if page else where


def _hung(key: str, text: str) -> str:
    indent = " " * (len(key) or 2)
    return textwrap.fill(
        text, _WIDTH, initial_indent=key, subsequent_indent=indent, break_on_hyphens=False
    )


def _format_bound(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else f"{'-' * (value < 0)}Infinity"
