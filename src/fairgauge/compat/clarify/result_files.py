"""The files of a job: the service's, ours beside it, and the report in the formats asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairgauge.atomic_files import write_whole
from fairgauge.compat.clarify.analysis_files import ADDITIONS, ANALYSIS
from fairgauge.render import names, render

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fairgauge.compat.clarify.analysis import Analysis
    from fairgauge.report.report import Report

REPORT = ("html",)
JOB_REPORT = ("html", "ipynb", "pdf")
"""The formats of the report that a processing job writes."""


def result_paths(folder: Path, name: str, formats: Sequence[str] = REPORT) -> list[Path]:
    """Return the files that `write_results` writes."""
    reports = [folder / f"{name}.{suffix}" for suffix in formats]
    return [folder / ANALYSIS, folder / ADDITIONS, *reports]


def write_results(
    found: Analysis, folder: Path, name: str, formats: Sequence[str] = REPORT, title: str = ""
) -> list[str]:
    """Write results and report into a folder; return notices of what could not be written.

    Parameters
    ----------
    found : Analysis
    folder : Path
    name : str
        The name of the report, without a suffix.
    formats : sequence of str
        Of the report: ``html``, ``ipynb``, ``pdf``.
    title : str
        The title of the notebook.
    """
    write_whole(folder / ANALYSIS, found.to_json())
    write_whole(folder / ADDITIONS, found.additions_to_json())
    notices = []
    for suffix in formats if found.report is not None else ():
        assert found.report is not None
        if suffix == "ipynb":
            text = notebook(found.report, title)
        elif suffix in names("report"):
            text = render(found.report, suffix)
        else:
            notices.append(f"{name}.{suffix}: not written, {suffix} is not among the formats here")
            continue
        write_whole(folder / f"{name}.{suffix}", text)
    return notices


def notebook(report: Report, title: str = "") -> str:
    """Return a Jupyter notebook (nbformat 4.5) that holds the report as text."""
    texts = [f"# {title}"] if title else []
    texts.append(render(report, "markdown"))
    cells = [
        {
            "cell_type": "markdown",
            "id": f"part-{i}",
            "metadata": {},
            "source": text.splitlines(keepends=True),
        }
        for i, text in enumerate(texts)
    ]
    return (
        json.dumps(
            {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5},
            indent=1,
            ensure_ascii=False,
        )
        + "\n"
    )
