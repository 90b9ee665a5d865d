"""Checks of tables whose columns are stated: the headers that the tables of tests have."""

import fairgauge as fg

HEADERS_OF = {
    "n": ["n", "# of applicants", "applicants", "applied", "candidates", "number of candidates",
          "total candidates", "people", "tested", "total", "scored", "applications", "all",
          "unweighted rows", "unweighted applicants", "number of applicants", "# scored"],
    "selected": ["selected", "# selected", "hired", "hires", "approved", "advanced", "passed",
                 "number above median score", "above median", "number selected", "accepted"],
    "rate": ["rate", "hire rate", "pass rate", "selection rate", "selection_rate",
             "scoring rate", "advancement rate (%)", "approval rate", "% selected"],
    "ratio": ["ratio", "impact ratio", "impact_ratio", "adverse impact ratio", "AIR",
              "ratio to overall", "ratio to white", "ratio to men", "ratio to asian",
              "ratio to the highest rate"],
}  # fmt: skip
"""What the columns of the tables hold; of the headers of a role a table has one at most."""


def check(source, *, columns=None, **options):
    """Check tables whose columns are stated."""
    return fg.check(source, columns=HEADERS_OF if columns is None else columns, **options)
