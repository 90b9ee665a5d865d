#!/usr/bin/env bash
# confidenceinterval 1.0.5: its default interval of macro recall is half as wide as its bootstrap where the rare class is mostly missed, and too wide where it is mostly found.
#
# Expected: 810 of 900 negatives and 10 of 100 positives recognized: the mean of two independent shares, .5 plus or minus .031, as its own bootstrap gives.
# Happens:  plus or minus .015: in the delta method a derivative is not divided by the size of its class, and p p' is taken element by element. With 90 of 100 positives it is .038 for .031.
# Seen on 30 November 2026: "1.0.5: 10 of 100 positives found: default 0.015, bootstrap 0.031, two shares 0.031; 90 of 100: default 0.038, bootstrap 0.030, two shares 0.031"
# Macro recall is balanced accuracy; fairgauge combines Wilson's intervals of both shares (tests/unit/inference/test_uncertainty.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check confidenceinterval==1.0.5 numpy==2.4.6
cat > recall.py <<'PY'
from importlib.metadata import version

import numpy as np
from confidenceinterval import recall_score


def half_widths(found):
    observed = [0] * 900 + [1] * 100
    predicted = [0] * 810 + [1] * 90 + [1] * found + [0] * (100 - found)
    resampled = {"method": "bootstrap_percentile", "n_resamples": 2000, "random_state": np.random.default_rng(1)}
    ends = [recall_score(observed, predicted, average="macro", **how)[1] for how in ({}, resampled)]
    exact = 1.96 * (0.9 * 0.1 / 900 + found / 100 * (1 - found / 100) / 100) ** 0.5 / 2
    return "default {:.3f}, bootstrap {:.3f}, two shares {:.3f}".format(*((high - low) / 2 for low, high in ends), exact)


print(f"{version('confidenceinterval')}: 10 of 100 positives found: {half_widths(10)}; 90 of 100: {half_widths(90)}")
PY
seen=$(venv/bin/python recall.py); echo "$seen"
[ "$seen" = "1.0.5: 10 of 100 positives found: default 0.015, bootstrap 0.031, two shares 0.031; 90 of 100: default 0.038, bootstrap 0.030, two shares 0.031" ]
