"""A job's results: ``analysis.json`` as the service writes it, and our own report of the counts."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fairgauge import Report, audit
from fairgauge.errors import DataError
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
from fairgauge_cloud._files import find
from fairgauge_cloud._service_metrics import Features, ServiceMetrics, result, unsortable
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig
from fairgauge_cloud.clarify.dataset import Dataset


class Job:
    """A configuration held against its table, counted and measured."""

    def __init__(self, config: AnalysisConfig, made: Dataset) -> None:
        self.config = config
        self.made = made
        self._notes = [*config.notices, *made.notices]
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
    def results(self) -> dict[str, Any]:
        """Return the content of ``analysis.json``."""
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

    def _stage(self, stage: str) -> dict[str, Any]:
        metrics, positions = self.config.stages[stage], itertools.count()
        facets: dict[str, list[dict[str, Any]]] = {}
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
