"""The files of a job: the service's, ours beside it, and the report in the formats asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairgauge.atomic_files import write_all
from fairgauge.compat.clarify.analysis_files import ADDITIONS, ANALYSIS
from fairgauge.errors import DataError
from fairgauge.render import render
from fairgauge.render.writers.pdf import print_page

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from fairgauge.compat.clarify.analysis import Analysis
    from fairgauge.results.report import Report

REPORT = ("html",)
JOB_REPORT = ("html", "ipynb", "pdf")
"""The formats of the report that a processing job writes."""


def result_paths(folder: Path, name: str) -> list[Path]:
    """Return the files that `write_results` writes by default."""
    reports = [folder / f"{name}.{suffix}" for suffix in REPORT]
    return [folder / ANALYSIS, folder / ADDITIONS, *reports]


def write_results(
    found: Analysis, folder: Path, name: str, formats: Sequence[str] = REPORT
) -> list[str]:
    """Write results and report into a folder, all or none; return why the PDF file is missing.

    Parameters
    ----------
    found : Analysis
    folder : Path
    name : str
        The name of the report, without a suffix.
    formats : sequence of str
        Of the report: ``html``, ``ipynb``, ``pdf``. A PDF file needs a browser: without one, or
        where it fails, the other files are written, and a notice is returned.

    Raises
    ------
    DataError
        A file cannot be written.
    """
    contents: dict[str | Path, str | bytes] = {
        folder / ANALYSIS: found.to_json(),
        folder / ADDITIONS: found.additions_to_json(),
    }
    notices = []
    for suffix in formats if found.report is not None else ():
        assert found.report is not None
        try:
            contents[folder / f"{name}.{suffix}"] = _WRITERS[suffix](found.report)
        except DataError as error:
            notices.append(f"{name}.{suffix} is not written: {error}")
    write_all(contents)
    return notices


def _page(report: Report) -> str:
    return render(report, "html")


def _printed(report: Report) -> bytes:
    return print_page(_page(report))


def _notebook(report: Report) -> str:
    """Return a Jupyter notebook (nbformat 4.5) that holds the report as text."""
    cell = {
        "cell_type": "markdown",
        "id": "report",
        "metadata": {},
        "source": render(report, "markdown", full=True).splitlines(keepends=True),
    }
    made = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


_WRITERS: dict[str, Callable[[Report], str | bytes]] = {
    "html": _page,
    "ipynb": _notebook,
    "pdf": _printed,
}
