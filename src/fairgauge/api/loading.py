"""Reading back what was saved: the schema that a file states chooses the reader."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from fairgauge.cube.cube import SCHEMA, Cube
from fairgauge.errors import CubeError, FairgaugeError, quote
from fairgauge.results.shown_result import ShownResult, read_saved, result_classes

Loaded: TypeAlias = "Cube | ShownResult"
"""What is saved as JSON and can be read back."""


def load(path: str | Path) -> Loaded:
    """Load what was saved as JSON: counts, a report, a comparison, a check, a monitor's report.

    What is loaded equals what was saved, and shows itself likewise: ``print(fg.load(path))``.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    Cube, Report, Change, ThresholdChoice, Check, MonitorReport,
    HistoryHealth, Decomposition, PairsAudit or Planned
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
    readers: dict[str, type[Cube | ShownResult]] = {SCHEMA: Cube, **result_classes()}
    if schema not in readers:
        same = [known for known in readers if known.partition("/")[0] == schema.partition("/")[0]]
        why = f"which fairgauge does not read; it reads {', '.join(readers)}"
        if same:
            why = f"another version of fairgauge's; this version reads {' and '.join(same)}"
        raise CubeError(f"{quote(path)} has format {quote(schema)}, {why}")
    try:
        return readers[schema].from_dict(values)
    except FairgaugeError as error:
        raise type(error)(f"{quote(path)}: {error}") from None
