"""Reports as CycloneDX bills of materials: the model as a component with its model card.

Performance metrics carry slices and confidence intervals; every finding is a fairness assessment.
What the report does not know (benefits, mitigation) is for the people who file it.
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Iterator

from fairgauge.enums import ClassKind, ReferenceKind, Status, Task
from fairgauge.render.documents.report_notes import what_no_report_shows
from fairgauge.render.page import first_page, rows_read
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.display_names import called, file_of
from fairgauge.render.words.verdict_sentences import describe_finding, versus
from fairgauge.results.estimates import Estimate, Group, RateValue
from fairgauge.results.report import Report


def _measurements(report: Report) -> Iterator[dict[str, object]]:
    # single strata and what is undefined, infinite or on insufficient data are not listed
    def measurement(
        metric: str, name: str, of: Estimate | RateValue
    ) -> Iterator[dict[str, object]]:
        if of.value is not None and math.isfinite(of.value):
            ends = {"lowerBound": of.low, "upperBound": of.high}
            known = {key: repr(e) for key, e in ends.items() if e is not None and math.isfinite(e)}
            named = {"slice": name} if name else {}
            of_interval = {"confidenceInterval": known} if known else {}
            yield {"type": metric, "value": repr(of.value), **named, **of_interval}

    seen = set()
    for group in (*report.totals, *report.groups):
        name = _slice(group)
        for rate, value in group.rates.items():
            if (rate, name) not in seen and value.status is Status.OK:
                seen.add((rate, name))
                yield from measurement(rate, name, value)
    for each in report.estimates:
        if each.status is Status.OK and each.stratum is None:
            name = f"{called(each.feature)}: {called(each.group)}" if each.feature else ""
            name += versus(each.reference)
            name += f", {each.scope.kind}" if each.scope.kind != "overall" else ""
            name += _class(each.class_, each.threshold)
            yield from measurement(each.metric, name, each)


def _slice(group: Group) -> str:
    # the rows that a group is, in words; empty for all rows of no class of its own
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


CYCLONEDX_VERSION = "1.6"


def write(report: Report) -> str:
    """Write a bill of materials as JSON; the same report gives the same bytes."""
    return json.dumps(_bom(report), indent=2, ensure_ascii=False) + "\n"


def _bom(report: Report) -> dict[str, object]:
    tool = {"type": "application", "name": "fairgauge", "version": report.version}
    digest = f"{report.data.fingerprint} {report.created}"
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{CYCLONEDX_VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": CYCLONEDX_VERSION,
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, digest).urn,
        "version": 1,
        "metadata": {"timestamp": report.created, "tools": {"components": [tool]}},
        "components": [
            {
                "type": "machine-learning-model",
                "bom-ref": "model",
                # reports know the data of a model, not its name
                "name": question.document(report).get("title") or file_of(report.data.source),
                "modelCard": _model_card(report),
            }
        ],
    }


def _model_card(report: Report) -> dict[str, object]:
    purpose = question.document(report).get("purpose")
    regression = report.task is Task.REGRESSION
    data = {
        "type": "dataset",
        "name": file_of(report.data.source),
        "description": rows_read(first_page(report)),
        "sensitiveData": [called(each["column"]) for each in report.spec.get("sensitive", ())],
    }
    considerations: dict[str, object] = {
        "technicalLimitations": list(what_no_report_shows()),
        "fairnessAssessments": [
            {
                "groupAtRisk": f"{called(each.estimate.feature)}: {called(each.estimate.group)}",
                "harms": describe_finding(each),
            }
            for each in report.findings
        ],
    }
    if purpose:
        considerations["useCases"] = [purpose]
    return {
        "modelParameters": {
            "task": "regression" if regression else "classification",
            "datasets": [data],
        },
        "quantitativeAnalysis": {"performanceMetrics": [*_measurements(report)]},
        "considerations": considerations,
    }
