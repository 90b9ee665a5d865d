"""Metadata of a Hugging Face model card: the disparities as evaluation results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fairgauge.enums import Status
from fairgauge.render.words.display_names import printable, shorten
from fairgauge.render.words.estimate_sentences import reference_name
from fairgauge.render.words.metric_words import metric_words
from fairgauge.render.words.question_sentences import source
from fairgauge.results.sections import sections_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.results.report import Report

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
