"""Write the glossary of reports, from the table of terms that the language test holds to."""

from __future__ import annotations

import tomllib
from pathlib import Path

TERMS = Path(__file__).with_name("terms.toml")
_HEAD = """# Glossary

The words of reports, errors and this documentation, each with one meaning. `fairgauge metrics NAME`
explains a metric or rate.

| term | meaning |
|---|---|
"""


def page() -> str:
    """Return the page."""
    table = tomllib.loads(TERMS.read_text(encoding="utf-8"))["term"]
    defined = sorted((each for each in table if each["meaning"]), key=lambda each: each["term"])
    return _HEAD + "".join(f"| {each['term']} | {each['meaning']} |\n" for each in defined)
