#!/usr/bin/env bash
# jurity 2.1.0: where the other group has no positive prediction, "disparate impact" is a number of people, and of one person it is the ideal value.
#
# Expected: 1 of 50 against 0 of 50 and 12 of 40 against 0 of 80 are ratios without an upper end: infinite, or undefined.
# Happens:  the number of positive predictions of the first group is returned for the ratio: 1, stated next to "Ideal Value 1" (with a warning that the other group has none), and 12.
# Seen on 30 November 2026: "2.1.0: 1 of 50 against 0 of 50: 1.0, ideal 1; 12 of 40 against 0 of 80: 12.0"
# fairgauge states infinity, which passes no limit (tests/unit/measure/test_decide_verdicts.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check jurity==2.1.0
cat > impact.py <<'PY'
from importlib.metadata import version

from jurity.fairness import BinaryFairnessMetrics


def row(selected, members, others):
    predictions = [1] * selected + [0] * (members - selected + others)
    labels, groups = [0, 1] * (len(predictions) // 2), [1] * members + [0] * others
    return BinaryFairnessMetrics.get_all_scores(labels, predictions, groups).loc["Disparate Impact"]


one, twelve = row(1, 50, 50), row(12, 40, 80)
print(f"{version('jurity')}: 1 of 50 against 0 of 50: {float(one['Value'])}, ideal {one['Ideal Value']}; "
      f"12 of 40 against 0 of 80: {float(twelve['Value'])}")
PY
seen=$(venv/bin/python -W ignore impact.py); echo "$seen"
[ "$seen" = "2.1.0: 1 of 50 against 0 of 50: 1.0, ideal 1; 12 of 40 against 0 of 80: 12.0" ]
