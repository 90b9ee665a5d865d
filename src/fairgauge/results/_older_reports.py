"""Reports that earlier versions saved, as the plain values that the present one writes.

Fields that they did not have are left to the defaults of the classes. Version 2 kept only the ends
of a simultaneous interval. Version 1 wrote "pooled", "worst", "macro", "rest" into the
fields that hold names of users; what they meant is inferred here. Its sentences and names of
methods are kept as texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import Average, ClassKind, IntervalMethod, ReferenceKind, ScopeKind

if TYPE_CHECKING:
    from fairgauge.results.codec import Plain
    from fairgauge.values import Saved

_OTHERS = "rest"
_CHANGED_SINCE_2 = ("adjusted_p", "false_fail")


def report_of_2(report: Saved) -> Saved:
    """Return the plain values of a version-2 report as they are written now."""
    return {
        **report,
        "estimates": [_estimate_of_2(each) for each in report["estimates"]],
        "diagnostics": [_diagnostic_of_2(each) for each in report["diagnostics"]],
    }


def _estimate_of_2(old: Saved) -> Saved:
    """Return the plain values of an estimate of version 2."""
    ends = old.get("simultaneous")
    if ends is None:
        return old
    single = {name: old[name] for name in ("low", "high", "confidence", "method")}
    if (ends["low"], ends["high"]) != (old["low"], old["high"]):
        methods = [str(IntervalMethod.SIMULTANEOUS_GROUPS), *old["method"]]
        single |= {"low": ends["low"], "high": ends["high"], "method": methods}
    return {**old, "simultaneous": single}


def _diagnostic_of_2(old: Saved) -> Saved:
    """Return a diagnostic as it is; as its text where its parameters have changed since."""
    if old["code"] not in _CHANGED_SINCE_2:
        return old
    return {**old, "code": "text", "parameters": {"text": old["message"]}}


def report_of_1(report: Saved) -> Saved:
    """Return the plain values of a version-1 report as they are written now."""
    names = _Names(report)
    return {
        **report,
        "groups": [_group(each) for each in report["groups"]],
        "estimates": [_estimate(each, names) for each in report["estimates"]],
        "pairs": [_pair(each) for each in report.get("pairs", ())],
        "verdicts": [_verdict(each) for each in report["verdicts"]],
        "verdict": _outcome(report["verdict"]),
        "diagnostics": [_diagnostic(each) for each in report["diagnostics"]],
        "scores": [each | _others(each["group"]) for each in report.get("scores", ())],
    }


class _Names:
    """Distinguishes names of strata and classes from the words that version 1 wrote in their place.

    Version 1 wrote the estimates of strata and classes first, then those pooled or averaged over
    them: where both have one name, the first is of the stratum or the class.
    """

    def __init__(self, report: Saved) -> None:
        self.strata = {each["stratum"] for each in report["groups"]}
        self.classes = {each["class"] for each in report["groups"] if each["counts"] is not None}
        self.with_margin = {e["metric"] for e in report["estimates"] if e["stratum"] is None}
        self._seen: set[tuple[object, ...]] = set()

    def is_stratum(self, estimate: Saved) -> bool:
        """Return whether the stratum is one of the data."""
        within = estimate["stratum"] in self.strata and estimate["metric"] in self.with_margin
        return within and not self._is_repeated(estimate, "stratum")

    def is_class(self, estimate: Saved) -> bool:
        """Return whether the class is one of the data."""
        return estimate["class"] in self.classes and not self._is_repeated(estimate, "class")

    def _is_repeated(self, estimate: Saved, what: str) -> bool:
        fields = "metric", "feature", "group", "threshold", "class", "stratum"
        key = (what, *(estimate[name] for name in fields))
        repeated = key in self._seen
        self._seen.add(key)
        return repeated


def _estimate(old: Saved, names: _Names) -> Plain:
    return {
        **old,
        **_reference(old["reference"]),
        **_scope(old["stratum"], of_data=names.is_stratum(old)),
        **_class(old["class"], of_data=names.is_class(old)),
        "method": _method(old["method"]),
        "reason": _reason(old["reason"]),
    }


def _group(old: Saved) -> Plain:
    return {
        **old,
        **_others(old["group"]),
        **_scope(old["stratum"], of_data=True),
        **_class(old["class"], of_data=old["counts"] is not None),
        "rates": {name: _rate(each) for name, each in old["rates"].items()},
    }


def _rate(old: Saved) -> Plain:
    return {
        **old,
        "confidence": None,
        "method": _method(old.get("method")),
        "partially_pooled": old.get("shrunken"),
        "reason": _reason(old["reason"]),
    }


def _pair(old: Saved) -> Plain:
    return {
        **old,
        **_class(old["class"], of_data=True),
        "method": _method(old["method"]),
        "pairs": old["among"],
        "reason": _reason(old["reason"]),
    }


def _verdict(old: Saved) -> Plain:
    reason = _reason(old["reason"] or old["outcome"])
    fields = {"outcome": _outcome(old["outcome"]), "reason": reason}
    return {**old, **_class(None, of_data=False), **fields}


def _outcome(text: str) -> str:
    return text.replace(" ", "_")


def _diagnostic(old: Saved) -> Plain:
    text = {"text": old["message"]}
    return {"level": old["level"], "code": "text", "feature": old["where"], "parameters": text}


def _reason(text: str | None) -> Plain | None:
    return None if text is None else {"code": "text", "parameters": {"text": text}}


def _method(name: str | None) -> list[str]:
    return [] if name is None else [str(IntervalMethod.OTHER)]


def _others(group: str) -> Plain:
    if group != _OTHERS:
        return {"reference_kind": None}
    return {"group": str(ReferenceKind.OTHERS), "reference_kind": str(ReferenceKind.OTHERS)}


def _reference(name: str | None) -> Plain:
    kinds = {
        None: None,
        _OTHERS: ReferenceKind.OTHERS,
        "overall": ReferenceKind.OVERALL,
        "population": ReferenceKind.POPULATION,
    }
    kind = kinds.get(name, ReferenceKind.GROUP)
    return {"reference": name, "reference_kind": None if kind is None else str(kind)}


def _scope(stratum: str | None, *, of_data: bool) -> Plain:
    if stratum is None:
        return {"scope": str(ScopeKind.OVERALL), "stratum": None}
    if stratum == "pooled" and not of_data:
        return {"scope": str(ScopeKind.POOLED), "stratum": None}
    return {"scope": str(ScopeKind.STRATUM), "stratum": stratum}


def _class(name: str | None, *, of_data: bool) -> Plain:
    fields: Plain = {"class": None, "worst_class": None, "average": None}
    if name is None:
        return fields | {"class_scope": str(ClassKind.NONE)}
    if name == "worst" and not of_data:
        return fields | {"class_scope": str(ClassKind.WORST)}
    if name in list(Average) and not of_data:
        return fields | {"class_scope": str(ClassKind.AVERAGE), "average": name}
    return fields | {"class_scope": str(ClassKind.CLASS), "class": name}
