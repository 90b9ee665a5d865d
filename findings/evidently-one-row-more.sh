#!/usr/bin/env bash
# evidently 0.7.23: the default test of drift of a number is another from 1,001 rows on, so that the same shift is drift at 1,000 rows and none at 1,001.
#
# Expected: what 1,000 rows show, 1,001 rows show.
# Happens:  up to 1,000 rows of reference, Kolmogorov and Smirnov's p below .05; above, a distance divided by the standard deviation, above .1.
#           Seven percent of people moved across the threshold of .5 are .02 standard deviations.
# Seen on 1 December 2026: "0.7.23: 1000 rows K-S p_value 0.015 (threshold 0.05), 1001 rows Wasserstein distance (normed) 0.017 (threshold 0.1)"
# fairgauge's monitor compares by one rule at every size (docs/monitoring.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check evidently==0.7.23 pandas==2.3.3
cat > drift.py <<'PY'
from importlib.metadata import version

import numpy as np
import pandas as pd
from evidently import Report
from evidently.metrics import ValueDrift


def drift(rows: int) -> str:
    score = (np.arange(rows) + 0.5) / rows
    moved = np.where((score > 0.43) & (score < 0.5), score + 0.07, score)
    before, after = pd.DataFrame({"score": score}), pd.DataFrame({"score": moved})
    (metric,) = Report([ValueDrift(column="score")]).run(after, before).dict()["metrics"]
    asked = metric["config"]
    return f"{rows} rows {asked['method']} {metric['value']:.3f} (threshold {asked['threshold']})"


print(f"{version('evidently')}: {drift(1_000)}, {drift(1_001)}")
PY
seen=$(venv/bin/python -W ignore drift.py 2>/dev/null); echo "$seen"
[ "$seen" = "0.7.23: 1000 rows K-S p_value 0.015 (threshold 0.05), 1001 rows Wasserstein distance (normed) 0.017 (threshold 0.1)" ]
