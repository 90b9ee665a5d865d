"""The catalogue for people and programs: every rate and metric, explained."""

from __future__ import annotations

import json
import math
import re
import textwrap
from dataclasses import asdict, dataclass
from functools import cache

from fairgauge.catalogue._synonyms import NAMES, Name
from fairgauge.catalogue.catalogue import METRICS, RATES
from fairgauge.catalogue.cells import Need
from fairgauge.catalogue.comparisons import Metric
from fairgauge.catalogue.facts import record_of
from fairgauge.catalogue.lookup import find_metric, find_rate, names_a_rate
from fairgauge.catalogue.own_by_name import metric_or_name
from fairgauge.catalogue.statistics import Statistic
from fairgauge.enums import Better
from fairgauge.errors import Problem, SpecError
from fairgauge.values import Json

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
    """A row of the catalogue; ``print`` explains it.

    Attributes
    ----------
    name : the catalogue name: ``accuracy``, ``AD``, ``vertex.dpptl``, ``accuracy.ratio``.
    set : "rate" (a number of one group), or whose metric it is: "clarify", "vertex", "native", and
        "own" of a user's.
    title : its name in words.
    says : what it measures.
    formula : in plain text; ``d`` is the group, ``a`` its reference.
    range : the smallest and the largest possible value.
    neutral : the value that means "no difference"; None where there is none, as of a rate.
    reading : what a value above the neutral one means; for a rate, which direction is better.
    edges : what happens where the formula divides by zero.
    needs : the columns that it needs.
    synonyms : other names for exactly this, sign included.
    tools : what other tools call it, and how theirs differs where it does.
    sources : where it is defined.
    standard : whether ``metrics="standard"`` includes it.
    """

    name: str
    set: str
    title: str
    says: str
    formula: str
    range: tuple[float, float]
    neutral: float | None
    reading: str
    edges: str
    needs: tuple[str, ...]
    synonyms: tuple[str, ...]
    tools: tuple[Name, ...]
    sources: tuple[str, ...]
    standard: bool

    def to_dict(self) -> dict[str, Json]:
        """Return the entry as plain values; infinities are "Infinity" and "-Infinity"."""
        plain = {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(self).items()}
        tools = [{"tool": n.tool, "name": n.name, "differs": n.differs} for n in self.tools]
        return plain | {"range": [_number(each) for each in self.range], "tools": tools}

    def to_json(self) -> str:
        """Return strict JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def elsewhere(self) -> list[str]:
        """Return its names by tool: ``Fairlearn: recall_score, recall_macro``."""
        names: dict[str, list[str]] = {}
        for each in self.tools:
            names.setdefault(each.tool, []).append(each.name)
        return [f"{tool}: {', '.join(every)}" for tool, every in names.items()]

    def differing(self) -> list[str]:
        """Return how the numbers of other tools differ, equal explanations together."""
        names: dict[str, list[str]] = {}
        for each in self.tools:
            if each.differs:
                names.setdefault(each.differs, []).append(f"{each.tool}'s {each.name}")
        return [f"{', '.join(every)}: {how}" for how, every in names.items()]

    def __str__(self) -> str:
        """Explain the entry on lines of at most 80 columns."""
        rate = self.set == "rate"
        neutral = "" if self.neutral is None else f"; {self.neutral:g} means no difference"
        lines = {
            "meaning": self.says,
            "formula": f"{self.formula}{f'   {_SIDES}' if _TWO_SIDES.search(self.formula) else ''}",
            "range": f"{_shown(self.range[0])} to {_shown(self.range[1])}{neutral}",
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
        return "\n".join([_heading(self), *body])


def metrics() -> tuple[MetricDescription, ...]:
    """Return the catalogue: all rates, then the metrics of Clarify, Vertex and fairgauge.

    Examples
    --------
    >>> import fairgauge as fg
    >>> sorted({entry.set for entry in fg.metrics()})
    ['clarify', 'native', 'rate', 'vertex']
    """
    return _entries()


def metric(name: str | Statistic | Metric) -> MetricDescription:
    """Explain one metric or rate.

    Parameters
    ----------
    name : str, rate or metric
        Its name, its title, a synonym, or what another tool calls it; or a metric of one's own,
        itself or, of a module that is imported, by its path (``package.module:name``).

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
        return entry(_row(metric_or_name(name)))
    except LookupError as error:
        raise SpecError(Problem("", str(error))) from None


def entry(row: Statistic | Metric) -> MetricDescription:
    """Explain a row of the catalogue, or a user's own."""
    return _of_rate(row) if isinstance(row, Statistic) else _of_metric(row)


def _row(asked: str | Statistic | Metric) -> Statistic | Metric:
    if not isinstance(asked, str):
        return asked
    return find_rate(asked) if names_a_rate(asked) else find_metric(asked)


@cache
def _entries() -> tuple[MetricDescription, ...]:
    return (*map(_of_rate, RATES), *map(_of_metric, METRICS))


def _of_metric(row: Metric) -> MetricDescription:
    return _description(row, needs=_needs(row.needs, strata=row.scope == "pooled"))


def _of_rate(row: Statistic) -> MetricDescription:
    return _description(
        row, set="rate", neutral=None, reading=_BETTER[row.better], needs=_needs(row.needs),
        standard=False,
    )  # fmt: skip


def _description(row: Statistic | Metric, **others: object) -> MetricDescription:
    tools = tuple(each for each in NAMES if each.ours == row.name)
    return record_of(
        row, MetricDescription, synonyms=row.aka, tools=tools,
        sources=tuple(map(_source, row.cite)), **others,
    )  # fmt: skip


def _needs(needs: frozenset[Need], *, strata: bool = False) -> tuple[str, ...]:
    return (*sorted(map(str, needs)), *(("stratum",) if strata else ()))


def _source(cite: str) -> str:
    prefix, _, page = cite.partition(":")
    where = _SOURCES.get(prefix, prefix)
    return f"{where}, {page}" if page else where


def _heading(entry: MetricDescription) -> str:
    title = entry.title.removesuffix(f" ({entry.name})")
    plain = entry.name.replace("_", " ").casefold() == title.casefold()
    return entry.name if plain else _hung("", f"{entry.name}: {title}")


def _hung(key: str, text: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=key,
        subsequent_indent=" " * (len(key) or 2),
        break_on_hyphens=False,
    )


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def _shown(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else str(_number(value))
