#!/usr/bin/env bash
# driftkit 0.1.0: the population stability index of a column of 0 and 1 is 0 where the reference has fewer than a tenth of ones, whatever comes after.
#
# Expected: from 5% to 50% of ones the index is .45 log(.50/.05) + .45 log(.95/.50) = 1.32, above the .25 of a significant shift.
# Happens:  0.0000, "stable", by psi and by monitor: bins end at the inner deciles of the reference, all 0, so that 0 and 1 are in one bin.
#           The same values as text give 1.32.
# Seen on 30 November 2026: "0.1.0: numbers 0.0000 stable, monitor stable; text 1.3244 significant shift"
# fairgauge's distances count each value by itself (tests/unit/stats/test_distances.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check driftkit==0.1.0
cat > shift.py <<'PY'
from importlib.metadata import version

import numpy as np
import pandas as pd
from driftkit import monitor, psi

before, after = np.repeat([0, 1], [9_500, 500]), np.repeat([0, 1], [5_000, 5_000])
numbers, text = psi(before, after), psi(before.astype(str), after.astype(str))
(monitored,) = monitor(pd.DataFrame({"denied": before}), pd.DataFrame({"denied": after})).results.values()
print(f"{version('driftkit')}: numbers {numbers.value:.4f} {numbers.interpretation}, monitor {monitored.interpretation}; "
      f"text {text.value:.4f} {text.interpretation}")
PY
seen=$(venv/bin/python shift.py); echo "$seen"
[ "$seen" = "0.1.0: numbers 0.0000 stable, monitor stable; text 1.3244 significant shift" ]
