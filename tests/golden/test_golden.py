"""Approved files that a person can open, one for each format.

After an intended change, write them anew and read the difference before committing it::

    FAIRGAUGE_UPDATE_GOLDEN=1 python -m pytest tests/golden
"""

import dataclasses
import os
import re
from pathlib import Path

import pytest

import sample_reports
from fairgauge.render import render

HERE = Path(__file__).parent
CASES = {
    "small.json": ("small", "json", {}), "several.md": ("several", "markdown", {}),
    "several.xml": ("several", "junit", {}), "berkeley.txt": ("berkeley", "text", {}),
    "berkeley.html": ("berkeley", "html", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_report_is_shown_as_approved(name):
    sample, format_, options = CASES[name]
    report = getattr(sample_reports, sample)()
    text = render(_still(report), format_, **options)
    if name.endswith(".html"):
        text = _timeless(text)
    approved = HERE / name
    before = approved.read_bytes().decode() if approved.exists() else ""
    if os.environ.get("FAIRGAUGE_UPDATE_GOLDEN") and _rounded(text) != _rounded(before):
        approved.write_text(text, encoding="utf-8", newline="\n")
        before = text
    assert before, f"write it with FAIRGAUGE_UPDATE_GOLDEN=1: {approved.name}"
    assert _rounded(text) == _rounded(before)


def _rounded(text):
    """Return a text without the last digits of its numbers, in which processors differ."""
    return re.sub(r"\d+\.\d{12,}(e-?\d+)?", lambda number: f"{float(number[0]):.12g}", text)


def _still(report):
    """Return a report without what differs between runs and versions."""
    data = dataclasses.replace(report.data, fingerprint="sha256:" + "0" * 64)
    return dataclasses.replace(
        report, created="2026-01-01T00:00:00+00:00", version="0.0.0", data=data
    )


def _timeless(text):
    """Return a text whose style and script may change without a new approval."""
    text = re.sub(r"sha256-[A-Za-z0-9+/=]+", "sha256-...", text)
    return re.sub(r"(?s)<(style|script)>.*?</\1>", r"<\1>...</\1>", text)
