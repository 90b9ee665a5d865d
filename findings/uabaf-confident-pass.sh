#!/usr/bin/env bash
# uabaf 0.2.0: "PASS with High Confidence" for an interval that reaches far beyond the limit.
#
# Expected: selection rates of 300 and 246 of 600 differ by .09, 95% interval about .035 to .15; the limit is .10: the interval holds the limit, so confidence cannot be high.
# Happens:  confidence is the width of the interval alone (at most .15), wherever the limit lies in it.
# Seen on 30 November 2026: "0.2.0: 0.09, interval reaches beyond 0.10: True, PASS with High Confidence"
# fairgauge passes a rule only where the whole interval is inside the limit; this table is inconclusive.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check uabaf==0.2.0
cat > verdict.py <<'PY'
from importlib.metadata import version

import numpy as np
from uabaf.bootstrap import bca_ci
from uabaf.verdict import assign_verdict

decision = np.array([1] * 300 + [0] * 300 + [1] * 246 + [0] * 354)
privileged = np.repeat([1, 0], 600)
label = np.tile([1, 0], 600)
found = bca_ci(label, decision, privileged, "dpd", B=1000)
verdict = assign_verdict("dpd", found["point"], found["ci_lo"], found["ci_hi"])["verdict"]
print(f"{version('uabaf')}: {round(found['point'], 6)}, interval reaches beyond 0.10: {found['ci_hi'] > 0.13}, {verdict}")
PY
seen=$(venv/bin/python verdict.py); echo "$seen"
[ "$seen" = "0.2.0: 0.09, interval reaches beyond 0.10: True, PASS with High Confidence" ]
