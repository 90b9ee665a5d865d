"""A job's results: ``analysis.json`` as the service writes it, and ``fairgauge.json`` beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Unpack

import numpy as np

from fairgauge import Cube, Report, __version__, audit
from fairgauge.errors import DataError, Problem, SpecError, cells, listing, quote
from fairgauge.plugins import canonical, matches, name_of
from fairgauge_cloud import IntervalOptions
from fairgauge_cloud._coded_column import CodedColumn, Kind, Mask, as_float
from fairgauge_cloud._column_reading import CLARIFY, DOCUMENTED, DataType, looks_misread
from fairgauge_cloud._facet_counts import (
    BinaryOutcome,
    Blocks,
    FacetQuestion,
    count_question,
    facet_blocks,
    favoured,
    outcome,
    predicted,
)
from fairgauge_cloud._files import Places
from fairgauge_cloud._service_metrics import Features, ServiceMetrics, unsortable
from fairgauge_cloud._service_texts import (
    CONDITIONAL,
    BlockEntry,
    StageEntry,
    result,
    spelled,
    warnings_of,
)
from fairgauge_cloud.clarify._inputs import load_dataset
from fairgauge_cloud.clarify._result_texts import OF, SCHEMA, as_json, digest
from fairgauge_cloud.clarify.clarify_config import AnalysisConfig, Facet, Segments
from fairgauge_cloud.clarify.dataset import Dataset, FirstRow
from fairgauge_cloud.smclarify.bias.report_values import performance

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
    results : the content of ``analysis.json``: the service's keys in the service's order alone.
    additions : the content of ``fairgauge.json``: who is compared, confidence intervals,
        performance and segments.
    report : fairgauge's own report; None when no facet can be read.
    notices : what a reader should know of how the configuration was read.
    doubts : those of them that are warnings.
    warnings : the warnings of the report, which ``fairgauge.json`` holds after the notices.
    """

    results: dict[str, object]
    additions: dict[str, object]
    report: Report | None
    notices: tuple[str, ...]
    doubts: frozenset[str]
    warnings: tuple[str, ...]

    def to_json(self) -> str:
        """Return the text of ``analysis.json``."""
        return as_json(self.results)

    def additions_to_json(self) -> str:
        """Return the text of ``fairgauge.json``, which names the analysis that it belongs to."""
        return as_json({"schema": SCHEMA, OF: digest(self.to_json()), **self.additions})


def analyse(
    config: AnalysisConfig,
    places: Places,
    dataset: str | None = None,
    profile: str = CLARIFY,
    first_row: FirstRow = FirstRow.AUTO,
    **options: Unpack[IntervalOptions],
) -> Analysis:
    """Run a configuration on local files."""
    made = load_dataset(config, places, dataset, first_row)
    job = Job(config, made, profile, **options)
    notices = tuple(dict.fromkeys([*config.notices, *made.notices, *job.doubts, *job.notes]))
    warnings: tuple[str, ...] = ()
    if job.report is not None:
        warnings = tuple(warnings_of(job.report))
    results: dict[str, object] = {"version": VERSION}
    results |= {_SECTIONS[stage]: job.stage(stage) for stage in config.stages}
    additions = _additions(job, (*notices, *warnings))
    return Analysis(results, additions, job.report, notices, frozenset(job.doubts), warnings)


def check_job(
    config: AnalysisConfig,
    places: Places,
    dataset: str | None = None,
    first_row: FirstRow = FirstRow.AUTO,
) -> list[str]:
    """Hold a configuration against its data, measure nothing, and return what is notable."""
    made = load_dataset(config, places, dataset, first_row)
    job = Job(config, made, CLARIFY)
    if job.mistakes:
        raise SpecError(job.mistakes)
    return [*config.notices, *made.notices, *job.doubts]


def _additions(job: Job, notices: tuple[str, ...]) -> dict[str, object]:
    found: dict[str, object] = {
        "tool": {"name": "fairgauge", "version": __version__},
        "profile": str(job.profile),
        "rows": job.made.rows,
        "notices": list(notices),
        "label": {"name": job.label.column.name, "type": job.label.of.name.lower()},
        "facets": list(_facets(job)),
        "intervals": list(_intervals(job)),
    }
    if job.prediction is not None:
        block = performance(job.label.column.name, job.label, job.prediction)
        found["model_performance"] = block
    if job.config.segment_config:
        found["segments"] = segments_of(job)
    return found


def _facets(job: Job) -> Iterator[dict[str, object]]:
    """Describe who is compared with whom: d is the group, a all others."""
    position = 0
    for side in job.sides:
        if side.blocks is None:
            yield {"name": side.name, "error": side.problem}
            continue
        assert job.measured is not None
        for i, name in enumerate(side.blocks.names):
            inside = job.measured.size(position, i)
            yield {
                "name": side.name,
                "type": side.blocks.of.name.lower(),
                "d": name,
                "a": side.blocks.others_of(i),
                "n_d": inside,
                "n_a": job.measured.known(position) - inside,
            }
        position += 1


def _intervals(job: Job) -> Iterator[dict[str, object]]:
    """Return the interval of every metric that has one."""
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


DEFAULT = "__default__"
_INTERVAL = re.compile(r"\s*([\[(])\s*([^,]+?)\s*,\s*([^,]+?)\s*([\])])\s*")


def segments_of(job: Job) -> list[dict[str, object]]:
    """Measure every segment, and the remaining rows, as all rows are measured."""
    found = []
    for i, asked in enumerate(job.config.segment_config or []):
        name = job.made.find(asked.name_or_index)
        assert name is not None
        masks = _masks(asked, job.made.column(name), f"segment_config[{i}]")
        for j, (mask, shown) in enumerate(zip(masks, _names(asked), strict=True)):
            entry: dict[str, object] = {
                "config_name": asked.config_name or name,
                "name": name,
                "segment": shown,
                "values": asked.segments[j] if j < len(asked.segments) else DEFAULT,
                "rows": int(mask.sum()),
            }
            found.append(entry | (_measured(job, mask) if mask.any() else {"error": "no rows"}))
    return found


def _measured(job: Job, mask: Mask) -> dict[str, object]:
    again = type(job)(job.config, job.made.take(mask), job.profile)
    return {f"{stage}_metrics": again.stage(stage) for stage in job.config.stages}


def _names(asked: Segments) -> list[str]:
    names = [", ".join(map(str, values)) for values in asked.segments] + [DEFAULT]
    for i, alias in enumerate(asked.display_aliases or []):
        names[i] = alias
    return names


def _masks(asked: Segments, column: CodedColumn, path: str) -> list[Mask]:
    """Return the rows of every segment, then those of none."""
    masks = []
    for i, values in enumerate(asked.segments):
        inside = np.zeros(len(column.levels) + 1, dtype=bool)
        for j, value in enumerate(values):
            inside[:-1] |= _levels(value, column, f"{path}.segments[{i}][{j}]")
        masks.append(inside[column.codes])
    rest = ~np.logical_or.reduce(masks)
    return [*masks, rest]


def _levels(value: str | int, column: CodedColumn, path: str) -> Mask:
    found = _INTERVAL.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return np.array([str(level) == str(value) for level in column.levels], dtype=bool)
    try:
        low, high = float(found[2]), float(found[3])
        levels = np.array([as_float(level) for level in column.levels])
    except ValueError:
        message = f"{quote(value)} is no interval of column {quote(column.name)}"
        raise SpecError(Problem(path, message)) from None
    above = levels >= low if found[1] == "[" else levels > low
    below = levels <= high if found[4] == "]" else levels < high
    return np.asarray(above & below)


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
        profile: str,
        **options: Unpack[IntervalOptions],
    ) -> None:
        self.config = config
        self.made = made
        self.profile = profile
        self.notes: list[str] = []
        self.doubts: list[str] = []
        self.mistakes: list[Problem] = []
        self._cube: Cube | None = None
        self._options: dict[str, Any] = {}
        self.label, listed = self._label()
        self.prediction = self._prediction(listed)
        if self.prediction is not None:
            _check_words(self.label, self.prediction)
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
            absent = f"no row has {shown}"
            if is_number:
                absent = f"no row lies above {shown}: all of {quote(name)} is at or below it"
            self._note_absent("label", "label_values_or_threshold", absent, doubt)
        elif made.positive.all():
            self.doubts.append(f"label: every row is positive, by {quote(made.text or values[0])}")
        return made, listed

    def _prediction(self, listed: list[object]) -> BinaryOutcome | None:
        """Collapse the predictions; where the service stops, go on with a notice."""
        name = self.made.predicted
        if name is None or "post_training_bias" not in self.config.stages:
            return None
        config = self.config
        if (
            config.predicted_label is not None
            and "probability_threshold" in config.model_fields_set
        ):
            self.doubts.append(
                f"{name}: probability_threshold has no effect on predicted_label, whose values are "
                "predictions; it applies to the scores of a model, which fairgauge does not call"
            )
        column = self.made.column(name)
        if config.label_type is not None:
            return predicted(column, self.label, listed, DOCUMENTED)
        try:
            return predicted(column, self.label, listed, self.profile)
        except ValueError as error:
            self.doubts.append(f"{name}: the service stops here ({error}); fairgauge goes on")
        try:
            return predicted(column, self.label, listed, DOCUMENTED)
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
            self.doubts.append(f"facet {name}: {error}")
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
        if not why or self.profile != CLARIFY:
            return None
        self.doubts.append(f"{why}; facet_type, label_type or --profile documented overrides this")
        return self.doubts[-1]

    def _note_absent(self, of: str, path: str, absent: str, doubt: str | None) -> None:
        """Note a value that no row has, which is a mistake of the configuration."""
        self.doubts.append(f"{of}: {absent}")
        self.mistakes.append(Problem(path, f"{absent} ({doubt})" if doubt else absent))

    def _document(self) -> dict[str, Any]:
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
        if strata is not None and self.profile == CLARIFY:
            missing = [float("nan")] if (strata.codes < 0).any() else []
            problem = unsortable([*strata.levels, *missing])
        features = [Features(partial(self.made.features, {block.name})) for block in blocks]
        cube = count_question(asked, self.profile)
        self._cube = cube
        asked_of_counts: dict[str, Any] = (
            {"metrics": metrics} if metrics else {}
        )  # none: the usual ones
        self._options = {**options, **asked_of_counts, **self._document()}
        return ServiceMetrics(asked, cube, features, problem)


def _check_words(label: BinaryOutcome, prediction: BinaryOutcome) -> None:
    """Refuse words beside labels of numbers, or the reverse, of which none is another's value."""
    columns = [prediction.column, label.column]
    texts = [column.kind is Kind.TEXT for column in columns]
    if texts[0] is texts[1] or prediction.positive.any() or label.of is DataType.CONTINUOUS:
        return
    held, known = (sorted(map(canonical, column.used), key=str) for column in columns)
    if held and known and not any(matches(a, b) for a in held for b in known):
        raise DataError(
            f"{columns[0].name}: holds {cells(held)}, which the label {quote(columns[1].name)} "
            f"does not (it holds {cells(known)}); write both alike in the table"
        )


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
        yield f"no row has {listing(absent)}; it has {cells(column.used)}"


def _type(word: str | None) -> DataType | None:
    return None if word is None else DataType[word.upper()]
