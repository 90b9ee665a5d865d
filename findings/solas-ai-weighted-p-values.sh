#!/usr/bin/env bash
# solas-ai 0.6.0: sample weights are counted as people in its p-values, so that the unit of the weights decides what is significant.
#
# Expected: 40 of 100 women and 50 of 100 men, each of weight 1, 10 or .1: the same two rates and as much evidence, p = .20 each time.
# Happens:  the weights' sums enter the test as numbers of people: 10 makes p .000009, .1 makes it 1.
# Seen on 30 November 2026: "0.6.0: weights of 1 p 0.200708, of 10 p 0.000009, of 0.1 p 1.000000"
# Weights of a survey that sum to the population therefore make any gap significant. fairgauge's intervals take the effective number of rows.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check solas-ai==0.6.0
cat > weights.py <<'PY'
import warnings
from importlib.metadata import version

warnings.filterwarnings("ignore")
import pandas as pd
import solas_disparity

outcome = pd.Series([1] * 40 + [0] * 60 + [1] * 50 + [0] * 50)
groups = pd.DataFrame({"women": [1.0] * 100 + [0.0] * 100, "men": [0.0] * 100 + [1.0] * 100})


def p_value(weight):
    found = solas_disparity.adverse_impact_ratio(
        group_data=groups, protected_groups=["women"], reference_groups=["men"], group_categories=["sex"],
        outcome=outcome, air_threshold=0.8, percent_difference_threshold=0.0,
        sample_weight=pd.Series(float(weight), index=outcome.index),
    )
    return float(found.summary_table["P-Values"]["women"])


print(f"{version('solas-ai')}: weights of 1 p {p_value(1):.6f}, of 10 p {p_value(10):.6f}, of 0.1 p {p_value(0.1):.6f}")
PY
seen=$(venv/bin/python weights.py 2>/dev/null | tail -1); echo "$seen"
[ "$seen" = "0.6.0: weights of 1 p 0.200708, of 10 p 0.000009, of 0.1 p 1.000000" ]
