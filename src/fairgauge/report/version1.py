"""Reports that version 1 saved, read into the plain values of version 2.

Version 1 wrote "pooled", "worst", "macro", "rest" into the fields that hold names of users; what
they meant is inferred here. Its sentences and names of methods are kept as texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairgauge.enums import Average, ClassKind, IntervalMethod, ReferenceKind, ScopeKind

if TYPE_CHECKING:
    from collections.abc import Mapping

_OTHERS = "rest"


def upgraded(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain values of a version-1 report as version 2 writes them."""
    return {
        **report,
        "groups": [_group(each) for each in report["groups"]],
        "estimates": [_estimate(each) for each in report["estimates"]],
        "totals": [],
        "pairs": [_pair(each) for each in report.get("pairs", ())],
        "verdicts": [_verdict(each) for each in report["verdicts"]],
        "diagnostics": [_diagnostic(each) for each in report["diagnostics"]],
        "scores": [each | _others(each["group"]) for each in report.get("scores", ())],
    }


def _estimate(old: dict[str, Any]) -> dict[str, Any]:
    return {
        **old,
        **_reference(old["reference"]),
        **_scope(old["stratum"]),
        **_class(old["class"]),
        "method": _method(old["method"]),
        "error": old.get("error"),
        "rate_group": old.get("rate_group"),
        "rate_reference": old.get("rate_reference"),
        "expected": None,
        "corrected": None,
        "reason": _reason(old["reason"]),
    }


def _group(old: dict[str, Any]) -> dict[str, Any]:
    return {
        **old,
        **_others(old["group"]),
        **_scope(old["stratum"]),
        **_class(old["class"]),
        "weighted_counts": old.get("weighted_counts"),
        "rates": {name: _rate(each) for name, each in old["rates"].items()},
    }


def _rate(old: dict[str, Any]) -> dict[str, Any]:
    return {
        **old,
        "confidence": None,
        "method": _method(old.get("method")),
        "partially_pooled": old.get("shrunken"),
        "error": old.get("error"),
        "reason": _reason(old["reason"]),
    }


def _pair(old: dict[str, Any]) -> dict[str, Any]:
    return {
        **old,
        **_class(old["class"]),
        "method": _method(old["method"]),
        "pairs": old["among"],
        "reason": _reason(old["reason"]),
    }


def _verdict(old: dict[str, Any]) -> dict[str, Any]:
    nothing: dict[str, Any] = {
        "value": None,
        "low": None,
        "high": None,
        "confidence": None,
        "method": [],
    }
    reason = _reason(old["reason"] or old["outcome"])
    return {**old, **_class(None), "threshold": None, **nothing, "reason": reason}


def _diagnostic(old: dict[str, Any]) -> dict[str, Any]:
    text = {"text": old["message"]}
    return {"level": old["level"], "code": "text", "feature": old["where"], "parameters": text}


def _reason(text: str | None) -> dict[str, Any] | None:
    return None if text is None else {"code": "text", "parameters": {"text": text}}


def _method(name: str | None) -> list[str]:
    return [] if name is None else [str(IntervalMethod.OTHER)]


def _others(group: str) -> dict[str, Any]:
    if group != _OTHERS:
        return {"reference_kind": None}
    return {"group": str(ReferenceKind.OTHERS), "reference_kind": str(ReferenceKind.OTHERS)}


def _reference(name: str | None) -> dict[str, Any]:
    kinds = {
        None: None,
        _OTHERS: ReferenceKind.OTHERS,
        "overall": ReferenceKind.OVERALL,
        "population": ReferenceKind.POPULATION,
    }
    kind = kinds.get(name, ReferenceKind.GROUP)
    return {"reference": name, "reference_kind": None if kind is None else str(kind)}


def _scope(stratum: str | None) -> dict[str, Any]:
    kinds = {None: ScopeKind.OVERALL, "pooled": ScopeKind.POOLED}
    kind = kinds.get(stratum, ScopeKind.STRATUM)
    return {"scope": str(kind), "stratum": stratum if kind is ScopeKind.STRATUM else None}


def _class(name: str | None) -> dict[str, Any]:
    fields: dict[str, Any] = {"class": None, "worst_class": None, "average": None}
    if name is None:
        return fields | {"class_scope": str(ClassKind.NONE)}
    if name in list(Average):
        return fields | {"class_scope": str(ClassKind.AVERAGE), "average": name}
    if name == "worst":
        return fields | {"class_scope": str(ClassKind.WORST)}
    return fields | {"class_scope": str(ClassKind.CLASS), "class": name}
