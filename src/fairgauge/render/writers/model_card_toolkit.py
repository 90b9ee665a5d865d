"""A report as a model card of Google's Model Card Toolkit: JSON of its schema 0.0.2."""

from __future__ import annotations

import json

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

SCHEMA_VERSION = "0.0.2"


def write(report: Report) -> str:
    """Write a model card as JSON; the same report gives the same bytes."""
    return json.dumps(_card(report), indent=2, ensure_ascii=False) + "\n"


def _card(report: Report) -> dict[str, object]:
    fields = question.document(report)
    owners = [fields[key] for key in ("organisation", "author") if key in fields]
    details: dict[str, object] = {
        "name": model_name(report),
        "overview": " ".join(question.lead(report)),
        "version": {"date": report.created[:10]},
    }
    if owners:
        details["owners"] = [{"name": ", ".join(owners)}]
    considerations: dict[str, object] = {
        "limitations": [{"description": each} for each in LIMITS],
        "ethical_considerations": [{"name": each.sentence} for each in disparities(report)],
    }
    if "purpose" in fields:
        considerations["use_cases"] = [{"description": fields["purpose"]}]
    columns = [called(each["column"]) for each in report.spec.get("sensitive", ())]
    return {
        "schema_version": SCHEMA_VERSION,
        "model_details": details,
        "model_parameters": {
            "data": [
                {
                    "name": question.source(report),
                    "description": data_words(report),
                    "sensitive": {"sensitive_data": columns},
                }
            ]
        },
        "quantitative_analysis": {"performance_metrics": list(map(_metric, measurements(report)))},
        "considerations": considerations,
    }


def _metric(each: Measurement) -> dict[str, object]:
    fields: dict[str, object] = {"type": each.metric, "value": repr(each.value)}
    if each.slice:
        fields["slice"] = each.slice
    ends = {"lower_bound": each.low, "upper_bound": each.high}
    interval = {key: repr(end) for key, end in ends.items() if end is not None}
    return fields | ({"confidence_interval": interval} if interval else {})
