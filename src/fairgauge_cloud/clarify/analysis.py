"""A job's results: ``analysis.json`` as the service writes it, and our own report of the counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from fairgauge import Cube, Report, audit
from fairgauge.errors import DataError
from fairgauge.plugins import canonical, matches
from fairgauge_cloud._coded_column import CodedColumn, as_float
from fairgauge_cloud._facet_counts import (
    BinaryOutcome,
    Blocks,
    DataType,
    FacetQuestion,
    count_question,
    facet_blocks,
    outcome,
    read_prediction,
)
from fairgauge_cloud._files import Places
from fairgauge_cloud._service_metrics import (
    BlockEntry,
    Features,
    ServiceMetrics,
    StageEntry,
    result,
    unsortable,
)
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig
from fairgauge_cloud.clarify.dataset import Dataset, FirstRow, load_dataset

VERSION = "1.0"
_SECTIONS = {
    "pre_training_bias": "pre_training_bias_metrics",
    "post_training_bias": "post_training_bias_metrics",
}


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a job found: the content of ``analysis.json``, and our report, if any facet is read.

    ``notices`` are what a reader should know of how the configuration was read.
    """

    results: dict[str, object]
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
    return Analysis(results, job.report, job.notices)


def check_job(
    config: AnalysisConfig,
    places: Places,
    dataset: str | None = None,
    first_row: FirstRow = FirstRow.AUTO,
) -> tuple[str, ...]:
    """Hold a configuration against its data, measure nothing, and return what is notable."""
    return Job(config, load_dataset(config, places, dataset, first_row)).notices


class Job:
    """A configuration and its table, counted and measured."""

    def __init__(self, config: AnalysisConfig, made: Dataset, **options: Any) -> None:
        self.config = config
        self.made = made
        self._notes: list[str] = [*config.notices, *made.notices]
        self._cube: Cube | None = None
        self._options: dict[str, Any] = {}
        name, values = made.label, config.label_values_or_threshold
        assert name is not None
        assert values is not None
        try:
            self.label, listed = outcome(made.table[name], values)
        except ValueError as error:
            raise DataError(f"label_values_or_threshold: {error}") from None
        self.prediction = self._prediction(listed)
        self._facets: list[tuple[str, Blocks | str]] = []  # with the blocks, or why there are none
        for facet in config.facet or []:
            column = made.find_facet(facet.name_or_index)
            assert column is not None
            try:
                blocks = facet_blocks(made.table[column], facet.value_or_threshold)
                self._facets.append((column, blocks))
            except ValueError as error:
                self._notes.append(f"facet {column}: {error}")
                self._facets.append((column, str(error)))
        self.measured = self._measure_blocks(options)

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
                values = ",".join(map(str, asked.value_or_threshold or []))
                failed = [result(metric, None, blocks) for metric in metrics]
                found.append({"value_or_threshold": values, "metrics": failed})
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

    def _prediction(self, listed: list[object]) -> BinaryOutcome | None:
        name = self.made.predicted
        if name is None or "post_training_bias" not in self.config.stages:
            return None
        column = self.made.table[name]
        try:
            return read_prediction(column, self.label, listed)
        except ValueError as error:
            self._notes.append(f"{name}: the service stops here ({error}); fairgauge goes on")
        try:
            return _predicted_anyway(column, self.label, listed)
        except ValueError as error:
            raise DataError(f"{name}: {error}") from None

    def _measure_blocks(self, options: dict[str, Any]) -> ServiceMetrics | None:
        blocks = tuple(each for _, each in self._facets if isinstance(each, Blocks))
        if not blocks:
            return None
        group = self.config.group_variable
        strata = None if group is None else self.made.table[self.made.find(group) or ""]
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
    # collapse predictions that the service refuses: none is positive, or of another type
    if label.of is DataType.CONTINUOUS:
        threshold = as_float(listed[0])
        mask = [as_float(level) > threshold for level in column.levels]
    else:
        meant = [canonical(value) for value in listed]
        mask = [any(matches(m, canonical(level)) for m in meant) for level in column.levels]
    return BinaryOutcome(column, np.array(mask, dtype=bool), label.of, label.text)
