"""The reference pages: every metric explained, with a worked example computed as it is written."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.api.audit import audit
from fairgauge.catalogue.across import SPREAD_WORDS
from fairgauge.catalogue.catalogue import NAMES, RATES, TOOLS, Name
from fairgauge.catalogue.descriptions import MetricDescription, metrics
from fairgauge.cube.build import confusion
from fairgauge.enums import Status
from fairgauge.render.grammar import describe_reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fairgauge.results.estimates import Estimate
    from fairgauge.results.report import Report

COUNTS = {
    "A": {"tp": 20, "fp": 5, "fn": 7, "tn": 18},
    "B": {"tp": 65, "fp": 10, "fn": 5, "tn": 20},
}
SCORED = """\
group,office,age,label,prediction,score
A,north,24,1,1,0.8
A,north,31,0,0,0.4
A,north,45,0,0,0.3
A,south,52,0,1,0.6
A,south,38,1,1,0.55
A,south,29,0,0,0.1
B,north,33,1,1,0.9
B,north,41,1,1,0.6
B,north,27,0,0,0.2
B,south,36,0,0,0.5
B,south,58,1,1,0.95
B,south,49,0,1,0.65
"""
NUMBERS = """\
group,label,prediction
A,10,12
A,14,13
A,20,24
A,16,19
B,12,12
B,18,17
B,25,23
B,17,18
"""
RATINGS = """\
group,label,prediction
A,1,1
A,2,2
A,3,2
A,1,3
B,1,1
B,2,2
B,3,3
B,3,2
"""
TOP = 4
"""How many rows are the top of the example, where a metric is of the top of a ranking."""

_COMPARED = (".difference", ".ratio", *(f".{by}" for by in SPREAD_WORDS))
"""What compares a rate: described on the page of the rate."""
_WRITTEN = "Made from the catalogue as the site is built.\n"
_ABOUT = """\
Group A is compared with its reference B in every worked example. `X.difference` is group −
reference, `X.ratio` group / reference; a vendor's metric keeps the vendor's sign. What compares a
rate is on the page of the rate. [What other tools call them](../peers.md) is a table of its own.
"""
_STARS = """\
What seven tools call each metric of fairgauge. A star marks a number that differs in sign or
definition; the metric's page, and `fairgauge metrics NAME`, describe how. A name that tools give to
numbers that differ must be chosen: asking for it names them.
"""
_HEADINGS = {
    "rate": "Rates: a number of one group",
    "clarify": "Amazon SageMaker Clarify",
    "vertex": "Google Vertex AI",
    "native": "Across groups, scores and rows",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A small table, and its audit."""

    data: str
    """The rows or counts, as they are shown."""
    call: str
    report: Report

    def find(self, name: str) -> Estimate | None:
        """Return the estimate of a metric for group A, or of all groups."""
        found = [
            e
            for e in self.report.estimates
            if e.metric == name and e.status in (Status.OK, Status.TOO_FEW)
        ]
        return next((e for e in found if e.group == "A"), found[0] if found else None)


def examples() -> tuple[Example, ...]:
    """Audit the four tables of the worked examples."""
    counted = confusion("group", COUNTS)
    lines = ["group,tp,fp,fn,tn"]
    lines += [",".join([g, *map(str, cells.values())]) for g, cells in COUNTS.items()]
    own: dict[str, Any] = {"reference": {"group": "B"}, "metrics": ["all"]}
    call = 'fairgauge.confusion("group", ...)'
    first = Example("\n".join(lines), call, audit(counted, **own))
    top = [f"top_selection_ratio(k={TOP})"]
    scored = _of_rows(
        SCORED,
        own | {"metrics": ["all", *top]},
        prediction="prediction",
        score="score",
        strata="office",
        features=["age"],
    )
    numbers = _of_rows(NUMBERS, own, prediction="prediction", task="regression")
    return (
        first,
        scored,
        numbers,
        _of_rows(RATINGS, own, prediction="prediction", task="multiclass"),
    )


def _of_rows(rows: str, own: dict[str, Any], **asked: Any) -> Example:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text(rows, encoding="utf-8")
        report = audit(path, label="label", sensitive="group", **asked, **own)
    shown = ", ".join(f"{name}={value!r}" for name, value in asked.items())
    return Example(rows.strip(), f'label="label", {shown}', report)


def pages() -> dict[str, str]:
    """Return every reference page by the name of its file."""
    every = {entry.name: entry for entry in metrics()}
    rates = {row.name for row in RATES}
    own = [e for e in every.values() if e.name.rpartition(".")[0] not in rates]
    worked = examples()
    found = {f"{e.name}.md": _page(e, every, worked) for e in own}
    return {"index.md": _index(own), **found}


def _index(entries: Sequence[MetricDescription]) -> str:
    parts = [
        "# Metrics\n",
        _ABOUT,
        _WRITTEN,
    ]
    for set_, heading in _HEADINGS.items():
        rows = [(f"[{e.name}]({e.name}.md)", e.says) for e in entries if e.set == set_]
        parts += [f"## {heading}\n", _table(("metric", "what it is"), rows)]
    names = "\n".join(e.name for set_ in _HEADINGS for e in entries if e.set == set_)
    return "\n".join([*parts, f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"])


def _page(
    entry: MetricDescription, every: dict[str, MetricDescription], worked: Sequence[Example]
) -> str:
    neutral = "" if entry.neutral is None else f"; {entry.neutral:g} means no difference"
    low, high = (_number(limit) for limit in entry.range)
    better = "Better" if entry.set == "rate" else "Reading"
    facts = [
        ("Formula", f"`{entry.formula}`"),
        ("Range", f"{low} to {high}{neutral}"),
        (better, entry.reading),
        ("Edge cases", entry.edges),
        ("Needs", ", ".join(entry.needs) or "only the groups"),
        ("Also called", ", ".join(entry.synonyms)),
        ("Defined in", "; ".join(entry.sources)),
    ]
    title = entry.title if entry.name in entry.title else f"{entry.name}: {entry.title}"
    parts = [
        f"# {entry.name if entry.set == 'rate' else title}\n",
        f"{entry.says[:1].upper()}{entry.says[1:]}.\n",
        _table(("", ""), [(key, text) for key, text in facts if text]),
    ]
    if entry.tools:
        parts += ["## In other tools\n", _tools(entry.tools)]
    of_rate = [f"{entry.name}{by}" for by in _COMPARED if f"{entry.name}{by}" in every]
    parts += _worked([entry.name, *of_rate], worked)
    return "\n".join(parts)


def _worked(names: Sequence[str], worked: Sequence[Example]) -> list[str]:
    """Return the example of a metric, or of what compares a rate, from the first that has it."""
    for example in worked:
        rate = names[0]
        top = example.find(f"{rate}(k={TOP})")
        found = [top] if top else [e for name in names if (e := example.find(name)) is not None]
        if not found:
            continue
        parts = ["## Worked example\n", f"```\n{example.data}\n```\n"]
        groups = [
            (g.group, _number(value.value))
            for g in example.report.groups
            if g.stratum is None and (value := g.rates.get(rate)) and value.value is not None
        ]
        if groups:
            parts.append(_table(("group", rate), groups))
        rows = [(f"`{e.metric}`", _number(e.value), _interval(e), e.says) for e in found]
        return [*parts, _table(("metric", "value", "interval (95 %)", "in words"), rows)]
    return []


def _interval(found: Estimate) -> str:
    if found.interval is None:
        return describe_reason(found.reason) if found.reason else "none"
    low, high = found.interval
    methods = ", ".join(method.replace("_", " ") for method in found.interval.methods)
    return f"{_number(low)} to {_number(high)} ({methods})"


def _tools(names: Iterable[Name]) -> str:
    return _table(
        ("tool", "name", "where it differs"),
        [(each.tool, f"`{each.name}`", each.differs or "") for each in names],
    )


def peers() -> str:
    """Return the table "metric by peer"."""
    order = [entry.name for entry in metrics()]
    by_metric: dict[str, list[Name]] = {}
    for each in NAMES:
        if each.ours is not None:
            by_metric.setdefault(each.ours, []).append(each)
    rows = []
    for name in sorted(by_metric, key=order.index):
        cells = [
            ", ".join(
                f"`{each.name}`{'*' if each.differs else ''}"
                for each in by_metric[name]
                if each.tool == tool
            )
            for tool in TOOLS
        ]
        rows.append((_linked(name), *cells))
    rates = {row.name for row in RATES}
    alone = [n for n in order if n not in by_metric and n.rpartition(".")[0] not in rates]
    lacking = [
        (each.tool, f"`{each.name}`", each.differs or "") for each in NAMES if each.ours is None
    ]
    return "\n".join(
        [
            "# Metric by peer\n",
            _STARS,
            _WRITTEN,
            _table(("metric", *TOOLS), rows),
            "## What none of them names\n",
            f"{', '.join(map(_linked, alone))}.\n",
            "## What fairgauge does not have, and why\n",
            _table(("tool", "name", "why"), lacking),
        ]
    )


def _linked(name: str) -> str:
    base, _, by = name.rpartition(".")
    of_rate = any(row.name == base for row in RATES)
    return f"[{name}](metrics/{base if of_rate and by else name}.md)"


def _number(value: float | None) -> str:
    if value is None:
        return "undefined"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return f"{value:.4g}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    shown = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines]
    return "\n".join(f"| {line} |" for line in shown) + "\n"


def write(folder: Path, peers_file: Path) -> None:
    """Write all pages, and remove those of metrics that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for stale in {path.name for path in folder.glob("*.md")} - set(made):
        (folder / stale).unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="utf-8")
    peers_file.write_text(peers(), encoding="utf-8")
