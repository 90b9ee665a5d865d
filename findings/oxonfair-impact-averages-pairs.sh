#!/usr/bin/env bash
# oxonfair 0.3: "disparate impact" of three or more groups is the average over pairs of groups, so that a group below four fifths of another passes.
#
# Expected: "the smallest Positive Prediction Rate of any group divided by the largest" (its measures.md): .35 / .50 = .70, below .80.
# Happens:  .80, the mean of 1, .70 and .70. Of two groups both are the same.
# Seen on 30 November 2026: "0.3: rates 0.50, 0.50, 0.35: disparate impact 0.80, least by largest 0.70; without one of the first two 0.70"
# fairgauge: the smallest ratio names its two groups (tests/unit/catalogue/test_across.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check oxonfair==0.3
cat > impact.py <<'PY'
from importlib.metadata import version

import numpy as np
from oxonfair import group_metrics as gm

selected_of_100 = {"Asian": 50, "White": 50, "Black": 35}
group = np.repeat(list(selected_of_100), 100)
selected = np.concatenate([np.arange(100) < n for n in selected_of_100.values()]).astype(int)
two = group != "Asian"
rates = ", ".join(f"{selected[group == name].mean():.2f}" for name in selected_of_100)
(impact,), (least,), (of_two,) = (
    metric(selected[rows], selected[rows], group[rows])
    for metric, rows in [(gm.disparate_impact, group != ""), (gm.pos_pred_rate.min_ratio, group != ""), (gm.disparate_impact, two)]
)
print(f"{version('oxonfair')}: rates {rates}: disparate impact {impact:.2f}, least by largest {least:.2f}; without one of the first two {of_two:.2f}")
PY
seen=$(venv/bin/python impact.py); echo "$seen"
[ "$seen" = "0.3: rates 0.50, 0.50, 0.35: disparate impact 0.80, least by largest 0.70; without one of the first two 0.70" ]
