"""The one serialiser: results as plain values of strict JSON, and back.

Sentences are written beside the values they are made from, and never read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from fairgauge.enums import (
    Average,
    ClassKind,
    DiagnosticCode,
    FamilyProcedure,
    FindingReason,
    IntervalMethod,
    Level,
    Outcome,
    ReferenceKind,
    ScopeKind,
    Status,
)
from fairgauge.errors import FairgaugeError, quote
from fairgauge.identity import FeatureId, GroupId
from fairgauge.reasons import Reason
from fairgauge.results.estimates import Estimate, Group, GroupPair, RateValue, ScoreCounts
from fairgauge.results.finding import Finding, FindingFamily
from fairgauge.results.scopes import (
    Bounds,
    ClassScope,
    Diagnostic,
    Interval,
    Reference,
    Scope,
    simultaneous_interval,
)
from fairgauge.results.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.values import Json, Saved

Plain = dict[str, Any]
"""An object of the JSON format, as it is written."""

Read = TypeVar("Read")

_ESTIMATES_OF_FINDINGS = ("ratio", "adjusted", "beside")
_OTHERS_OF_FINDINGS = ("others", "others_beside", "unconfirmed")
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Raise a `FairgaugeError` where plain values are not those of a result.

    Parameters
    ----------
    what : str
        What the values should be, as it stands in the message: "a report of fairgauge".

    Examples
    --------
    >>> with reading("a report"):
    ...     {"schema": "fairgauge.report/3"}["tool"]
    Traceback (most recent call last):
    ...
    fairgauge.errors.FairgaugeError: this is not a report: it has no field 'tool'
    """
    try:
        yield
    except KeyError as error:
        name = quote(error.args[0])
        raise FairgaugeError(f"this is not {what}: it has no field {name}") from None
    except (TypeError, ValueError, AttributeError, AssertionError) as error:
        raise FairgaugeError(f"this is not {what}: {error}") from None


def plain(value: object) -> Json:
    """Return a value of strict JSON: infinities are strings, tuples lists, enums their words."""
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, StrEnum):
        return str(value)
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Sequence):
        return [plain(each) for each in value]
    raise TypeError(f"{type(value).__name__} has no plain value")


def number(value: Read) -> Read | float:
    """Return a number that `plain` wrote."""
    return _INFINITIES.get(value, value) if isinstance(value, str) else value


def plain_reason(reason: Reason | None, message: str | None = None) -> Plain | None:
    """Return a reason with its sentence, or with another that is more specific."""
    from fairgauge.render.words.reason_sentences import describe_reason

    if reason is None:
        return None
    fields: Plain = {name: plain(value) for name, value in reason.to_dict().items()}
    return {"code": fields["code"], "message": message or describe_reason(reason)} | fields


def read_reason(fields: Saved | None) -> Reason | None:
    """Read what `plain_reason` wrote."""
    return None if fields is None else Reason.from_dict(_numbers_inside(fields))


def plain_estimate(each: Estimate) -> Plain:
    """Return an estimate in the order and names of the JSON format."""
    return {
        "metric": each.metric,
        "set": each.set,
        **plain_subject(each),
        **plain_reference(each.reference),
        **plain_scope(each.scope),
        **plain_class(each.class_scope),
        "threshold": each.threshold,
        "value": plain(each.value),
        **plain_interval(each.interval),
        "simultaneous": _ends(each.simultaneous),
        "p_value": each.p_value,
        "p_adjusted": each.p_adjusted,
        "n_group": each.n_group,
        "n_reference": each.n_reference,
        "rate_group": plain(each.rate_group),
        "rate_reference": plain(each.rate_reference),
        "error": plain(each.error),
        "bounds": _ends(each.bounds),
        "expected": each.expected,
        "corrected": each.corrected,
        "status": str(each.status),
        "reason": plain_reason(each.reason),
        "says": each.says,
    }


def read_estimate(fields: Saved) -> Estimate:
    """Read what `plain_estimate` wrote."""
    return Estimate(
        metric=fields["metric"],
        set=fields["set"],
        **read_subject(fields),
        reference=read_reference(fields),
        scope=read_scope(fields),
        class_scope=read_class(fields),
        threshold=fields["threshold"],
        value=number(fields["value"]),
        interval=read_interval(fields),
        simultaneous=_read_simultaneous(fields),
        p_value=fields["p_value"],
        p_adjusted=fields["p_adjusted"],
        n_group=fields["n_group"],
        n_reference=fields["n_reference"],
        rate_group=number(fields["rate_group"]),
        rate_reference=number(fields["rate_reference"]),
        error=number(fields["error"]),
        bounds=_read_bounds(fields.get("bounds")),
        expected=fields["expected"],
        corrected=fields["corrected"],
        status=Status(fields["status"]),
        reason=read_reason(fields["reason"]),
    )


class Subject(TypedDict):
    """The fields of a result that state of which feature and group it is."""

    feature: Any
    feature_id: FeatureId | None
    group: Any
    group_id: GroupId | None


def plain_subject(of: Estimate | Group | Verdict) -> Plain:
    """Return the feature and the group: their names, and beside them what they are."""
    return {
        "feature": of.feature,
        "feature_columns": None if of.feature_id is None else list(of.feature_id.columns),
        "group": of.group,
        "group_kind": None if of.group_id is None else str(of.group_id.kind),
        "group_values": None if of.group_id is None else of.group_id.to_plain(),
    }


def read_subject(fields: Saved) -> Subject:
    """Read what `plain_subject` wrote; before report/3 results had names alone."""
    columns, kind = fields.get("feature_columns"), fields.get("group_kind")
    return Subject(
        feature=fields["feature"],
        feature_id=None if columns is None else FeatureId(tuple(columns)),
        group=fields["group"],
        group_id=None if kind is None else GroupId.read(kind, fields["group_values"]),
    )


def plain_group(each: Group) -> Plain:
    """Return a group in the order and names of the JSON format."""
    return {
        **plain_subject(each),
        "reference_kind": plain(each.reference_kind),
        **plain_scope(each.scope),
        **plain_class(each.class_scope),
        "threshold": each.threshold,
        "n": each.n,
        "weight": each.weight,
        "share": each.share,
        "counts": plain(each.counts),
        "weighted_counts": plain(each.weighted_counts),
        "rates": {name: _rate(rate) for name, rate in each.rates.items()},
    }


def read_group(fields: Saved) -> Group:
    """Read what `plain_group` wrote."""
    return Group(
        **read_subject(fields),
        reference_kind=_kind(fields["reference_kind"]),
        scope=read_scope(fields),
        class_scope=read_class(fields),
        threshold=fields["threshold"],
        n=fields["n"],
        weight=fields["weight"],
        share=fields["share"],
        counts=fields["counts"],
        weighted_counts=fields["weighted_counts"],
        rates={name: _read_rate(rate) for name, rate in fields["rates"].items()},
    )


def _rate(each: RateValue) -> Plain:
    return {
        "value": plain(each.value),
        "numerator": each.numerator,
        "denominator": each.denominator,
        **plain_interval(each.interval),
        "partially_pooled": each.partially_pooled,
        "error": plain(each.error),
        "bounds": _ends(each.bounds),
        "status": str(each.status),
        "reason": plain_reason(each.reason),
    }


def _read_rate(fields: Saved) -> RateValue:
    return RateValue(
        value=number(fields["value"]),
        numerator=fields.get("numerator"),
        denominator=fields.get("denominator"),
        interval=read_interval(fields),
        partially_pooled=fields["partially_pooled"],
        error=number(fields["error"]),
        bounds=_read_bounds(fields.get("bounds")),
        status=Status(fields["status"]),
        reason=read_reason(fields["reason"]),
    )


def plain_pair(each: GroupPair) -> Plain:
    """Return a pair of groups in the order and names of the JSON format."""
    ratio = each.ratio_interval
    return {
        "feature": each.feature,
        "rate": each.rate,
        "group": each.group,
        "other": each.other,
        **plain_class(each.class_scope),
        "threshold": each.threshold,
        "rate_group": each.rate_group,
        "rate_other": each.rate_other,
        "difference": each.difference,
        **plain_interval(each.difference_interval),
        "ratio": plain(each.ratio),
        "ratio_low": plain(ratio.low) if ratio else None,
        "ratio_high": plain(ratio.high) if ratio else None,
        "pairs": each.pairs,
        "p_adjusted": each.p_adjusted,
        "status": str(each.status),
        "reason": plain_reason(each.reason),
        "says": each.says,
    }


def read_pair(fields: Saved) -> GroupPair:
    """Read what `plain_pair` wrote."""
    interval = read_interval(fields)
    assert interval is not None
    ratio = None
    if fields["ratio_low"] is not None:
        ends = number(fields["ratio_low"]), number(fields["ratio_high"])
        ratio = Interval(*ends, interval.level, interval.methods)
    return GroupPair(
        feature=fields["feature"],
        rate=fields["rate"],
        group=fields["group"],
        other=fields["other"],
        class_scope=read_class(fields),
        threshold=fields["threshold"],
        rate_group=fields["rate_group"],
        rate_other=fields["rate_other"],
        difference=fields["difference"],
        difference_interval=interval,
        ratio=number(fields["ratio"]),
        ratio_interval=ratio,
        pairs=fields["pairs"],
        p_adjusted=fields["p_adjusted"],
        status=Status(fields["status"]),
        reason=read_reason(fields["reason"]),
    )


def plain_finding(each: Finding) -> Plain:
    """Return a finding in the order and names of the JSON format: first of what it is.

    Its estimates stand in full, as they do among the estimates of the report, so that a program
    need not look them up.
    """
    family: Plain = {
        field.name: plain(getattr(each.family, field.name)) for field in fields(FindingFamily)
    }
    return {
        "metric": each.metric,
        "rate": each.rate,
        **plain_subject(each.estimate),
        **plain_reference(each.reference),
        **plain_scope(each.estimate.scope),
        **plain_class(each.class_scope),
        "threshold": each.threshold,
        "why": [str(reason) for reason in each.why],
        **plain_interval(each.interval),
        "p_adjusted": each.p_adjusted,
        "family": family,
        "estimate": plain_estimate(each.estimate),
        **{name: _plain_or_none(getattr(each, name)) for name in _ESTIMATES_OF_FINDINGS},
        "adjusted_for": each.adjusted_for,
        **{name: [*map(plain_estimate, getattr(each, name))] for name in _OTHERS_OF_FINDINGS},
        "limits": [*each.limits],
        "ratio_limits": [*each.ratio_limits],
        "one_of_thresholds": each.one_of_thresholds,
        "says": each.says,
    }


def _plain_or_none(each: Estimate | None) -> Plain | None:
    return None if each is None else plain_estimate(each)


def read_finding(written: Saved) -> Finding:
    """Read what `plain_finding` wrote."""
    family = written["family"]
    contrasts: Plain = {
        name: None if written[name] is None else read_estimate(written[name])
        for name in _ESTIMATES_OF_FINDINGS
    }
    contrasts |= {n: tuple(map(read_estimate, written[n])) for n in _OTHERS_OF_FINDINGS}
    return Finding(
        rate=written["rate"],
        why=tuple(map(FindingReason, written["why"])),
        estimate=read_estimate(written["estimate"]),
        interval=read_interval(written),
        p_adjusted=written["p_adjusted"],
        family=FindingFamily(
            procedure=FamilyProcedure(family["procedure"]),
            size=family["size"],
            features=tuple(family["features"]),
            rates=tuple(family["rates"]),
            thresholds=tuple(family["thresholds"]),
            groups=family["groups"],
        ),
        adjusted_for=written["adjusted_for"],
        limits=tuple(written["limits"]),
        ratio_limits=tuple(written["ratio_limits"]),
        one_of_thresholds=written["one_of_thresholds"],
        **contrasts,
    )


def plain_verdict(each: Verdict) -> Plain:
    """Return a verdict in the order and names of the JSON format.

    Only that of a rule with alternatives has the key for them.
    """
    limits = [plain_verdict(limit) for limit in each.alternatives]
    return {
        "rule": each.rule,
        "metric": each.metric,
        **plain_subject(each),
        **plain_class(each.class_scope),
        "threshold": each.threshold,
        "outcome": str(each.outcome),
        "reason": plain_reason(each.reason, each.says),
        "value": plain(each.value),
        **plain_interval(each.interval),
        **({"alternatives": limits} if limits else {}),
    }


def read_verdict(fields: Saved) -> Verdict:
    """Read what `plain_verdict` wrote."""
    reason = read_reason(fields["reason"])
    assert reason is not None
    return Verdict(
        rule=fields["rule"],
        metric=fields["metric"],
        **read_subject(fields),
        class_scope=read_class(fields),
        threshold=fields["threshold"],
        outcome=Outcome(fields["outcome"]),
        reason=reason,
        value=number(fields["value"]),
        interval=read_interval(fields),
        alternatives=tuple(map(read_verdict, fields.get("alternatives", ()))),
    )


def plain_diagnostic(each: Diagnostic) -> Plain:
    """Return a diagnostic in the order and names of the JSON format."""
    return {
        "level": str(each.level),
        "code": str(each.code),
        "message": each.message,
        "feature": each.feature,
        "parameters": plain(dict(each.parameters)),
    }


def read_diagnostic(fields: Saved) -> Diagnostic:
    """Read what `plain_diagnostic` wrote."""
    parameters = _numbers_inside(fields["parameters"])
    pairs = ((k, tuple(v) if isinstance(v, list) else v) for k, v in parameters.items())
    return Diagnostic(
        Level(fields["level"]),
        DiagnosticCode(fields["code"]),
        fields["feature"],
        tuple(sorted(pairs)),
    )


def plain_scores(each: ScoreCounts) -> Plain:
    """Return score counts in the order and names of the JSON format."""
    names = ("feature", "group", "reference_kind", "low", "high", "positive", "negative",
             "unlabelled", "total", "turned")  # fmt: skip
    return {name: plain(getattr(each, name)) for name in names}


def read_scores(fields: Saved) -> ScoreCounts:
    """Read what `plain_scores` wrote."""
    values: Plain = {k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()}
    return ScoreCounts(**values | {"reference_kind": _kind(values["reference_kind"])})


def plain_interval(interval: Interval | None) -> Plain:
    """Return the fields of an interval, null where there is none."""
    if interval is None:
        return {"low": None, "high": None, "confidence": None, "method": []}
    return {
        "low": plain(interval.low),
        "high": plain(interval.high),
        "confidence": interval.level,
        "method": [str(method) for method in interval.methods],
    }


def _ends(interval: Interval | Bounds | None) -> Plain | None:
    """Return the ends of bounds, or of a simultaneous interval, whose level stands beside it."""
    if interval is None:
        return None
    return {"low": plain(interval.low), "high": plain(interval.high)}


def _read_bounds(ends: Saved | None) -> Bounds | None:
    return None if ends is None else Bounds(number(ends["low"]), number(ends["high"]))


def _read_simultaneous(fields: Saved) -> Interval | None:
    """Read the interval that holds together with those of all groups."""
    alone, ends = read_interval(fields), fields.get("simultaneous")
    if alone is None or ends is None:
        return None
    low, high = number(ends["low"]), number(ends["high"])
    return None if low is None or high is None else simultaneous_interval(alone, low, high)


def read_interval(fields: Saved) -> Interval | None:
    """Read what `plain_interval` wrote."""
    if fields["low"] is None or fields["high"] is None:
        return None
    methods = tuple(IntervalMethod(each) for each in fields["method"])
    return Interval(number(fields["low"]), number(fields["high"]), fields["confidence"], methods)


def read_reference(fields: Saved) -> Reference | None:
    """Read the reference of an estimate."""
    kind = _kind(fields["reference_kind"])
    if kind is None:
        return None
    unnamed = (ReferenceKind.OTHERS, ReferenceKind.OVERALL, ReferenceKind.POPULATION)
    if kind in unnamed:
        return Reference(kind)
    parts = fields.get("reference_values")
    group_id = None if parts is None else GroupId.read("", parts)
    return Reference(kind, fields["reference"], group_id)


def read_scope(fields: Saved) -> Scope:
    """Read the scope of an estimate or a group."""
    return Scope(ScopeKind(fields["scope"]), fields["stratum"])


def read_class(fields: Saved) -> ClassScope:
    """Read the classes of an estimate or a group."""
    average = fields["average"]
    return ClassScope(
        ClassKind(fields["class_scope"]),
        fields["class"] if fields["class"] is not None else fields["worst_class"],
        None if average is None else Average(average),
    )


def plain_reference(reference: Reference | None) -> Plain:
    """Return the fields of a reference, null where there is none."""
    return {
        "reference": None if reference is None else str(reference),
        "reference_kind": None if reference is None else str(reference.kind),
        "reference_values": reference.group_id.to_plain()
        if reference is not None and reference.group_id is not None
        else None,
    }


def plain_scope(scope: Scope) -> Plain:
    """Return the fields of a scope."""
    return {"scope": str(scope.kind), "stratum": scope.stratum}


def plain_class(scope: ClassScope) -> Plain:
    """Return the fields of the classes of an estimate or a group."""
    return {
        "class_scope": str(scope.kind),
        "class": scope.name if scope.is_single else None,
        "worst_class": scope.name if scope.kind is ClassKind.WORST else None,
        "average": plain(scope.average),
    }


def _kind(word: str | None) -> ReferenceKind | None:
    return None if word is None else ReferenceKind(word)


def _numbers_inside(value: object) -> Any:
    """Return plain values with infinities as numbers again."""
    if isinstance(value, dict):
        return {key: _numbers_inside(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_numbers_inside(each) for each in value]
    return number(value)
