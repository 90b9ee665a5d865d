"""Reports of fairgauge itself: which of their tables are published."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fairgauge.errors import DataError

_MARKDOWN = re.compile(
    r"^### Tables to (?:publish|file)\s*$(.*?)(?=^#|\Z)", re.DOTALL | re.MULTILINE
)
_HTML = re.compile(
    r"<h\d[^<>]*>\s*Tables to (?:publish|file)\s*</h\d>(.*?)(?=<h[123]\b|\Z)", re.DOTALL
)
_OWN = re.compile(
    r"\A.{0,80}Fairness audit: |\bmade with( \| |</dt><dd>)fairgauge \d|"
    r"^ *A disparity is a measured fact; whether|^<sub>fairgauge \d[\w.]*, \d{4}-\d\d-\d\d</sub>|"
    r"<meta name=\"generator\" content=\"fairgauge \d|"
    r"\A(metric,set,feature,group,reference,|feature,group,reference_kind,scope,)",
    re.MULTILINE,
)
"""What every report begins with, or holds."""
_EXCLUDED = re.compile(r'"exclude_groups": \[\s*[^\]\s]|Excluded groups \(')
"""Of the specification that every report ends with, and of the sentences below the tables."""
_PROTECTED = re.compile(r"\bprotected counts, which are rounded|Counts are protected: rounded")
_NO_TABLES = (
    "this is a report of fairgauge without its tables to publish, and a check reads published "
    "tables; audit with a preset (--preset nyc-ll144), save the whole report as .md, .html or "
    ".xlsx, and check that; a report is held against its counts by fairgauge seal and verify"
)
_ROUNDED = (
    "this report of fairgauge is of protected counts, which are rounded at random: no rate, "
    "interval or verdict can be computed from them as from exact ones; those of the report itself "
    "allow for the rounding"
)


def sheets_to_publish(sheets: Sequence[Any]) -> Sequence[Any]:
    """Return the sheet of a workbook of fairgauge that is to be published; none of any other."""
    if sheets[-1].title != "Specification" or sheets[0].title not in ("To publish", "Summary"):
        return ()
    if sheets[0].title == "Summary":
        raise DataError(_NO_TABLES)
    return sheets[:1]


def tables_to_publish(text: str) -> str | None:
    r"""Return the part of a report, in Markdown or HTML, that is to be published; else None.

    >>> tables_to_publish("# Audit\n| a |\n\n### Tables to publish\n\n| b |\n\n## Data").strip()
    '| b |'
    """
    found = _MARKDOWN.search(text) or _HTML.search(text)
    if found is None and _OWN.search(text):
        raise DataError(_NO_TABLES)
    return None if found is None else found[1]


def facts_of_report(text: str) -> dict[str, Any]:
    """Return whether a report excludes groups, whose people are in no intersection; its preset.

    >>> facts_of_report('"metrics": [], "preset": "ugesp"')
    {'own': True, 'excludes': False, 'preset': 'ugesp'}

    Raises
    ------
    DataError
        The counts are protected, so that nothing can be computed from them as if they were exact.
    """
    if _PROTECTED.search(text):
        raise DataError(_ROUNDED)
    preset = re.findall(r'"preset": "([^"]+)"', text)
    excludes = bool(_EXCLUDED.search(text))
    return {"own": True, "excludes": excludes, "preset": preset[-1] if preset else None}
