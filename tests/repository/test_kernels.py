"""The closed forms that pages compute with are those of the source."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from make_kernels import kernels  # noqa: E402 - a script beside the pages

TARGET = ROOT / "src" / "fairgauge" / "render" / "templates" / "kernels.js"


def test_the_kernels_are_translated_from_the_source() -> None:
    written = TARGET.read_text("utf-8")
    assert written == kernels(), f"written anew by: python docs/make_kernels.py {TARGET}"
