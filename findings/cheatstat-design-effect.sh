#!/usr/bin/env bash
# cheatstat 4.1.2: tests of weighted tables find nothing (cross_tab) or too much (biV), since both divide by what is not the design effect of weights.
#
# Expected: weights of 1 change no p-value. Weights of .5 and 1.5 have a design effect of 1.25 (n times the sum of their squares over the square
#           of their sum, Kish 1965); a chi-square is divided by it, so that p grows: here from .034 to .058.
# Happens:  cross_tab divides by the effective number of rows: 70 and 30 of 100, weights of 1, have p = .70 where chi-square is 30.4.
#           biV divides by the inverse of the effect: 58 and 42 of 100, weights of .5 and 1.5, have p = .018, less than without weights.
# Seen on 30 November 2026: "4.1.2: weights of 1: chi-square 30.42, design effect 200.0, p 0.69654; weights of .5 and 1.5: p 0.01771, without weights 0.03389"
# fairgauge: equal weights change nothing, unequal ones count as fewer rows (tests/unit/stats/test_weighted.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check cheatstat==4.1.2
cat > weights.py <<'PY'
from importlib.metadata import version

import numpy as np
import pandas as pd
from cheatstat import biV, cross_tab


def people(selected, weights):
    """Return 100 people of each of two groups, so many of one selected and so many of the other not; weights in turn."""
    outcomes = np.repeat([1, 0, 1, 0], [selected, 100 - selected, 100 - selected, selected])
    return pd.DataFrame({"group": np.repeat([1, 2], 100), "selected": outcomes, "weight": np.resize(weights, 200)})


crossed = cross_tab(people(70, [1.0]), "group", "selected", weight="weight").info
weighted, plain = (
    biV(people(58, [0.5, 1.5]), "group", "selected", "nominal", weight=weight).stat["p-Wert"].iloc[0]
    for weight in ("weight", None)
)
print(f"{version('cheatstat')}: weights of 1: chi-square {crossed['Chi²']:.2f}, design effect {crossed['DEFF']}, p {crossed['p (korr.)']:.5f}; "
      f"weights of .5 and 1.5: p {weighted}, without weights {plain}")
PY
seen=$(venv/bin/python -W ignore weights.py); echo "$seen"
[ "$seen" = "4.1.2: weights of 1: chi-square 30.42, design effect 200.0, p 0.69654; weights of .5 and 1.5: p 0.01771, without weights 0.03389" ]
