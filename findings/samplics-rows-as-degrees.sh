#!/usr/bin/env bash
# samplics 0.6.1 (archived): its design-based t-test has as many degrees of freedom as rows, so that p contradicts the interval in the same table.
#
# Expected: 6 schools of 50 pupils have 5 degrees of freedom: t = 2.02 has p = .10, as the interval of the mean, which holds the tested 49.5, says.
# Happens:  299 degrees of freedom and p = .045; the interval, of 5, is 48.95 to 54.05. svy, which replaces it, has p = .11.
# Seen on 30 November 2026: "0.6.1: 6 schools, tested 49.5: t 2.02, df 299, p 0.0446; interval 48.95 to 54.05"
# fairgauge counts clusters, not rows, as degrees of freedom (tests/unit/inference/test_clusters.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check samplics==0.6.1
cat > schools.py <<'PY'
from importlib.metadata import version

import numpy as np
from samplics.categorical import Ttest

school = np.repeat(np.arange(6), 50)
score = np.repeat([48.0, 50.0, 51.0, 52.0, 53.0, 55.0], 50) + np.tile([-1.0, 1.0], 150)
test = Ttest("one-sample")
test.compare(y=score, known_mean=49.5, psu=school, samp_weight=np.ones(300))
found = test.stats
print(f"{version('samplics')}: 6 schools, tested 49.5: t {found['t']:.2f}, df {found['df']}, p {found['p_value']['not_equal']:.4f}; "
      f"interval {test.lower_ci:.2f} to {test.upper_ci:.2f}")
PY
seen=$(venv/bin/python -W ignore schools.py); echo "$seen"
[ "$seen" = "0.6.1: 6 schools, tested 49.5: t 2.02, df 299, p 0.0446; interval 48.95 to 54.05" ]
