"""What model cards of every kind state: measurements by slice, disparities, and limitations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fairgauge.enums import ClassKind, ReferenceKind, Status
from fairgauge.render.words import numbers
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.display_names import called, printable, shorten
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.finding_sentences import describe_finding
from fairgauge.render.words.metric_words import metric_words
from fairgauge.render.words.question_sentences import source
from fairgauge.results.estimates import Group
from fairgauge.results.report import Report
from fairgauge.results.sections import sections_of


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number of a model, with its confidence interval.

    Attributes
    ----------
    metric : the catalogue name of a rate or a comparison.
    slice : the rows that it is of, or the groups that it compares; empty for all rows.
    value, low, high : the number and its interval; infinite ends are None.
    """

    metric: str
    slice: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Disparity:
    """A statistically significant disparity: the group that fares worse, and the sentence."""

    group: str
    sentence: str


def model_name(report: Report) -> str:
    """Return what the audited model is called: reports know its data, not its name."""
    return str(question.document(report).get("title") or f"model behind {question.source(report)}")


def data_words(report: Report) -> str:
    """Return how many rows the model was audited on; their folder is nobody else's business."""
    rows = report.data.rows
    noun = numbers.plural(rows, "row", "rows")
    return f"audited on {numbers.count(rows)} {noun}, {question.used_words(report)}"


def measurements(report: Report) -> Iterator[Measurement]:
    """Yield the rates of all rows, those of every group, and the comparisons of groups.

    Single strata and what is undefined, infinite or on insufficient data are not listed.
    """
    seen = set()
    for group in (*report.totals, *report.groups):
        name = _slice(group)
        for rate, value in group.rates.items():
            if (rate, name) not in seen and value.status is Status.OK:
                seen.add((rate, name))
                yield from _measurement(rate, name, value.value, value.low, value.high)
    for each in report.estimates:
        if each.status is Status.OK and each.stratum is None:
            name = f"{called(each.feature)}: {called(each.group)}" if each.feature else ""
            if each.reference is not None:
                name += f" vs {called(reference_name(each.reference))}"
            name += f", {each.scope.kind}" if each.scope.kind != "overall" else ""
            name += _class(each.class_, each.threshold)
            yield from _measurement(each.metric, name, each.value, each.low, each.high)


def _measurement(
    metric: str, name: str, value: float | None, low: float | None, high: float | None
) -> Iterator[Measurement]:
    if value is not None and math.isfinite(value):
        yield Measurement(metric, name, value, _finite(low), _finite(high))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _slice(group: Group) -> str:
    """Return the rows that a group is, in words; empty for all rows of no class of its own."""
    overall = group.reference_kind is ReferenceKind.OVERALL
    name = "" if overall else f"{called(group.feature)}: {called(group.group)}"
    if group.stratum is not None:
        name += f", stratum {called(group.stratum)}"
    if group.class_scope.kind is ClassKind.AVERAGE:
        name += f", {group.class_scope.average} average"
    return (name + _class(group.class_, group.threshold)).removeprefix(", ")


def _class(class_: str | None, threshold: float | None) -> str:
    words = f", class {called(class_)}" if class_ is not None else ""
    return words + (f", threshold {threshold:g}" if threshold is not None else "")


def disparities(report: Report) -> list[Disparity]:
    """Return the findings of a report."""
    return [
        Disparity(f"{called(each.feature)}: {called(each.group)}", describe_finding(each))
        for each in report.findings
    ]


_LONGEST = 200
_MOST = 100
_PLAIN = str.maketrans({"\\": "\\\\", '"': '\\"'})


def metadata(report: Report) -> Iterator[str]:
    """Yield the lines of a YAML front matter with one result for every headline disparity.

    A result has no field for a confidence interval, so that its name states it.
    """
    data = source(report)
    found = [each for section in sections_of(report) for each in section.estimates]
    finite = [e for e in found if e.status is Status.OK and math.isfinite(e.value or 0)]
    yield "---"
    yield "tags:"
    yield "- fairness"
    yield "model-index:"
    yield f"- name: {_quoted('model behind ' + data)}"
    yield "  results:"
    yield "  - task:"
    yield f"      type: {_TASKS.get(str(report.task), 'tabular-classification')}"
    yield "    dataset:"
    yield f"      name: {_quoted(data)}"
    yield "      type: tabular"
    yield "    metrics:"
    for each in finite[:_MOST]:
        against = f"{each.feature} {each.group} vs {reference_name(each.reference)}"
        if each.interval is not None:
            low, high = each.interval
            against += f", {100 * each.interval.level:.4g}% CI {low:.4g} to {high:.4g}"
        yield f"    - type: {_quoted(each.metric)}"
        yield f"      value: {each.value!r}"
        yield f"      name: {_quoted(f'{metric_words(each.definition)}, {against}')}"
    if not finite:
        yield "    - type: rows"
        yield f"      value: {report.data.used}"
    yield "---"
    yield ""


_TASKS = {"regression": "tabular-regression"}


def _quoted(text: str) -> str:
    """Return a YAML string in double quotes."""
    return f'"{shorten(printable(text), _LONGEST).translate(_PLAIN)}"'
