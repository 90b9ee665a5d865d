"""The question of a report, as pairs of a word and what it was."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairgauge.enums import Closed, ReferenceRule, Threshold
from fairgauge.render.display_names import printable, shorten
from fairgauge.render.numbers import count

if TYPE_CHECKING:
    from fairgauge.report.report import Report

_LONGEST = 60
_MOST_LISTED = 8


def question(report: Report) -> list[tuple[str, str]]:
    """Return what was asked: data, label, prediction, groups, reference and the rest."""
    spec = report.spec
    pairs = [("data", _data(report))]
    pairs += [(word, text) for word, text in _outcomes(report) if text]
    pairs.append(("sensitive", ", ".join(_features(spec))))
    pairs.append(("compared with", reference(spec.get("reference", ReferenceRule.OTHERS))))
    for word, key in (("held fixed", "strata"), ("counts", "count"), ("weights", "weight"),
                      ("clusters", "cluster")):  # fmt: skip
        if spec.get(key):
            pairs.append((word, name(spec[key])))
    pairs.append(("method", _method(report)))
    return [(word, text) for word, text in pairs if text]


def source(report: Report) -> str:
    """Return the name of what was read, without the folders it lies in."""
    return printable(re.split(r"[/\\]", report.data.source)[-1])


def name(value: Any) -> str:
    """Return a name or value of the user, harmless and not too long."""
    return shorten(printable(_text(value)), _LONGEST)


def reference(asked: Any) -> str:
    """Return what groups are compared with, in words."""
    if isinstance(asked, Mapping):
        named = [f"{name(feature)} = {name(value)}" for feature, value in asked.items()]
        return ", ".join(named) + "; all other groups elsewhere"
    words = {
        ReferenceRule.OTHERS: "all other groups of the feature",
        ReferenceRule.OVERALL: "all rows, those of the group included",
        ReferenceRule.LARGEST: "the largest group",
        ReferenceRule.BEST: "the group that fares best",
    }
    return next((text for word, text in words.items() if word == asked), name(asked))


def positive(asked: Any) -> str:
    """Return the favourable values in words."""
    if isinstance(asked, Mapping):
        return f"above {_text(asked.get('above'))}"
    if asked is None:
        return "1 or true"
    values = asked if isinstance(asked, Sequence) and not isinstance(asked, str) else [asked]
    return listed(values) if values else "1 or true"


def listed(values: Sequence[Any]) -> str:
    """Return some values, and how many more there are."""
    shown = " or ".join(name(value) for value in values[:_MOST_LISTED])
    more = len(values) - _MOST_LISTED
    return f"{shown} or {more} more" if more > 0 else shown


def excluded(report: Report) -> list[tuple[str, int]]:
    """Return the reasons for which rows were left out, with their numbers, largest first."""
    found = [(printable(reason), rows) for reason, rows in report.data.excluded.items() if rows]
    return sorted(found, key=lambda each: -each[1])


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _data(report: Report) -> str:
    data = report.data
    cases = f" standing for {count(data.cases)} cases" if data.cases != data.rows else ""
    used = "all used" if data.used == data.rows else f"{count(data.used)} used"
    return f"{name(data.source)}, {count(data.rows)} rows{cases}, {used}"


def _outcomes(report: Report) -> list[tuple[str, str]]:
    spec, regression = report.spec, report.task == "regression"
    favourable = f", favourable: {positive(spec.get('positive'))}" if not regression else ""
    if report.task == "multiclass" and not spec.get("positive"):
        favourable = ", each class in turn"
    label, prediction, score = spec.get("label"), spec.get("prediction"), spec.get("score")
    found = [("label", f"{name(label)}{favourable}" if label else "")]
    alone = favourable if not label else ""
    found.append(("prediction", f"{name(prediction)}{alone}" if prediction else ""))
    if score:
        at = "" if prediction else f", positive where {_sign(report)} {_at(report)}"
        found.append(("score", f"{name(score)}{at}"))
    return found


def decides(report: Report) -> str:
    """Say how scores decide in a report, for the reader of its curves."""
    if report.spec.get("prediction"):
        return "The predictions of this report are a column of their own, not these thresholds."
    return f"The report decides: positive where the score is {_sign(report)} {_at(report)}."


def _sign(report: Report) -> str:
    """Return which scores are predicted positive; low ones where they are of the negative."""
    turned = any(each.turned is not None for each in report.scores)
    if report.profile == "clarify":
        return "<=" if turned else ">"
    return "<" if turned else ">="


def _at(report: Report) -> str:
    threshold = report.spec.get("threshold") or ()
    if threshold == Threshold.MEDIAN:
        return "the median of the scores"
    return " or ".join(map(_text, threshold))


def _features(spec: Mapping[str, Any]) -> list[str]:
    found = []
    for feature in spec.get("sensitive", ()):
        column = name(feature["column"])
        if feature.get("cuts"):
            closed = ", left edges closed" if feature.get("closed") == Closed.LEFT else ""
            column += f" (cut at {', '.join(_text(c) for c in feature['cuts'])}{closed})"
        if feature.get("values"):
            sets = [", ".join(name(v) for v in each) for each in feature["values"][:_MOST_LISTED]]
            column += f" ({'; '.join(sets)})"
        found.append(column)
    return found + ["*".join(map(name, parts)) for parts in spec.get("intersections", ())]


def _method(report: Report) -> str:
    spec = report.spec
    confidence, method = spec.get("confidence"), spec.get("method")
    parts = [f"profile {report.profile}", f"task {report.task}"]
    intervals = any(each.low is not None for each in report.estimates)
    if intervals and confidence is not None:
        parts.append(f"{confidence * 100:g}% intervals ({method}, seed {spec.get('seed')})")
    return ", ".join(parts)
