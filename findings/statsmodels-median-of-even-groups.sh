#!/usr/bin/env bash
# statsmodels 0.15.0: median regression on two groups of four people gives a difference of -375 where their medians differ by -250.
#
# Expected: the coefficient of a group is the difference of the medians, the mean of the two middle values where a group is even.
# Happens:  any number between the middle values solves the linear program, and the one that is found is reported without a word.
# Seen on 30 November 2026: "0.15.0: -375, medians -250".
# fairgauge compares medians (tests/unit/scan/test_behaviours_of_tools.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check statsmodels==0.15.0
cat > pay.py <<'PY'
import numpy as np
import statsmodels
from statsmodels.regression.quantile_regression import QuantReg

pay = np.array([1000, 2000, 3000, 4000, 1500, 2500, 3000, 4500.0])
group = np.column_stack([np.ones(8), [1] * 4 + [0] * 4])
found = QuantReg(pay, group).fit(q=0.5).params[1]
print(f"{statsmodels.__version__}: {found:.0f}, medians {np.median(pay[:4]) - np.median(pay[4:]):.0f}")
PY
seen=$(venv/bin/python -W ignore pay.py); echo "$seen"
[ "$seen" = "0.15.0: -375, medians -250" ]
