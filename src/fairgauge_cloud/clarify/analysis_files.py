"""``analysis.json``, the service's and ours, written, and read as single values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fairgauge.errors import DataError, quote
from fairgauge.plugins import render, write_all
from fairgauge_cloud._files import json_document
from fairgauge_cloud._service_texts import read

if TYPE_CHECKING:
    from fairgauge_cloud.clarify.analysis import Analysis

Saved = dict[str, Any]

ANALYSIS, ADDITIONS = "analysis.json", "fairgauge.json"
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


def as_json(value: object) -> str:
    """Return a value as the service writes its files."""
    return json.dumps(value, indent=4, ensure_ascii=False, allow_nan=False) + "\n"


def read_results(path: Path) -> Saved:
    """Read an ``analysis.json``."""
    found = json_document(path)
    if not isinstance(found, dict) or not any(stage in found for stage in STAGES):
        wanted = " or ".join(STAGES)
        raise DataError(f"{quote(path)} is no analysis.json: it has no {wanted}")
    return found


def values_of(found: Saved, name: str) -> Values:
    """Return every value of a results file."""
    try:
        return {
            MetricKey(stage, facet, str(block["value_or_threshold"]), metric["name"]): MetricValue(
                read(metric["value"]), metric.get("error")
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
    return [folder / ANALYSIS, folder / ADDITIONS, folder / f"{name}.html"]


def write_results(found: Analysis, folder: Path, name: str) -> None:
    """Write results, and the report under a name, into a folder: all or none."""
    analysis, additions, page = result_paths(folder, name)
    contents: dict[str | Path, str | bytes] = {
        analysis: as_json(found.results),
        additions: as_json(found.additions),
    }
    if found.report is not None:
        contents[page] = render(found.report, "html")
    write_all(contents)
