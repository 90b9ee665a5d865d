"""Checks of tables whose columns are stated: the headers that the tables of tests have."""

from __future__ import annotations

import re

import fairgauge as fg

HEADERS_OF = {
    "n": ["n", "# of applicants", "applicants", "applied", "candidates", "number of candidates",
          "total candidates", "people", "tested", "total", "scored", "applications", "all",
          "unweighted rows", "unweighted applicants", "number of applicants", "# scored"],
    "selected": ["selected", "# selected", "hired", "hires", "approved", "advanced", "passed",
                 "number above median score", "above median", "number selected", "accepted"],
    "not_selected": ["not selected", "denied", "denials", "rejected", "refused", "not hired"],
    "rate": ["rate", "hire rate", "pass rate", "selection rate", "selection_rate",
             "scoring rate", "advancement rate (%)", "approval rate", "% selected"],
    "denial_rate": ["denial rate", "denial_rate", "rejection rate"],
    "ratio": ["ratio", "impact ratio", "impact_ratio", "adverse impact ratio", "AIR",
              "ratio to overall", "ratio to white", "ratio to men", "ratio to asian",
              "ratio to the highest rate"],
    "denial_ratio": ["denial ratio", "denial_ratio", "denial disparity ratio"],
}  # fmt: skip
"""What the columns of the tables hold; of the headers of a role a table has one at most."""


def as_csv(text: str) -> str:
    """Return a table with wide spaces between its columns as CSV; any other text as it is."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    if any(mark in first for mark in ",;\t|<") or not re.search(r"\S\s{2,}\S", text):
        return text
    rows = (re.split(r"\s{2,}", line.strip()) for line in text.splitlines())
    return "\n".join(",".join(f'"{c}"' if "," in c else c for c in row) for row in rows) + "\n"


def check(source, *, columns=None, **options):
    """Check tables whose columns are stated."""
    if isinstance(source, str) and "\n" in source.strip():
        source = as_csv(source)
    return fg.check(source, columns=HEADERS_OF if columns is None else columns, **options)
