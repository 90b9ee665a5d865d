"""JSON Schemas of what fairgauge writes: reports, comparisons, thresholds and cubes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairgauge.enums import (
    Accepts,
    Average,
    Better,
    CandidateVerdict,
    ClassKind,
    Closed,
    DiagnosticCode,
    Direction,
    Fairness,
    FamilyProcedure,
    FindingReason,
    GroupKind,
    IntervalMethod,
    Level,
    Outcome,
    Performance,
    Profile,
    ReferenceKind,
    Role,
    ScopeKind,
    Status,
    Task,
    Turn,
)
from fairgauge.reasons import ReasonCode
from fairgauge.results.monitor_results import Detector, MonitorState
from fairgauge.values import Json

if TYPE_CHECKING:
    from enum import StrEnum

Schema = dict[str, Json]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_STRING: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_FINITE: Schema = {"type": "number"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"anyOf": [{"type": "number"}, {"enum": ["Infinity", "-Infinity"]}]}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_ANY: Schema = {}


def _null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _words(kind: type[StrEnum]) -> Schema:
    return {"enum": [str(word) for word in kind]}


def _list(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _map(schema: Schema) -> Schema:
    return {"type": "object", "additionalProperties": schema}


def _object(properties: Schema, optional: Schema | None = None) -> Schema:
    """Return an object that has exactly these properties, and may have the optional ones."""
    return {
        "type": "object",
        "properties": properties | (optional or {}),
        "required": list(properties),
        "additionalProperties": False,
    }


_CLASS: Schema = {
    "class_scope": _words(ClassKind),
    "class": _null(_STRING),
    "worst_class": _null(_STRING),
    "average": _null(_words(Average)),
}
_SCOPE: Schema = {"scope": _words(ScopeKind), "stratum": _null(_STRING)}
_INTERVAL: Schema = {
    "low": _null(_NUMBER),
    "high": _null(_NUMBER),
    "confidence": _null(_FINITE),
    "method": _list(_words(IntervalMethod)),
}
_REFERENCE_KIND = _null(_words(ReferenceKind))
_REASON = _object(
    {
        "code": _words(ReasonCode),
        "message": _STRING,
        "side": _null({"enum": ["group", "reference"]}),
        "parameters": _map(_ANY),
    }
)
_COUNTS = _null(_object(dict.fromkeys(("tp", "fp", "fn", "tn"), _FINITE)))
_RATE = _object(
    {
        "value": _null(_NUMBER),
        "numerator": _null(_FINITE),
        "denominator": _null(_FINITE),
        **_INTERVAL,
        "partially_pooled": _null(_FINITE),
        "error": _null(_NUMBER),
        "bounds": _null(_object({"low": _NUMBER, "high": _NUMBER})),
        "status": _words(Status),
        "reason": _null(_REASON),
    }
)
_GROUP_VALUES = _null(
    _list(
        {
            "anyOf": [
                _list({"type": ["string", "number", "boolean"]}),
                _object(
                    {"low": _NUMBER, "high": _NUMBER, "closed": _words(Closed)},
                ),
                {"type": "null"},
            ]
        }
    )
)
"""What a group is in each column of its feature: values, an interval, or null where missing."""
_IDENTITY: Schema = {
    "feature_columns": _null(_list(_STRING)),
    "group_kind": _null(_words(GroupKind)),
    "group_values": _GROUP_VALUES,
}
_GROUP = _object(
    {
        "feature": _STRING,
        "group": _STRING,
        **_IDENTITY,
        "reference_kind": _REFERENCE_KIND,
        **_SCOPE,
        **_CLASS,
        "threshold": _null(_FINITE),
        "n": _FINITE,
        "weight": _null(_FINITE),
        "share": _null(_SHARE),
        "counts": _COUNTS,
        "weighted_counts": _COUNTS,
        "rates": _map(_RATE),
    }
)
_ESTIMATE = _object(
    {
        "metric": _STRING,
        "set": _STRING,
        "feature": _null(_STRING),
        "group": _null(_STRING),
        **_IDENTITY,
        "reference": _null(_STRING),
        "reference_kind": _REFERENCE_KIND,
        "reference_values": _GROUP_VALUES,
        **_SCOPE,
        **_CLASS,
        "threshold": _null(_FINITE),
        "value": _null(_NUMBER),
        **_INTERVAL,
        "simultaneous": _null(_object({"low": _NUMBER, "high": _NUMBER})),
        "p_value": _null(_SHARE),
        "p_adjusted": _null(_SHARE),
        "n_group": _null(_FINITE),
        "n_reference": _null(_FINITE),
        "rate_group": _null(_NUMBER),
        "rate_reference": _null(_NUMBER),
        "error": _null(_NUMBER),
        "bounds": _null(_object({"low": _NUMBER, "high": _NUMBER})),
        "expected": _null(_FINITE),
        "corrected": _null(_FINITE),
        "status": _words(Status),
        "reason": _null(_REASON),
        "says": _STRING,
    }
)
_PAIR = _object(
    {
        "feature": _STRING,
        "rate": _STRING,
        "group": _STRING,
        "other": _STRING,
        **_CLASS,
        "threshold": _null(_FINITE),
        "rate_group": _FINITE,
        "rate_other": _FINITE,
        "difference": _FINITE,
        **_INTERVAL,
        "ratio": _null(_NUMBER),
        "ratio_low": _null(_NUMBER),
        "ratio_high": _null(_NUMBER),
        "pairs": _WHOLE,
        "p_adjusted": _SHARE,
        "status": _words(Status),
        "reason": _null(_REASON),
        "says": _STRING,
    }
)
_FAMILY = _object(
    {
        "procedure": _words(FamilyProcedure),
        "size": _WHOLE,
        "features": _list(_STRING),
        "rates": _list(_STRING),
        "thresholds": _list(_FINITE),
        "groups": _WHOLE,
    }
)
_FINDING = _object(
    {
        "metric": _STRING,
        "rate": _STRING,
        "feature": _STRING,
        "group": _STRING,
        **_IDENTITY,
        "reference": _null(_STRING),
        "reference_kind": _REFERENCE_KIND,
        "reference_values": _GROUP_VALUES,
        **_SCOPE,
        **_CLASS,
        "threshold": _null(_FINITE),
        "why": _list(_words(FindingReason)),
        **_INTERVAL,
        "p_adjusted": _null(_SHARE),
        "family": _FAMILY,
        "estimate": _ESTIMATE,
        **dict.fromkeys(("ratio", "adjusted", "beside"), _null(_ESTIMATE)),
        "adjusted_for": _null(_STRING),
        **dict.fromkeys(("others", "others_beside", "unconfirmed"), _list(_ESTIMATE)),
        "limits": _list(_FINITE),
        "ratio_limits": _list(_FINITE),
        "one_of_thresholds": _BOOLEAN,
        "says": _STRING,
    }
)
_VERDICT_KEYS: Schema = {
    "rule": _STRING,
    "metric": _STRING,
    "feature": _null(_STRING),
    "group": _null(_STRING),
    **_IDENTITY,
    **_CLASS,
    "threshold": _null(_FINITE),
    "outcome": _words(Outcome),
    "reason": _REASON,
    "value": _null(_NUMBER),
    **_INTERVAL,
}
_VERDICT = _object(_VERDICT_KEYS, {"alternatives": _list(_object(_VERDICT_KEYS))})
_DIAGNOSTIC = _object(
    {
        "level": _words(Level),
        "code": _words(DiagnosticCode),
        "message": _STRING,
        "feature": _null(_STRING),
        "parameters": _map(_ANY),
    }
)
_BINS = _list(_FINITE)
_SCORES = _object(
    {
        "feature": _STRING,
        "group": _STRING,
        "reference_kind": _REFERENCE_KIND,
        **dict.fromkeys(("low", "high", "positive", "negative", "unlabelled", "total"), _BINS),
        "turned": _null(_FINITE),
    }
)
_DATA: Schema = {
    "source": _STRING,
    "fingerprint": _STRING,
    "rows": _WHOLE,
    "cases": _FINITE,
    "used": _WHOLE,
    "excluded": _map(_WHOLE),
}
_DESCRIBED: Schema = {
    "own": {"type": "boolean"},
    "title": _STRING,
    "says": _STRING,
    "formula": _STRING,
    "range": _list(_NUMBER),
    "edges": _STRING,
    "needs": _list({"enum": ["label", "prediction", "score"]}),
    "cite": _list(_STRING),
}
_FACTS: Schema = {
    "oneOf": [
        _object(
            _DESCRIBED
            | {
                "kind": {"const": "rate"},
                "better": _words(Better),
                "share": {"type": "boolean"},
                "signed": {"type": "boolean"},
            }
        ),
        _object(
            _DESCRIBED
            | {"kind": {"const": "metric"}, "neutral": _null(_NUMBER), "reading": _STRING}
        ),
    ]
}
_TOOL = _object({"name": {"const": "fairgauge"}, "version": _STRING})


def report_schema() -> Schema:
    """Return the JSON Schema of a report.

    Examples
    --------
    >>> report_schema()["properties"]["verdict"]["enum"]
    ['pass', 'fail', 'inconclusive', 'not_evaluated', 'none']
    """
    properties: Schema = {
        "schema": {"const": "fairgauge.report/3"},
        "tool": _TOOL,
        "created": _STRING,
        "profile": _words(Profile),
        "task": _words(Task),
        "data": _object(_DATA),
        "spec": _map(_ANY),
        "groups": _list(_GROUP),
        "totals": _list(_GROUP),
        "estimates": _list(_ESTIMATE),
        "pairs": _list(_PAIR),
        "findings": _list(_FINDING),
        "verdicts": _list(_VERDICT),
        "verdict": _words(Outcome),
        "diagnostics": _list(_DIAGNOSTIC),
        "scores": _list(_SCORES),
        "threshold_references": _list(
            _object(
                {
                    "feature": _STRING,
                    "rate": _STRING,
                    "thresholds": _list(_FINITE),
                    "references": _list(_STRING),
                }
            )
        ),
        "metrics": _map(_FACTS),
    }
    return _named("A fairness audit", properties)


def comparison_schema() -> Schema:
    """Return the JSON Schema of a comparison of two reports."""
    origin = _object(
        {
            "name": _null(_STRING),
            **{key: _DATA[key] for key in ("source", "fingerprint")},
            "created": _STRING,
            "version": _STRING,
            **{key: _DATA[key] for key in ("rows", "cases", "used", "excluded")},
            "verdict": _words(Outcome),
        }
    )
    change = _object(
        {
            "old": _ESTIMATE,
            "new": _ESTIMATE,
            "by": {"enum": ["difference", "ratio"]},
            "change": _null(_NUMBER),
            **_INTERVAL,
            "p_value": _null(_SHARE),
            "p_adjusted": _null(_SHARE),
            "direction": _null(_words(Direction)),
            "crossed": _BOOLEAN,
            "significant": _BOOLEAN,
            "size": _NUMBER,
            "reason": _null(_REASON),
        }
    )
    alone = _object(
        {
            "what": _STRING,
            "feature": _null(_STRING),
            "name": _STRING,
            "report": {"enum": ["old", "new"]},
            "count": _WHOLE,
        }
    )
    unmatched = _object(
        {"verdict": _VERDICT, "report": {"enum": ["old", "new"]}, "reason": _REASON}
    )
    sizes = {"old_n": _null(_FINITE), "new_n": _null(_FINITE)}
    shares = {"old_share": _null(_SHARE), "new_share": _null(_SHARE)}
    properties: Schema = {
        "schema": {"const": "fairgauge.comparison/2"},
        "tool": _TOOL,
        "worse": _BOOLEAN,
        "old": origin,
        "new": origin,
        "same_rows": _BOOLEAN,
        "refused": _null(_REASON),
        "differences": _list(_object({"key": _STRING, "old": _ANY, "new": _ANY, "says": _STRING})),
        "turn": _null(_words(Turn)),
        "flips": _list(_object({"old": _VERDICT, "new": _VERDICT, "turn": _words(Turn)})),
        "stayed": _WHOLE,
        "unmatched": _list(unmatched),
        "changes": _list(change),
        "alone": _list(alone),
        "groups": _list(_object({"feature": _STRING, "group": _STRING, **sizes, **shares})),
        "metrics": _map(_FACTS),
    }
    return _named("Two fairness audits compared", properties)


_CHANGED: Schema = {
    **_SCOPE,
    **_CLASS,
    "threshold": _null(_FINITE),
    "old": _null(_NUMBER),
    "new": _null(_NUMBER),
    "change": _null(_NUMBER),
    "interval": _null(_object(_INTERVAL)),
    "p_value": _null(_SHARE),
    "status": _words(Status),
    "reason": _null(_REASON),
}
_RATE_CHANGE = _object(
    {
        "rate": _STRING,
        "feature": _null(_STRING),
        "group": _STRING,
        **_CHANGED,
        "ratio": _null(_NUMBER),
        "ratio_interval": _null(_object(_INTERVAL)),
        "n": _null(_FINITE),
    }
)
_DISPARITY_CHANGE = _object(
    {
        "metric": _STRING,
        "feature": _null(_STRING),
        "group": _STRING,
        "reference": _null(_STRING),
        "reference_kind": _REFERENCE_KIND,
        "reference_values": _GROUP_VALUES,
        **_CHANGED,
        "by": {"enum": ["difference", "ratio"]},
        "distance": _null(_NUMBER),
        "distance_interval": _null(_object(_INTERVAL)),
        "direction": _null(_words(Direction)),
        "crossed": _BOOLEAN,
        "p_adjusted": _null(_SHARE),
        "distance_adjusted": _null(_object(_INTERVAL)),
        "significant": _BOOLEAN,
        "needed": _null(_FINITE),
        "n_group": _null(_FINITE),
        "n_reference": _null(_FINITE),
    }
)


def models_schema() -> Schema:
    """Return the JSON Schema of a comparison of models on the same rows."""
    margin = _object(
        {
            "rate": _STRING,
            "margin": _FINITE,
            "change": _RATE_CHANGE,
            "outcome": _words(Performance),
            "adjusted": _null(_object(_INTERVAL)),
            "better": _BOOLEAN,
            "p_value": _null(_SHARE),
            "p_adjusted": _null(_SHARE),
            "needed": _null(_FINITE),
        }
    )
    reclassified = _object(
        {
            "feature": _null(_STRING),
            "group": _STRING,
            "among": {"enum": ["all", "positive", "negative"]},
            "threshold": _null(_FINITE),
            "n": _FINITE,
            "gained": _FINITE,
            "lost": _FINITE,
            "gained_interval": _null(_object(_INTERVAL)),
            "lost_interval": _null(_object(_INTERVAL)),
        }
    )
    candidate = _object(
        {
            "name": _STRING,
            "rows": _WHOLE,
            "undecided": _WHOLE,
            "verdict": _words(CandidateVerdict),
            "fairness": _words(Fairness),
            "performance": _words(Performance),
            "needed": _null(_FINITE),
            "disparities": _list(_DISPARITY_CHANGE),
            "rates": _list(_RATE_CHANGE),
            "margins": _list(margin),
            "reclassified": _list(reclassified),
        }
    )
    data: Schema = {
        "source": _STRING,
        "fingerprint": _STRING,
        "rows": _WHOLE,
        "excluded": _map(_WHOLE),
    }
    properties: Schema = {
        "schema": {"const": "fairgauge.models/1"},
        "tool": _TOOL,
        "created": _STRING,
        "task": _words(Task),
        "data": _object(data),
        "spec": _map(_ANY),
        "current": _STRING,
        "confidence": _SHARE,
        "verdict": _words(CandidateVerdict),
        "candidates": _list(candidate),
        "metrics": _map(_FACTS),
    }
    return _named("Models compared on the same rows", properties)


def thresholds_schema() -> Schema:
    """Return the JSON Schema of a choice of thresholds."""
    point = _object(
        {
            "threshold": _FINITE,
            "performance": _null(_NUMBER),
            "performance_interval": _null(_object(_INTERVAL)),
            "group": _STRING,
            "reference": _null(_STRING),
            "reference_kind": _REFERENCE_KIND,
            "disparity": _null(_NUMBER),
            "disparity_interval": _null(_object(_INTERVAL)),
            "value_meets": _BOOLEAN,
            "outcome": _words(Outcome),
        }
    )
    effect = _object(
        {
            "thresholds": _map(_FINITE),
            "performance": _RATE_CHANGE,
            "disparities": _list(_DISPARITY_CHANGE),
            "choosing_outcome": _words(Outcome),
            "choosing_keeps": _BOOLEAN,
            "value_meets": _BOOLEAN,
            "outcome": _words(Outcome),
            "needed_rows": _null(_WHOLE),
        }
    )
    of_feature = _object(
        {
            "feature": _STRING,
            "columns": _list(_STRING),
            "frontier": _list(point),
            "common": _null(effect),
            "by_group": _null(effect),
            "reweighing": _map(_map(_FINITE)),
        }
    )
    properties: Schema = {
        "schema": {"const": "fairgauge.thresholds/1"},
        "tool": _TOOL,
        "created": _STRING,
        "data": _object({"source": _STRING, "rows": _WHOLE}),
        "score": _STRING,
        "accepts": _words(Accepts),
        "today": _FINITE,
        "goal": _STRING,
        "kept": _STRING,
        "margin": _FINITE,
        "confidence": _SHARE,
        "seed": _WHOLE,
        "features": _list(of_feature),
        "diagnostics": _list(_DIAGNOSTIC),
    }
    return _named("Thresholds of a score", properties)


def monitor_schema() -> Schema:
    """Return the JSON Schema of the report of a monitor."""
    sizes = {"n_group": _WHOLE, "n_reference": _WHOLE}
    rates = {"rate_group": _null(_NUMBER), "rate_reference": _null(_NUMBER), **sizes}
    value = dict.fromkeys(("value", "low", "high"), _null(_NUMBER))
    pooled = _object({"first": _null(_STRING), "last": _null(_STRING), **value, **rates})
    decomposition = _object(
        {**dict.fromkeys(("change", "composition", "treatment"), _FINITE), "by": _list(_STRING)}
    )
    alarm = _object(
        {
            "period": _STRING,
            "since": _STRING,
            "after": pooled,
            "before": _null(pooled),
            **dict.fromkeys(("change", "low", "high"), _null(_FINITE)),
            "decomposition": _null(decomposition),
        }
    )
    baseline = _object(
        {"source": _STRING, "digest": _STRING, "value": _null(_NUMBER), "low": _NUMBER,
         "high": _NUMBER, **sizes}
    )  # fmt: skip
    point = _object(
        {
            "period": _STRING,
            **value,
            **rates,
            "evidence": _null(_FINITE),
            "sparse": _BOOLEAN,
            **dict.fromkeys(("running", "running_low", "running_high"), _null(_NUMBER)),
            "reason": _null(_REASON),
            "waits": _BOOLEAN,
        }
    )
    comparison = _object(
        {
            **dict.fromkeys(("rule", "metric", "feature", "group", "reference"), _STRING),
            "class": _null(_STRING),
            "detector": _words(Detector),
            "alpha": _FINITE,
            "threshold": _null(_FINITE),
            "low": _NUMBER,
            "high": _NUMBER,
            "baseline": _null(baseline),
            "points": _list(point),
            "state": _words(MonitorState),
            "alarm": _null(alarm),
            "lacks_baseline": _BOOLEAN,
            "evidence": _null(_FINITE),
            "says": _STRING,
        }
    )
    rows = _object(
        {"period": _STRING, "start": _STRING, "rows": _WHOLE, "excluded": _map(_WHOLE),
         "same_counts_as": _null(_STRING), "new_values": _map(_list(_STRING))}
    )  # fmt: skip
    names = dict.fromkeys(("period", "metric", "feature", "group", "source"), _STRING)
    properties: Schema = {
        "schema": {"const": "fairgauge.monitor_report/1"},
        "tool": _TOOL,
        "created": _STRING,
        "history": _STRING,
        "model": _STRING,
        "spec": _map(_ANY),
        "periods": _list(_STRING),
        "absent": _list(_STRING),
        "waiting": _list(_STRING),
        "unlabelled": _list(_STRING),
        "late_groups": _list(_list(_STRING)),
        "horizon": _WHOLE,
        "alpha": _FINITE,
        "length": _STRING,
        "rows": _list(rows),
        "inconclusive": _words(Outcome),
        "verdict": _words(Outcome),
        "comparisons": _list(comparison),
        "unmatched": _list(
            _object(
                {
                    "rule": _STRING,
                    "group": _STRING,
                    "nearest": _null(_STRING),
                    "feature": _null(_STRING),
                }
            )
        ),
        "sparse_groups": _list(
            _object({"feature": _STRING, "group": _STRING, "rows": _WHOLE, "first": _STRING})
        ),
        "largest_groups": _list(_object(dict.fromkeys(("feature", "group", "period"), _STRING))),
        "imported": _list(_object({**names, "value": _NUMBER})),
        "metrics": _map(_FACTS),
    }
    return _named("Report of a monitor", properties)


def cube_schema() -> Schema:
    """Return the JSON Schema of a ``.cube.json`` file."""
    axis = _object(
        {
            "role": _words(Role),
            "column": _STRING,
            "cuts": _list(_FINITE),
            "closed": {"enum": ["right", "left"]},
            "bounds": _null(_list(_FINITE)),
            "grid": _WHOLE,
        }
    )
    moment = _object(
        {"name": _STRING, "columns": _list(_STRING), "factors": _list(_STRING), "power": _WHOLE}
    )
    plan = _object(
        {
            "axes": _list(axis),
            "tables": _list(_list(_WHOLE)),
            "moments": _list(moment),
            "asked": _map(_ANY),
        }
    )
    table = _object(
        {"codes": _list(_list({"type": "integer", "minimum": -1})), "sums": _map(_BINS)}
    )
    properties: Schema = {
        "schema": {"const": "fairgauge.cube/1"},
        "plan": plan,
        "rows": _WHOLE,
        "excluded": _map(_WHOLE),
        "levels": _list(_list({"type": ["string", "number", "boolean"]})),
        "tables": _list(table),
        "digest": _STRING,
        "question": _map(_ANY),
    }
    optional: Schema = {"fingerprint": _STRING, "min_cell": _WHOLE}
    return _named("A mergeable table of counts", properties, optional)


def _named(title: str, properties: Schema, optional: Schema | None = None) -> Schema:
    return {"$schema": _DRAFT, "title": title, **_object(properties, optional)}
