#!/usr/bin/env bash
# frouros 0.9.0: the population stability index of two samples of one distribution is above 20 where bins have no rows on one side.
#
# Expected: near 9 (1/100 + 1/100) = .18 for two samples of 100 in 10 bins; .25 is a significant shift.
# Happens:  an empty bin is the smallest positive number of a float, whose logarithm is -708: each person in it adds 7.
# Seen on 1 December 2026: "0.9.0: two samples of one distribution: of 100 21.24, of 5000 0.01"
# fairgauge's distances are finite, and have intervals (tests/unit/stats/test_distances.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check frouros==0.9.0
cat > index.py <<'PY'
from importlib.metadata import version

import numpy as np
from frouros.detectors.data_drift import PSI


def index(people: int) -> float:
    random = np.random.default_rng(0)
    detector = PSI()
    detector.fit(X=random.normal(size=people))
    return detector.compare(X=random.normal(size=people))[0].distance


print(f"{version('frouros')}: two samples of one distribution: of 100 {index(100):.2f}, of 5000 {index(5_000):.2f}")
PY
seen=$(venv/bin/python -W ignore index.py); echo "$seen"
[ "$seen" = "0.9.0: two samples of one distribution: of 100 21.24, of 5000 0.01" ]
