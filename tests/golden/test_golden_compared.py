"""Approved comparisons of two reports, one for each format; written anew as the reports are."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import pytest

import compared_reports
import fairgauge as fg
from fairgauge.render import render

HERE = Path(__file__).parent
CASES = {
    "compared.months.txt": ("months", "text"),
    "compared.months.md": ("months", "markdown"),
    "compared.months.csv": ("months", "csv"),
    "compared.months.html": ("months", "html"),
    "compared.models.txt": ("models", "text"),
    "compared.models.json": ("models", "json"),
    "compared.hostile.txt": ("hostile", "text"),
    "compared.hostile.md": ("hostile", "markdown"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_comparison_is_shown_as_approved(name):
    sample, format_ = CASES[name]
    text = render(_still(fg.compare(*getattr(compared_reports, sample)())), format_)
    text = re.sub(r"(?s)<(style|script)>.*?</\1>", r"<\1>...</\1>", text)
    text = re.sub(r"sha256-[A-Za-z0-9+/=]+", "sha256-...", text)
    approved = HERE / name
    if os.environ.get("FAIRGAUGE_UPDATE_GOLDEN"):
        approved.write_text(text, encoding="utf-8", newline="\n")
    assert approved.exists(), f"write it with FAIRGAUGE_UPDATE_GOLDEN=1: {approved.name}"
    assert text == approved.read_bytes().decode()


def _still(comparison):
    """Return a comparison without what differs between runs and versions."""
    same = {"created": "2026-01-01T00:00:00+00:00", "version": "0.0.0"}
    same["fingerprint"] = "sha256:" + "0" * 64
    old, new = (dataclasses.replace(o, **same) for o in (comparison.old, comparison.new))
    return dataclasses.replace(comparison, version="0.0.0", old=old, new=new)
