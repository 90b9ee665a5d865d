#!/usr/bin/env bash
# CMH 1.0.1: the generalized Cochran-Mantel-Haenszel test is wrong where both variables have three or more categories, and depends on their names.
#
# Expected: of one stratum M2 is (n - 1)/n times Pearson's chi-square, here 54.87, in whatever order the categories are.
# Happens:  57.05, and 48.19 once the groups are renamed: counts are listed by rows, and their covariance (a Kronecker product) by columns.
#           With the product by rows it is 54.87. Of two groups and three answers it is right.
# Seen on 30 November 2026: "1.0.1: three groups 57.05, renamed 48.19, expected 54.87; two groups 29.37, renamed 29.37, expected 29.37"
# fairgauge's numbers do not depend on what groups are called (tests/properties/test_renaming.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check CMH==1.0.1
cat > strata.py <<'PY'
from importlib.metadata import version

import numpy as np
import pandas as pd
from cmh import CMH
from scipy.stats import chi2_contingency

TABLE = np.array([[30, 10, 5], [10, 20, 30], [5, 15, 40]])


def tested(table, names):
    cells = [(name, answer) for name in names for answer in ("no", "perhaps", "yes")]
    rows = pd.DataFrame(np.repeat(cells, table.ravel(), axis=0), columns=["group", "answer"])
    return CMH(rows.assign(stratum="all"), "group", "answer", "stratum", raw=True)[0]


def described(table, names, renamed):
    n = table.sum()
    expected = (n - 1) / n * chi2_contingency(table, correction=False).statistic
    return f"{tested(table, names):.2f}, renamed {tested(table, renamed):.2f}, expected {expected:.2f}"


print(f"{version('CMH')}: three groups {described(TABLE, 'ABC', 'CAB')}; two groups {described(TABLE[:2], 'AB', 'BA')}")
PY
seen=$(venv/bin/python strata.py); echo "$seen"
[ "$seen" = "1.0.1: three groups 57.05, renamed 48.19, expected 54.87; two groups 29.37, renamed 29.37, expected 29.37" ]
