"""The command that asks the same question again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairgauge.report.report import Report

_COLUMNS = ("label", "prediction", "score", "strata", "count", "weight", "cluster")
_USUAL = {
    "confidence": 0.95, "method": "default", "seed": 0, "replicates": 2000,
    "profile": "documented", "missing": "exclude", "max_groups": 1000,
}  # fmt: skip
_MEANS_SOMETHING = re.compile(r"([\\=:*,])")
_FILE = re.compile(r"[./]")


def command(report: Report) -> str | None:
    """Return the command line of a report; None where only a specification file says it all."""
    spec = report.spec
    rules: Sequence[Mapping[str, Any]] = spec.get("rules", ())
    if any(r.get("features") or r.get("groups") or r.get("decide") == "point" for r in rules):
        return None
    source = report.data.source
    data = source if _FILE.search(source) and " " not in source else "DATA"
    words = ["fairgauge", "audit", data, *(word for pair in _pairs(spec) for word in pair)]
    return shlex.join(words)


def _pairs(spec: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for key in _COLUMNS:
        if spec.get(key) is not None:
            yield f"--{key}", str(spec[key])
    if spec.get("score") is not None:
        yield from (("--threshold", _text(each)) for each in spec.get("threshold", ()))
    yield from _positive(spec.get("positive"))
    for feature in spec.get("sensitive", ()):
        yield from _feature(feature)
    for parts in spec.get("intersections", ()):
        yield "--intersect", "*".join(map(_escaped, parts))
    yield from _reference(spec.get("reference", "others"))
    if list(spec.get("metrics", ())) != ["standard"]:
        yield "--metrics", ",".join(spec["metrics"])
    if spec.get("features"):
        yield "--features", ",".join(map(_escaped, spec["features"]))
    if spec.get("task"):
        yield "--task", str(spec["task"])
    for key, usual in _USUAL.items():
        if spec.get(key, usual) != usual:
            yield f"--{key.replace('_', '-')}", _text(spec[key])
    for each in spec.get("rules", ()):
        yield "--rule", _rule(each)


def _positive(asked: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(asked, Mapping):
        yield "--positive", f">{_text(asked['above'])}"
    elif asked:
        yield "--positive", ",".join(_escaped(_text(each)) for each in asked)


def _feature(feature: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    column = _escaped(feature["column"])
    if feature.get("cuts"):
        yield "--sensitive", f"{column}:{','.join(map(_text, feature['cuts']))}"
    for values in feature.get("values", ()):
        yield "--sensitive", f"{column}={','.join(_escaped(_text(each)) for each in values)}"
    if not feature.get("cuts") and not feature.get("values"):
        yield "--sensitive", column


def _reference(asked: Any) -> Iterator[tuple[str, ...]]:
    if isinstance(asked, Mapping):
        for column, value in asked.items():
            yield "--reference", f"{_escaped(column)}={_escaped(_text(value))}"
    elif asked not in ("others", "rest"):
        yield "--reference", str(asked)


def _rule(rule: Mapping[str, Any]) -> str:
    low, high = rule.get("at_least"), rule.get("at_most")
    if low is not None and high is not None:
        return f"{low:g} <= {rule['metric']} <= {high:g}"
    return f"{rule['metric']} >= {low:g}" if high is None else f"{rule['metric']} <= {high:g}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _escaped(name: str) -> str:
    return _MEANS_SOMETHING.sub(r"\\\1", str(name))
