"""The tables to publish in a report of fairgauge itself, which has other tables beside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fairgauge.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKDOWN = re.compile(r"^\*\*Tables to publish\*\*\s*$(.*?)(?=^#|\Z)", re.DOTALL | re.MULTILINE)
_HTML = re.compile(r"<h\d[^>]*>\s*Tables to publish\s*</h\d>(.*?)(?=<h[123]\b|\Z)", re.DOTALL)
_ALL_GROUPS = re.compile(r"feature,group,reference_kind,scope,\S*\bshare,\S*\bvalue,")
"""The header of the CSV of all groups, whose share is one of people, and no selection rate."""


def sheets_to_publish(sheets: Sequence[Any]) -> Sequence[Any]:
    """Return the sheet of a workbook of fairgauge that is to be published; all of any other."""
    own = [sheet for sheet in sheets if sheet.title == "To publish"]
    return own if own and sheets[-1].title == "Specification" else sheets


def tables_to_publish(text: str) -> str:
    r"""Return the part of a report, in Markdown or HTML, that is to be published.

    Any other text is returned whole.

    >>> tables_to_publish("# Audit\n| a |\n\n**Tables to publish**\n\n| b |\n\n## Data").strip()
    '| b |'

    Raises
    ------
    DataError
        The text is the CSV of all groups of a report: numbers of several features and rates.
    """
    if _ALL_GROUPS.match(text):
        raise DataError(
            "these are the groups of a report of fairgauge, of all features and rates; check its "
            "tables to publish: save the report as .md or .html"
        )
    found = _MARKDOWN.search(text) or _HTML.search(text)
    return text if found is None else found[1]
