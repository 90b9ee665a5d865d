"""A job's results: ``analysis.json`` as the service writes it, and ``fairgauge.json`` beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from fairgauge import Cube, Report, __version__, audit
from fairgauge.errors import DataError
from fairgauge.plugins import canonical, matches
from fairgauge_cloud._coded_column import CodedColumn, as_float
from fairgauge_cloud._column_reading import DataType
from fairgauge_cloud._facet_counts import (
    BinaryOutcome,
    Blocks,
    FacetQuestion,
    count_question,
    facet_blocks,
    outcome,
    predicted,
)
from fairgauge_cloud._files import Places
from fairgauge_cloud._service_metrics import Features, ServiceMetrics, unsortable
from fairgauge_cloud._service_texts import CONDITIONAL, BlockEntry, StageEntry, result, spelled
from fairgauge_cloud.clarify._inputs import load_dataset
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig, Facet
from fairgauge_cloud.clarify.dataset import Dataset, FirstRow
from fairgauge_cloud.smclarify.bias.report_values import performance

SCHEMA = "fairgauge.clarify/1"
VERSION = "1.0"
_SECTIONS = {
    "pre_training_bias": "pre_training_bias_metrics",
    "post_training_bias": "post_training_bias_metrics",
}


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a job found.

    Attributes
    ----------
    results : the content of ``analysis.json``: the service's keys in the service's order only.
    additions : the content of ``fairgauge.json``: confidence intervals, and performance.
    report : fairgauge's own report; None when no facet can be read.
    notices : what a reader should know of how the configuration was read.
    """

    results: dict[str, object]
    additions: dict[str, object]
    report: Report | None
    notices: tuple[str, ...]


def analyse(
    config: AnalysisConfig,
    places: Places,
    dataset: str | None = None,
    first_row: FirstRow = FirstRow.AUTO,
    **options: Any,
) -> Analysis:
    """Run a configuration on local files."""
    job = Job(config, load_dataset(config, places, dataset, first_row), **options)
    results: dict[str, object] = {"version": VERSION}
    results |= {_SECTIONS[stage]: job.stage(stage) for stage in config.stages}
    additions: dict[str, object] = {
        "schema": SCHEMA,
        "tool": {"name": "fairgauge", "version": __version__},
        "rows": job.made.rows,
        "notices": list(job.notices),
        "intervals": list(_intervals(job)),
    }
    if job.prediction is not None:
        block = performance(job.label.column.name, job.label, job.prediction)
        additions["model_performance"] = block
    return Analysis(results, additions, job.report, job.notices)


def check_job(
    config: AnalysisConfig,
    places: Places,
    dataset: str | None = None,
    first_row: FirstRow = FirstRow.AUTO,
) -> tuple[str, ...]:
    """Hold a configuration against its data, measure nothing, and return what is notable."""
    return Job(config, load_dataset(config, places, dataset, first_row)).notices


def _intervals(job: Job) -> Iterator[dict[str, object]]:
    if job.report is None or job.measured is None:
        return
    asked = job.measured.asked
    place = {
        (axis, shown): (facet.name, name)
        for i, (axis, facet) in enumerate(zip(asked.axes, asked.facets, strict=True))
        for shown, name in zip(asked.block_names(i), facet.names, strict=True)
    }
    everyone = list(place.values())
    for each in job.report.estimates:
        own = "pooled" if each.metric in CONDITIONAL else "overall"
        if each.scope.kind != own or each.low is None or each.high is None:
            continue
        found = everyone
        if each.feature_id is not None and each.group_id is not None:
            block = place.get((each.feature_id.name(), each.group_id.name()))
            found = [block] if block else []
        for facet, name in found:
            yield {
                "facet": facet,
                "value_or_threshold": name,
                "metric": each.metric,
                "low": spelled(each.low),
                "high": spelled(each.high),
                "confidence": each.confidence,
                "method": [str(method) for method in each.interval.methods]
                if each.interval
                else [],
            }


class Job:
    """A configuration and its table, counted and measured."""

    def __init__(self, config: AnalysisConfig, made: Dataset, **options: Any) -> None:
        self.config = config
        self.made = made
        self._notes: list[str] = [*config.notices, *made.notices]
        self._cube: Cube | None = None
        self._options: dict[str, Any] = {}
        self.label, listed = self._label()
        self.prediction = self._prediction(listed)
        self._facets = [self._facet(facet) for facet in config.facet or []]
        self.measured = self._measured(options)

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a reader should know of how the configuration was read."""
        return tuple(dict.fromkeys(self._notes))

    @cached_property
    def report(self) -> Report | None:
        """Return fairgauge's own report; None when no facet can be read."""
        if self._cube is None:
            return None
        found = audit(self._cube, **self._options)
        return replace(found, data=replace(found.data, source=self.made.source))

    def stage(self, stage: str) -> StageEntry:
        """Return the results of a stage, in the service's shape."""
        metrics = self.config.stages[stage]
        facets: dict[str, list[BlockEntry]] = {}
        position = 0
        for asked, (name, blocks) in zip(self.config.facet or [], self._facets, strict=True):
            found = facets.setdefault(name, [])
            if isinstance(blocks, str):
                found.append(_failed(asked, metrics, problem=blocks))
                continue
            assert self.measured is not None
            found += [
                {
                    "value_or_threshold": value,
                    "metrics": [self.measured.result(m, position, block) for m in metrics],
                }
                for block, value in enumerate(blocks.names)
            ]
            position += 1
        return {
            "label": self.label.column.name,
            "label_value_or_threshold": self.label.text,
            "facets": facets,
        }

    def _label(self) -> tuple[BinaryOutcome, list[object]]:
        name, values = self.made.label, self.config.label_values_or_threshold
        assert name is not None
        assert values is not None
        column = self.made.column(name)
        try:
            return outcome(column, values)
        except ValueError as error:
            raise DataError(f"label_values_or_threshold: {error}") from None

    def _prediction(self, listed: list[object]) -> BinaryOutcome | None:
        name = self.made.predicted
        if name is None or "post_training_bias" not in self.config.stages:
            return None
        column = self.made.column(name)
        try:
            return predicted(column, self.label, listed)
        except ValueError as error:
            self._notes.append(f"{name}: the service stops here ({error}); fairgauge goes on")
        try:
            return _predicted_anyway(column, self.label, listed)
        except ValueError as error:
            raise DataError(f"{name}: {error}") from None

    def _facet(self, facet: Facet) -> tuple[str, Blocks | str]:
        """Return the column of a facet, and its blocks or why it has none."""
        name = self.made.find_facet(facet.name_or_index)
        assert name is not None
        column, values = self.made.column(name), facet.value_or_threshold
        try:
            blocks = facet_blocks(column, values)
        except ValueError as error:
            self._notes.append(f"facet {name}: {error}")
            return name, str(error)
        return name, blocks

    def _measured(self, options: dict[str, Any]) -> ServiceMetrics | None:
        blocks = tuple(each for _, each in self._facets if isinstance(each, Blocks))
        if not blocks:
            return None
        group = self.config.group_variable
        strata = None if group is None else self.made.column(self.made.find(group) or "")
        asked = FacetQuestion(blocks, self.label, self.prediction, strata)
        self._cube = count_question(asked)
        self._options = dict(options)
        metrics = [metric for every in self.config.stages.values() for metric in every]
        if "FT" in metrics:  # it compares rows, and the report is made of counts
            metrics.remove("FT")
            self._notes.append("FT is in analysis.json, and not in the report")
        if metrics:
            self._options["metrics"] = metrics
        report = self.config.methods.report
        if report is not None and report.title:
            self._options["document"] = {"title": report.title}
        problem = None
        if strata is not None:
            missing = [float("nan")] if (strata.codes < 0).any() else []
            problem = unsortable([*strata.levels, *missing])
        features = [Features(partial(self.made.features, {block.name})) for block in blocks]
        return ServiceMetrics(asked, self._cube, features, problem)


def _predicted_anyway(
    column: CodedColumn, label: BinaryOutcome, listed: list[object]
) -> BinaryOutcome:
    """Collapse predictions that the service refuses: none is positive, or of another type."""
    if label.of is DataType.CONTINUOUS:
        threshold = as_float(listed[0])
        mask = [as_float(level) > threshold for level in column.levels]
    else:
        meant = [canonical(value) for value in listed]
        mask = [any(matches(m, canonical(level)) for m in meant) for level in column.levels]
    return BinaryOutcome(column, np.array(mask, dtype=bool), label.of, label.text)


def _failed(asked: Facet, metrics: list[str], problem: str) -> BlockEntry:
    values = ",".join(map(str, asked.value_or_threshold or []))
    return {
        "value_or_threshold": values,
        "metrics": [result(metric, None, problem) for metric in metrics],
    }
