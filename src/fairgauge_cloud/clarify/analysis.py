"""A job's results: ``analysis.json`` as the service writes it and read back, and our own report."""

from __future__ import annotations

import itertools
import json
import math
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairgauge import Report, audit
from fairgauge.errors import DataError, quote
from fairgauge.plugins import render, write_all
from fairgauge_cloud._facet_counts import (
    BinaryOutcome,
    Blocks,
    DataType,
    FacetQuestion,
    facet_blocks,
    matching,
    outcome,
    read_prediction,
)
from fairgauge_cloud._files import find, json_document
from fairgauge_cloud._service_metrics import (
    Features,
    ServiceMetrics,
    read_value,
    result,
    spell_value,
    unsortable,
)
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig
from fairgauge_cloud.clarify.dataset import Dataset


class Job:
    """A configuration held against its table, counted and measured."""

    def __init__(self, config: AnalysisConfig, made: Dataset) -> None:
        self.config = config
        self.made = made
        self._notes = [*config.notices, *made.notices]
        self.stops = False  # whether the service would end with an error
        try:
            values = config.label_values_or_threshold or []
            self.label, listed = outcome(made.table[made.label or ""], values)
        except ValueError as error:
            raise DataError(f"label_values_or_threshold: {error}") from None
        self.prediction = self._prediction(listed)
        self._facets: list[tuple[str, Blocks | str]] = []  # with the blocks, or why there are none
        for facet in config.facet or []:
            column = made.find_facet(facet.name_or_index) or ""
            try:
                blocks = facet_blocks(made.table[column], facet.value_or_threshold)
                self._facets.append((column, blocks))
            except ValueError as error:
                self._notes.append(f"facet {column}: {error}")
                self._facets.append((column, str(error)))
        self.measured = self._measure_blocks()

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a reader should know of how the configuration was read."""
        return tuple(dict.fromkeys(self._notes))

    @property
    def results(self) -> dict[str, object]:
        stages = {f"{stage}_metrics": self._stage(stage) for stage in self.config.stages}
        return {"version": "1.0", **stages}

    def report(self, **asked: Any) -> Report | None:
        """Return fairgauge's own report; None when no facet can be read."""
        if self.measured is None:
            return None
        report = self.config.methods.report
        if metrics := [m for every in self.config.stages.values() for m in every if m != "FT"]:
            asked["metrics"] = metrics
        if report is not None and report.title:
            asked["document"] = {"title": report.title}
        found = audit(self.measured.counts, **asked)
        return replace(found, data=replace(found.data, source=self.made.source))

    def _stage(self, stage: str) -> dict[str, object]:
        metrics, positions = self.config.stages[stage], itertools.count()
        facets: dict[str, list[dict[str, object]]] = {}
        for asked, (name, blocks) in zip(self.config.facet or [], self._facets, strict=True):
            if isinstance(blocks, str):
                values = ",".join(map(str, asked.value_or_threshold or []))
                found = [(values, [result(metric, None, blocks) for metric in metrics])]
            else:
                assert self.measured is not None
                of = partial(self.measured.result, facet=next(positions))
                found = [(value, [of(metric, block=block) for metric in metrics])
                         for block, value in enumerate(blocks.names)]  # fmt: skip
            facets.setdefault(name, []).extend(
                {"value_or_threshold": value, "metrics": entries} for value, entries in found
            )
        return {
            "label": self.label.column.name,
            "label_value_or_threshold": self.label.text,
            "facets": facets,
        }

    def _prediction(self, listed: list[Any]) -> BinaryOutcome | None:
        name = self.made.predicted
        if name is None or "post_training_bias" not in self.config.stages:
            return None
        column, label = self.made.table[name], self.label
        try:
            return read_prediction(column, label, listed)
        except ValueError as error:
            self.stops = True
            self._notes.append(f"{name}: the service stops here ({error}); fairgauge goes on")
        # none is positive, or they are of another type
        if label.of is DataType.CATEGORICAL:
            return BinaryOutcome(column, matching(column, listed), label.of, label.text)
        try:
            levels = np.array([*map(float, column.levels)])
            return BinaryOutcome(column, levels > float(listed[0]), label.of, label.text)
        except ValueError as error:
            raise DataError(f"{name}: {error}") from None

    def _measure_blocks(self) -> ServiceMetrics | None:
        blocks = tuple(each for _, each in self._facets if isinstance(each, Blocks))
        if not blocks:
            return None
        strata = self.made.table.get(find(self.made.names, self.config.group_variable) or "")
        if any("FT" in every for every in self.config.stages.values()):
            # it compares rows, and the report is made of counts
            self._notes.append("FT is in analysis.json, and not in the report")
        levels = [] if strata is None else list(strata.levels)
        if strata is not None and (strata.codes < 0).any():
            levels.append(math.nan)
        features = [Features(partial(self.made.features, {block.name})) for block in blocks]
        asked = FacetQuestion(blocks, self.label, self.prediction, strata)
        return ServiceMetrics(asked, features, unsortable(levels))


STAGES = ("pre_training_bias_metrics", "post_training_bias_metrics")


class MetricKey(NamedTuple):
    """What distinguishes a value from the others of a file."""

    stage: str
    facet: str
    block: str
    metric: str


class MetricValue(NamedTuple):
    """A value, or why there is none."""

    value: float | None
    error: str | None = None


Values = dict[MetricKey, MetricValue]


def write_json(value: object) -> str:
    """Return a value as the service writes its files."""
    return json.dumps(value, indent=4, ensure_ascii=False, allow_nan=False) + "\n"


def read_results(path: Path) -> dict[str, object]:
    """Read an ``analysis.json``."""
    found = json_document(path)
    if not isinstance(found, dict) or not any(stage in found for stage in STAGES):
        wanted = " or ".join(STAGES)
        raise DataError(f"{quote(path)} is no analysis.json: it has no {wanted}")
    return found


def values_of(found: dict[str, Any], name: str) -> Values:
    """Return every value of a results file."""
    try:
        return {
            MetricKey(stage, facet, str(block["value_or_threshold"]), metric["name"]): MetricValue(
                read_value(metric["value"]), metric.get("error")
            )
            for stage in STAGES
            if found.get(stage) is not None
            for facet, blocks in found[stage]["facets"].items()
            for block in blocks
            for metric in block["metrics"]
        }
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{quote(name)} has another shape than analysis.json: {error!r}") from None


def result_paths(folder: Path, name: str) -> list[Path]:
    """Return the files that `write_results` writes."""
    return [folder / each for each in ("analysis.json", "fairgauge.json", f"{name}.html")]


def write_results(found: dict[str, object], report: Report | None, folder: Path, name: str) -> None:
    """Write results, and the report under a name, into a folder: all or none."""
    analysis, saved, page = result_paths(folder, name)
    contents: dict[str | Path, str | bytes] = {analysis: write_json(found)}
    if report is not None:
        contents |= {saved: render(report, "json"), page: render(report, "html")}
    write_all(contents)


# the name of a facet that is numbers above a threshold, as pandas writes an interval
_INTERVAL = re.compile(r"\(([-+]?[\d.]+(?:e[-+]?\d+)?), [^,]+[\])]")
# sums of logarithms differ in their last digits from one program to the next
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Drift:
    """What a comparison with a baseline came to; violations have the service's keys.

    ``lost``: how many of those that are not evaluated have a value in the baseline.
    """

    violations: tuple[dict[str, str], ...]
    not_evaluated: tuple[str, ...]
    evaluated: int
    lost: int

    @property
    def summary(self) -> str:
        """Return the status as the service words it, the counts, and every violation."""
        status = "CompletedWithViolations" if self.violations else "Completed"
        drifted, open_ = len(self.violations), len(self.not_evaluated)
        counts = f"{self.evaluated} metrics compared, {drifted} drifted, {open_} not evaluated"
        line = "  {metric_name}  {facet} {facet_value}: {description}"
        return "\n".join([f"{status}: {counts}", *map(line.format_map, self.violations)])

    def to_json(self) -> str:
        return write_json({"version": "1.0", "violations": self.violations})


def compare(current: Values, baseline: Values) -> Drift:
    """Hold current values against a baseline's: what is farther from "no bias" has drifted."""
    baseline = _align_intervals(current, baseline)
    violations, open_, lost = list[dict[str, str]](), list[str](), 0
    every = sorted({*current, *baseline}, key=lambda key: (key.metric, *key))
    for key in every:
        now, before = current.get(key), baseline.get(key)
        if before is None or before.value is None or now is None or now.value is None:
            open_.append(f"{key.metric} of {key.facet} {key.block}: {_why_open(now, before)}")
            lost += before is not None and before.value is not None
        elif has_drifted(now.value, before.value):
            violations.append({
                "facet": key.facet,
                "facet_value": key.block,
                "metric_name": key.metric,
                "constraint_check_type": "bias_drift_check",
                "description": f"Metric value {spell_value(now.value)} doesn't meet the baseline "
                f"constraint requirement {spell_value(before.value)}",
            })  # fmt: skip
    return Drift(tuple(violations), tuple(open_), len(every) - len(open_), lost)


def _why_open(now: MetricValue | None, before: MetricValue | None) -> str:
    if before is None:
        return "not in the baseline"
    if now is None:
        return "not in the current results"
    if before.value is None:
        return f"the baseline has no value ({before.error or 'null'})"
    return f"there is no value ({now.error or 'null'})"


def has_drifted(now: float, before: float) -> bool:
    """Return whether a value is farther from 0 than its baseline, as the service decides it."""
    close = math.isclose(abs(now), abs(before), rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    return abs(now) > abs(before) and not close


def _align_intervals(current: Values, baseline: Values) -> Values:
    # A facet given by a threshold is called ``(100, 225]``, by the largest value of its column; it
    # is the same facet when that value moves. Only a facet of one block can be one of these.
    def thresholds(values: Values) -> dict[tuple[str, ...], tuple[float, str]]:
        blocks: dict[tuple[str, ...], set[str]] = {}
        for key in values:
            blocks.setdefault(key[:2], set()).add(key.block)
        alone = {facet: block for facet, (block, *more) in blocks.items() if not more}
        found = ((facet, _INTERVAL.fullmatch(block), block) for facet, block in alone.items())
        return {facet: (float(inside[1]), block) for facet, inside, block in found if inside}

    now, before = thresholds(current), thresholds(baseline)
    moved = {
        facet: now[facet][1]
        for facet, (low, _) in before.items()
        if low == now.get(facet, [None])[0]
    }
    return {
        key._replace(block=moved.get(key[:2], key.block)): value for key, value in baseline.items()
    }
