#!/usr/bin/env bash
# faircare 0.3.0: the "worst ratio" of positive predictive values is the least one wherever one is below 1, however far another is above it.
#
# Expected: of ratios .96 and 3.0 to the reference, 3.0 is the worst: farther from 1 by any measure.
# Happens:  worst_ratio is .96, and the component of the disparity index that comes of it is .1 of 1, where it would be 1.
# Seen on 29 November 2026: "0.3.0: ratios {'B': 0.96, 'C': 3.0}, worst ratio 0.96, component 0.1 of 1"
# fairgauge states every ratio with its interval; a rule on a ratio is of the worst group in the direction that it limits.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check faircare==0.3.0
cat > worst.py <<'PY'
from importlib.metadata import version

import polars as pl
from faircareai.metrics.fairness import compute_disparity_index, compute_fairness_metrics

cells = {"A": (100, 300, 50, 550), "B": (96, 304, 54, 546), "C": (300, 100, 50, 550)}
rows = [(group, y, score) for group, (tp, fp, fn, tn) in cells.items()
        for (y, score), times in zip(((1, 0.9), (0, 0.9), (1, 0.1), (0, 0.1)), (tp, fp, fn, tn)) for _ in range(times)]
table = pl.DataFrame(rows, schema=["group", "y", "score"], orient="row")
asked = dict(y_prob_col="score", y_true_col="y", group_col="group", reference="A")
found = compute_fairness_metrics(table, **asked)
component = compute_disparity_index(table, **asked)["components"]["predictive_parity"]
print(f"{version('faircare')}: ratios { {k: round(v, 2) for k, v in found['ppv_ratio'].items()} }, "
      f"worst ratio {found['summary']['predictive_parity']['worst_ratio']:.2f}, component {component:.1f} of 1")
PY
seen=$(venv/bin/python worst.py 2>/dev/null); echo "$seen"
[ "$seen" = "0.3.0: ratios {'B': 0.96, 'C': 3.0}, worst ratio 0.96, component 0.1 of 1" ]
