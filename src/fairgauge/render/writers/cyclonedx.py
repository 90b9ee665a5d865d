"""A report as a CycloneDX ML-BOM: the model as a component with its model card (version 1.6).

Performance metrics carry slices and confidence intervals; every finding is a fairness assessment.
What the report does not know (benefits, mitigation) is for the people who file it.
"""

from __future__ import annotations

import json
import uuid

from fairgauge.enums import Task
from fairgauge.render.words import question_sentences as question
from fairgauge.render.words.display_names import called
from fairgauge.render.words.limitations import LIMITS
from fairgauge.render.writers._model_cards import (
    Measurement,
    data_words,
    disparities,
    measurements,
    model_name,
)
from fairgauge.results.report import Report

SPEC_VERSION = "1.6"


def write(report: Report) -> str:
    """Write a bill of materials as JSON; the same report gives the same bytes."""
    return json.dumps(_bom(report), indent=2, ensure_ascii=False) + "\n"


def _bom(report: Report) -> dict[str, object]:
    tool = {"type": "application", "name": "fairgauge", "version": report.version}
    digest = f"{report.data.fingerprint} {report.created}"
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_OID, digest).urn,
        "version": 1,
        "metadata": {"timestamp": report.created, "tools": {"components": [tool]}},
        "components": [
            {
                "type": "machine-learning-model",
                "bom-ref": "model",
                "name": model_name(report),
                "modelCard": _model_card(report),
            }
        ],
    }


def _model_card(report: Report) -> dict[str, object]:
    purpose = question.document(report).get("purpose")
    regression = report.task is Task.REGRESSION
    data = {
        "type": "dataset",
        "name": question.source(report),
        "description": data_words(report),
        "sensitiveData": [called(each["column"]) for each in report.spec.get("sensitive", ())],
    }
    considerations: dict[str, object] = {
        "technicalLimitations": list(LIMITS),
        "fairnessAssessments": [
            {"groupAtRisk": each.group, "harms": each.sentence} for each in disparities(report)
        ],
    }
    if purpose:
        considerations["useCases"] = [purpose]
    return {
        "modelParameters": {
            "task": "regression" if regression else "classification",
            "datasets": [data],
        },
        "quantitativeAnalysis": {"performanceMetrics": list(map(_metric, measurements(report)))},
        "considerations": considerations,
    }


def _metric(each: Measurement) -> dict[str, object]:
    fields: dict[str, object] = {"type": each.metric, "value": repr(each.value)}
    if each.slice:
        fields["slice"] = each.slice
    ends = {"lowerBound": each.low, "upperBound": each.high}
    interval = {key: repr(end) for key, end in ends.items() if end is not None}
    return fields | ({"confidenceInterval": interval} if interval else {})
