"""Reading back what was saved: the schema that a file states chooses the reader."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.errors import CubeError, FairgaugeError, quote
from fairgauge.results.saved_files import read_saved

if TYPE_CHECKING:
    from pathlib import Path

    from fairgauge.cube.cube import Cube
    from fairgauge.published.check_results import Check
    from fairgauge.results.comparison import Comparison
    from fairgauge.results.model_comparison import ModelComparison
    from fairgauge.results.monitor_results import MonitorReport
    from fairgauge.results.report import Report
    from fairgauge.results.threshold_choice import ThresholdChoice
    from fairgauge.values import Saved

Loaded: TypeAlias = (
    "Cube | Report | Comparison | ModelComparison | ThresholdChoice | Check | MonitorReport"
)
"""What is saved as JSON and can be read back."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The class of a saved result, whose ``from_dict`` reads the values of its file.

    Attributes
    ----------
    module, name : where it is defined, and its name; it is imported when it is needed.
    """

    module: str
    name: str

    def __call__(self, values: Saved) -> Loaded:
        """Read the plain values of a file."""
        result_class = getattr(import_module(f"fairgauge.{self.module}"), self.name)
        result: Loaded = result_class.from_dict(values)
        return result


READERS: dict[str, Reader] = {
    "fairgauge.cube/1": Reader("cube.cube", "Cube"),
    "fairgauge.report/3": Reader("results.report", "Report"),
    "fairgauge.report/2": Reader("results.report", "Report"),
    "fairgauge.report/1": Reader("results.report", "Report"),
    "fairgauge.comparison/2": Reader("results.comparison", "Comparison"),
    "fairgauge.comparison/1": Reader("results.comparison", "Comparison"),
    "fairgauge.models/1": Reader("results.model_comparison", "ModelComparison"),
    "fairgauge.thresholds/1": Reader("results.threshold_choice", "ThresholdChoice"),
    "fairgauge.check/1": Reader("published.check_results", "Check"),
    "fairgauge.monitor_report/1": Reader("results.monitor_results", "MonitorReport"),
}
"""What reads the files of each schema; of version 1 of comparisons, what explains the change."""
NOT_READ = {
    "fairgauge.clarify/1": "fairgauge clarify-monitor reads it beside the analysis.json of the job",
    "fairgauge.clarify_drift/1": "run fairgauge clarify-monitor again to see the drift",
}
"""What is saved with a schema and is no result by itself, and what to do with it."""


def load(path: str | Path) -> Loaded:
    """Load what was saved as JSON: counts, a report, a comparison, a check, a monitor's report.

    What is loaded equals what was saved, and shows itself likewise: ``print(fg.load(path))``.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Cube, Report, Comparison, ModelComparison, ThresholdChoice, Check or MonitorReport
        Whichever the file states by its ``schema``.

    Raises
    ------
    DataError
        There is no such file, or it cannot be read.
    CubeError
        The file is of another program, of a schema that is not read back, is truncated, or holds
        counts that were changed.
    FairgaugeError
        The file does not hold what its schema states, or is of a version that is not read.

    Examples
    --------
    >>> import fairgauge as fg, tempfile
    >>> cube = fg.confusion("sex", {"F": {"tp": 2, "fn": 1}, "M": {"tp": 3, "fn": 1}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cube.save(f"{folder}/day.cube.json")
    ...     fg.load(f"{folder}/day.cube.json") == cube
    True
    """
    values = read_saved(path)
    schema = str(values["schema"])
    if schema not in READERS:
        raise CubeError(f"{quote(path)} has format {quote(schema)}, {_why_not_read(schema)}")
    try:
        return READERS[schema](values)
    except FairgaugeError as error:
        raise type(error)(f"{quote(path)}: {error}") from None


def _why_not_read(schema: str) -> str:
    family = schema.partition("/")[0]
    versions = [known for known in READERS if known.partition("/")[0] == family]
    if versions:
        return f"another version of fairgauge's; this version reads {' and '.join(versions)}"
    if schema in NOT_READ:
        return f"which is not read back; {NOT_READ[schema]}"
    return f"which fairgauge does not read; it reads {', '.join(READERS)}"
