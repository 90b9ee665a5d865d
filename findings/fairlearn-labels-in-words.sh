#!/usr/bin/env bash
# fairlearn 0.15.0: of decisions in words, or of 0 and 1 as texts, demographic_parity_difference() is 0, "no disparity".
#
# Expected: 10 of 20 women and none of 20 men answered "yes": a difference of .5, or an error, as true_positive_rate() raises for the same columns.
# Happens:  selection_rate() counts what equals 1, and the text "yes" or "1" never does: every group has a rate of 0, without a word. Of codes 1 and 2 it takes 1.
# Seen on 1 December 2026: "0.15.0: difference of 0 and 1 0.5, of '0' and '1' 0.0, of no and yes 0.0; equalized odds of no and yes ValueError".
# fairgauge asks which value is favourable where none is known to be (tests/unit/scan/test_extreme_values.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fairlearn==0.15.0
cat > people.py <<'PY'
from importlib.metadata import version

import numpy as np
from fairlearn.metrics import demographic_parity_difference, equalized_odds_difference

hired, able = np.array([1] * 10 + [0] * 30), np.array([1, 0] * 20)
sex = np.array(["F"] * 20 + ["M"] * 20)
gaps = []
for words in ([0, 1], ["0", "1"], ["no", "yes"]):
    says = np.array(words)
    gaps.append(demographic_parity_difference(says[able], says[hired], sensitive_features=sex))
try:
    odds = equalized_odds_difference(says[able], says[hired], sensitive_features=sex)
except ValueError as error:
    odds = type(error).__name__
print(f"{version('fairlearn')}: difference of 0 and 1 {gaps[0]}, of '0' and '1' {gaps[1]}, of no and yes {gaps[2]}; equalized odds of no and yes {odds}")
PY
seen=$(venv/bin/python -W ignore people.py); echo "$seen"
[ "$seen" = "0.15.0: difference of 0 and 1 0.5, of '0' and '1' 0.0, of no and yes 0.0; equalized odds of no and yes ValueError" ]
