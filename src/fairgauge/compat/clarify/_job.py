"""One configuration on one table: facets in blocks, counted once, measured in a profile."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Unpack

from fairgauge.api.audit import audit
from fairgauge.compat._column_reading import DataType, looks_misread
from fairgauge.compat._facet_blocks import (
    BinaryOutcome,
    Blocks,
    facet_blocks,
    favoured,
    outcome,
    predicted,
)
from fairgauge.compat._facet_counts import FacetQuestion, count_question
from fairgauge.compat._flip_test import Features
from fairgauge.compat._service_metrics import ServiceMetrics, unsortable
from fairgauge.compat._service_texts import result
from fairgauge.enums import Profile
from fairgauge.errors import DataError, Problem, listing, quote
from fairgauge.values import canonical, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fairgauge.compat._coded_column import CodedColumn
    from fairgauge.compat._service_texts import BlockEntry, StageEntry
    from fairgauge.compat.clarify._dataset import Dataset
    from fairgauge.compat.clarify.clarify_config import AnalysisConfig, Facet
    from fairgauge.compat.interval_options import IntervalOptions
    from fairgauge.cube.cube import Cube
    from fairgauge.question.options import Options
    from fairgauge.results.report import Report


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One facet of a job: its blocks, or why it has none."""

    asked: Facet
    name: str
    blocks: Blocks | None
    problem: str = ""


class Job:
    """A configuration and its table, counted and measured."""

    def __init__(
        self,
        config: AnalysisConfig,
        made: Dataset,
        profile: Profile,
        **options: Unpack[IntervalOptions],
    ) -> None:
        self.config = config
        self.made = made
        self.profile = profile
        self.notes: list[str] = []
        self.mistakes: list[Problem] = []
        self._cube: Cube | None = None
        self._options: Options = {}
        self.label, listed = self._label()
        self.prediction = self._prediction(listed)
        self.sides: list[Side] = []
        for facet in config.facet or []:
            self.sides.append(self._side(facet))
        self.measured = self._measured(options)

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
        for side in self.sides:
            facets.setdefault(side.name, [])
            if side.blocks is None:
                facets[side.name].append(_failed(side, metrics))
                continue
            assert self.measured is not None
            facets[side.name] += [
                {
                    "value_or_threshold": name,
                    "metrics": [self.measured.result(m, position, block) for m in metrics],
                }
                for block, name in enumerate(side.blocks.names)
            ]
            position += 1
        return {
            "label": self.label.column.name,
            "label_value_or_threshold": self.label.text,
            "facets": facets,
        }

    def _label(self) -> tuple[BinaryOutcome, list[object]]:
        config, name = self.config, self.made.label
        assert name is not None
        assert config.label_values_or_threshold is not None
        column, values = self.made.column(name), config.label_values_or_threshold
        try:
            made, listed = outcome(column, values, self.profile, _type(config.label_type))
        except ValueError as error:
            raise DataError(f"label_values_or_threshold: {error}") from None
        doubt = self._doubt(column, values, made.of, config.label_type)
        if not made.positive.any():
            shown = quote(made.text or values[0])
            is_number = made.of is DataType.CONTINUOUS
            absent = f"no row lies above {shown}" if is_number else f"no row has {shown}"
            self._note_absent("label", "label_values_or_threshold", absent, doubt)
        elif made.positive.all():
            self.notes.append(f"label: every row is positive, by {quote(made.text or values[0])}")
        return made, listed

    def _prediction(self, listed: list[object]) -> BinaryOutcome | None:
        """Collapse the predictions; where the service stops, go on with a notice."""
        name = self.made.predicted
        if name is None or "post_training_bias" not in self.config.stages:
            return None
        column = self.made.column(name)
        if self.config.label_type is not None:
            return predicted(column, self.label, listed, Profile.DOCUMENTED)
        try:
            return predicted(column, self.label, listed, self.profile)
        except ValueError as error:
            self.notes.append(f"{name}: the service stops here ({error}); fairgauge goes on")
        try:
            return predicted(column, self.label, listed, Profile.DOCUMENTED)
        except ValueError as error:
            raise DataError(f"{name}: {error}") from None

    def _side(self, facet: Facet) -> Side:
        name = self.made.find_facet(facet.name_or_index)
        assert name is not None
        column = self.made.column(name)
        try:
            blocks = facet_blocks(
                column, facet.value_or_threshold, self.profile, _type(facet.facet_type)
            )
        except ValueError as error:
            self.notes.append(f"facet {name}: {error}")
            return Side(facet, name, None, str(error))
        doubt = self._doubt(column, facet.value_or_threshold, blocks.of, facet.facet_type)
        path = f"facet[{len(self.sides)}].value_or_threshold"
        for absent in _without_rows(blocks, column, facet.value_or_threshold):
            self._note_absent(f"facet {name}", path, absent, doubt)
        return Side(facet, name, favoured(blocks) if facet.facet_role == "a" else blocks)

    def _doubt(
        self,
        column: CodedColumn,
        values: Sequence[object] | None,
        found: DataType,
        stated: str | None,
    ) -> str | None:
        """Note a type that is probably guessed wrong, and return the note."""
        why = looks_misread(column, values, found) if stated is None else None
        if not why or not self.profile.rules.types_are_guessed:
            return None
        self.notes.append(f"{why}; facet_type, label_type or --profile documented overrides this")
        return self.notes[-1]

    def _note_absent(self, of: str, path: str, absent: str, doubt: str | None) -> None:
        """Note a value that no row has, which is a mistake of the configuration."""
        self.notes.append(f"{of}: {absent}")
        self.mistakes.append(Problem(path, f"{absent} ({doubt})" if doubt else absent))

    def _document(self) -> Options:
        """Return the title of the report, if the configuration gives one."""
        asked = self.config.methods.report
        return {"document": {"title": asked.title}} if asked and asked.title else {}

    def _measured(self, options: IntervalOptions) -> ServiceMetrics | None:
        blocks = tuple(side.blocks for side in self.sides if side.blocks is not None)
        if not blocks:
            return None
        group = self.config.group_variable
        strata = None if group is None else self.made.column(self.made.find(group) or "")
        asked = FacetQuestion(blocks, self.label, self.prediction, strata)
        metrics = [metric for every in self.config.stages.values() for metric in every]
        if "FT" in metrics:  # it compares rows, and the report is made of counts
            metrics.remove("FT")
            self.notes.append("FT is in analysis.json, and not in the report")
        problem = None
        if strata is not None and self.profile.rules.types_are_guessed:
            missing = [float("nan")] if (strata.codes < 0).any() else []
            problem = unsortable([*strata.levels, *missing])
        features = [Features(partial(self.made.features, {block.name})) for block in blocks]
        cube = count_question(asked, self.profile)
        self._cube = cube
        self._options = {**options, "metrics": metrics, **self._document()}
        return ServiceMetrics(asked, cube, features, problem)


def _failed(side: Side, metrics: list[str]) -> BlockEntry:
    values = ",".join(map(str, side.asked.value_or_threshold or []))
    return {
        "value_or_threshold": values,
        "metrics": [result(metric, None, side.problem) for metric in metrics],
    }


def _without_rows(
    blocks: Blocks, column: CodedColumn, listed: Sequence[object] | None
) -> Iterator[str]:
    """Name listed values of a facet that no row has; a threshold that no row exceeds."""
    if not listed:
        return
    if blocks.of is DataType.CONTINUOUS:
        if not (blocks.codes == 0).any():
            yield f"no row lies above {quote(listed[0])}"
        return
    names = {name_of(canonical(level)) for level in column.used}
    absent = [value for value in listed if name_of(canonical(value)) not in names]
    if absent:
        yield f"no row has {listing(absent)}; it has {listing(column.used)}"


def _type(word: str | None) -> DataType | None:
    return None if word is None else DataType[word.upper()]
