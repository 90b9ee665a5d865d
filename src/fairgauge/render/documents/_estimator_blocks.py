"""What every estimator makes of comparisons of groups that nobody recorded."""

from __future__ import annotations

from collections.abc import Iterator

from fairgauge.catalogue.lookup import Catalogue
from fairgauge.enums import Estimator
from fairgauge.render._document_tree import Block, Items, Paragraph
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.estimate_sentences import assumption
from fairgauge.render.words.metric_words import ci_words, metric_words, signed, unit, with_unit
from fairgauge.results.estimates import ByEstimator
from fairgauge.results.report import Report

_MOST = 60
_NAMES = {
    Estimator.LIKELIHOOD: "likelihood",
    Estimator.WEIGHTED: "weighted by probability",
    Estimator.BRACKET: "bracket of likelihood and weighted",
    Estimator.BOUNDS: "bounds",
    Estimator.VALIDATED: "validated by people of known group",
}


def estimator_blocks(report: Report) -> Iterator[Block]:
    """Yield a line for every comparison and estimator: its value, and under which assumption."""
    catalogue = report.catalogue
    yield Items(tuple(_line(each, catalogue) for each in report.estimators[:_MOST]))
    if len(report.estimators) > _MOST:
        yield Paragraph(f"{len(report.estimators) - _MOST:,} more in the JSON report.")


def _line(each: ByEstimator, catalogue: Catalogue) -> str:
    metric = catalogue.metric(each.metric)
    kind, sign = unit(metric), signed(metric)
    of = f"{printable(each.group)}, {metric_words(metric)}"
    if each.threshold is not None:
        of += f", threshold {each.threshold:g}"
    value = "" if each.value is None else f" {with_unit(each.value, kind, sign=sign)}"
    people = "" if each.effective_people is None else (
        f"; as precise as {each.effective_people:,} people of known group"
    )  # fmt: skip
    decides = "; decides" if each.decides else ""
    interval = ci_words(each.interval, kind, sign=sign)
    return (
        f"{of}, {_NAMES[each.estimator]}:{value} ({interval}), {assumption(each.interval)}"
        f"{people}{decides}"
    )
