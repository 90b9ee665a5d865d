#!/usr/bin/env bash
# fairlearn 0.15.0: a group of which nobody is positive has a true positive rate of 0, so that it is as far from the others as a group all of whose positives were missed.
#
# Expected: of 30 women none was able: no rate, no difference, or a warning. In another table 3 of 3 able women were missed: 0, a difference of .9.
# Happens:  equal_opportunity_difference() is .9 of both tables, and equalized_odds_difference() too; nothing states that one of them compares 0 of 0.
# Seen on 1 December 2026: "0.15.0: 0 of 0 women 0.9 and 0.9, 0 of 3 women 0.9 and 0.9, warnings 0".
# fairgauge states no value, with the reason (tests/oracles/test_fairlearn_every_frame.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fairlearn==0.15.0
cat > people.py <<'PY'
import warnings
from importlib.metadata import version

import numpy as np
from fairlearn.metrics import equal_opportunity_difference, equalized_odds_difference

sex = np.array(["F"] * 30 + ["M"] * 20)
hired = np.array([0] * 30 + [1] * 9 + [0] * 11)
seen = []
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for women in (0, 3):
        able = np.array([1] * women + [0] * (30 - women) + [1] * 10 + [0] * 10)
        gaps = [of(able, hired, sensitive_features=sex) for of in (equal_opportunity_difference, equalized_odds_difference)]
        seen.append(f"0 of {women} women {gaps[0]} and {gaps[1]}")
print(f"{version('fairlearn')}: {', '.join(seen)}, warnings {len(told)}")
PY
seen=$(venv/bin/python people.py); echo "$seen"
[ "$seen" = "0.15.0: 0 of 0 women 0.9 and 0.9, 0 of 3 women 0.9 and 0.9, warnings 0" ]
