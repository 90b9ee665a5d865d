"""The contract of a processing job: where its input and output are, and how it ends.

The service mounts the configuration and the data below ``/opt/ml``, passes settings as environment
variables, and reads results, an exit code and a message of at most 1 KB. A job with a baseline is
one of a monitor.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from fairgauge.atomic_files import write_whole
from fairgauge.compat.clarify.analysis import Analysis, analyse
from fairgauge.compat.clarify.analysis_files import (
    ANALYSIS,
    JOB_REPORT,
    read_results,
    values_of,
    write_results,
)
from fairgauge.compat.clarify.bias_drift import Drift, compare
from fairgauge.compat.clarify.clarify_config import (
    ATTRIBUTES,
    AnalysisConfig,
    as_analysis_config,
    is_monitor_config,
    load_config,
    read_config,
)
from fairgauge.compat.clarify.dataset import FirstRow
from fairgauge.compat.local_models import open_model
from fairgauge.compat.uri_paths import Places, made_folder
from fairgauge.enums import Profile
from fairgauge.errors import DataError, Problem, SpecError, listing, quote

Choice = TypeVar("Choice", bound=StrEnum)

MOUNTED = Path("/opt/ml")
VIOLATIONS, DRIFT = "constraint_violations.json", "fairgauge_drift.json"
_CONFIG = "processing/input/config/analysis_config.json"
_DATA, _OUTPUT = "processing/input/data", "processing/output"
_MODELS = "processing/input/model"
_MESSAGE, _JOB = "output/message", "config/processingjobconfig.json"
_LONGEST_MESSAGE = 1024


@dataclass(frozen=True, slots=True)
class JobFolders:
    """Where a job's input and output are.

    Attributes
    ----------
    root : what stands for ``/opt/ml``.
    environment : the environment variables of the job. Of the service: ``dataset_source``,
        ``output_path`` and ``baseline_constraints`` of a monitor, and the attributes of its input
        (``InferenceAttribute`` ...). Of fairgauge:
        ``FAIRGAUGE_MODEL``, ``FAIRGAUGE_PROFILE`` and ``FAIRGAUGE_FIRST_ROW``.
    """

    root: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        """Return the configuration."""
        return self.root / _CONFIG

    @property
    def data(self) -> Path:
        """Return the folder of the data."""
        return self._named("dataset_source", _DATA)

    @property
    def output(self) -> Path:
        """Return the folder of the results."""
        return self._named("output_path", _OUTPUT)

    @property
    def models(self) -> Path:
        """Return the folder of Python modules that ``FAIRGAUGE_MODEL`` may name."""
        return self.root / _MODELS

    @property
    def baseline(self) -> Path | None:
        """Return the baseline of a monitor: the ``analysis.json`` that it is held to."""
        named = self.environment.get("baseline_constraints")
        if not named:
            return None
        path = self._below_root(named)
        return path / ANALYSIS if path.is_dir() else path

    @property
    def message(self) -> Path:
        """Return where the service reads how the job ended."""
        return self.root / _MESSAGE

    def setting(self, variable: str, usual: Choice) -> Choice:
        """Return a choice that an environment variable makes."""
        named = self.environment.get(variable, str(usual))
        choices = type(usual)
        try:
            return choices(named)
        except ValueError:
            allowed = listing(str(choice) for choice in choices)
            raise SpecError(
                Problem(variable, f"must be one of {allowed}, not {quote(named)}")
            ) from None

    def places(self) -> Places:
        """Return where the service put the URIs of its inputs."""
        described = self.root / _JOB
        found: dict[str, Path] = {}
        if described.exists():
            try:
                inputs = json.loads(described.read_text(encoding="utf-8"))["ProcessingInputs"]
                for each in inputs:
                    source = each.get("S3Input") or {}
                    if "S3Uri" in source and "LocalPath" in source:
                        found[source["S3Uri"]] = self._below_root(source["LocalPath"])
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DataError(f"cannot read {quote(described)}: {error!r}") from None
        return Places(found, self.config.parent)

    def _named(self, variable: str, usual: str) -> Path:
        named = self.environment.get(variable)
        return self._below_root(named) if named else self.root / usual

    def _below_root(self, path: str) -> Path:
        """Return a path of the service's, moved to where ``/opt/ml`` is."""
        try:
            return self.root / Path(path).relative_to(MOUNTED)
        except ValueError:
            return Path(path)


def run_job(folders: JobFolders) -> tuple[Analysis, Drift | None]:
    """Run a job; write its results and its message, and return what was found.

    Raises
    ------
    FairgaugeError
        The configuration, the data or the model cannot be used; `failure_message` makes the text
        for the service.
    """
    model = folders.environment.get("FAIRGAUGE_MODEL")
    config = _config(folders, has_model=model is not None)
    profile = folders.setting("FAIRGAUGE_PROFILE", Profile.CLARIFY)
    first_row = folders.setting("FAIRGAUGE_FIRST_ROW", FirstRow.AUTO)
    sys.path.insert(0, str(folders.models))
    opened = None if model is None else open_model(model)
    data = str(folders.data) if folders.data.exists() else None
    found = analyse(config, folders.places(), data, opened, profile, first_row)
    output = made_folder(str(folders.output))
    asked = config.methods.report
    more = write_results(found, output, asked.name if asked else "report", JOB_REPORT)
    found = replace(found, notices=(*found.notices, *more))
    drift = None
    if folders.baseline is not None:
        baseline = read_results(folders.baseline)
        now = values_of(found.results, ANALYSIS, found.additions)
        drift = compare(now, values_of(baseline, str(folders.baseline)))
        write_whole(output / VIOLATIONS, drift.to_json())
        write_whole(output / DRIFT, drift.additions_to_json())
        write_message(folders, drift.summary)
    return found, drift


def _config(folders: JobFolders, *, has_model: bool) -> AnalysisConfig:
    """Read the configuration, of an analysis or of a monitor."""
    given = {"has_model": has_model, "has_dataset": folders.data.exists()}
    try:
        found: object = json.loads(folders.config.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        found = None  # load_config reports what is wrong
    if not isinstance(found, dict) or not is_monitor_config(found):
        return load_config(folders.config, **given)
    named = {key: folders.environment[key] for key in ATTRIBUTES if key in folders.environment}
    return read_config(json.dumps(as_analysis_config(found | named)), **given)


def write_message(folders: JobFolders, text: str) -> None:
    """Write how the job ended where the service reads it, within the length that it takes.

    Raises
    ------
    DataError
        The file cannot be written.
    """
    made_folder(str(folders.message.parent))
    cut = text.encode("utf-8")[:_LONGEST_MESSAGE].decode("utf-8", "ignore")
    write_whole(folders.message, cut)
