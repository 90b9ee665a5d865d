#!/usr/bin/env bash
# tableone 0.9.6: people who did not answer are an answer in the test of a table 1.
#
# Expected: of 120 women and 200 men who answered, half of both smoke: p = 1.
# Happens:  the 80 women without an answer are a third category: 30 and 50 % smoke, p < .001.
# Seen on 30 November 2026: "0.9.6: F 60 (30.0), M 100 (50.0), p <0.001".
# fairgauge counts rates among those with an outcome, and states those without (tests/unit/scan/test_behaviours_of_tools.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check tableone==0.9.6 pandas==3.1.1 setuptools
cat > table.py <<'PY'
from importlib.metadata import version

import pandas as pd
from tableone import TableOne

smokes = ["yes"] * 60 + ["no"] * 60 + [None] * 80 + ["yes"] * 100 + ["no"] * 100
people = pd.DataFrame({"sex": ["F"] * 200 + ["M"] * 200, "smokes": smokes})
found = TableOne(people, columns=["smokes"], categorical=["smokes"], groupby="sex", pval=True)
table = found.tableone["Grouped by sex"].xs("yes", level=1)
p = "".join(found.tableone["Grouped by sex"]["P-Value"])
print(f"{version('tableone')}: F {table['F'].iloc[0]}, M {table['M'].iloc[0]}, p {p}")
PY
seen=$(venv/bin/python -W ignore table.py); echo "$seen"
[ "$seen" = "0.9.6: F 60 (30.0), M 100 (50.0), p <0.001" ]
