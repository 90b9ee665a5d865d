#!/usr/bin/env bash
# microdf 1.5.12: groupby().agg({column: 'mean'}) leaves the weights out that .mean() and agg() take.
#
# Expected: the weighted mean of 0 (weight 9) and 1 (weight 1) is .1, also in a group.
# Happens:  groups are aggregated by pandas: .5.
# Seen on 30 November 2026: "1.5.12: column 0.1, agg 0.1, groups 0.5".
# fairgauge weighs every rate of every group (tests/unit/stats/test_weighted.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check microdf-python==1.5.12 pandas==3.1.1
cat > means.py <<'PY'
from importlib.metadata import version

from microdf import MicroDataFrame

people = MicroDataFrame({"sex": ["F", "F"], "poor": [0.0, 1.0]}, weights=[9.0, 1.0])
whole, groups = people.agg({"poor": "mean"})["poor"], people.groupby("sex").agg({"poor": "mean"})["poor"]
print(f"{version('microdf-python')}: column {people.poor.mean()}, agg {whole}, groups {groups['F']}")
PY
seen=$(venv/bin/python -W ignore means.py); echo "$seen"
[ "$seen" = "1.5.12: column 0.1, agg 0.1, groups 0.5" ]
