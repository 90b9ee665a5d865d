"""The tables to publish in a report of fairgauge itself, which has other tables beside them."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"^\*\*Tables to publish\*\*\s*$(.*?)(?=^#|\Z)", re.DOTALL | re.MULTILINE)
_HTML = re.compile(r"<h\d[^>]*>\s*Tables to publish\s*</h\d>(.*?)(?=<h[123]\b|\Z)", re.DOTALL)


def tables_to_publish(text: str) -> str:
    r"""Return the part of a report, in Markdown or HTML, that is to be published.

    Any other text is returned whole.

    >>> tables_to_publish("# Audit\n| a |\n\n**Tables to publish**\n\n| b |\n\n## Data").strip()
    '| b |'
    """
    found = _MARKDOWN.search(text) or _HTML.search(text)
    return text if found is None else found[1]
