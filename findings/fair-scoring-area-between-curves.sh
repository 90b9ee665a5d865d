#!/usr/bin/env bash
# fair-scoring 0.2.1: the area between two ROC curves of few rows is wrong, since steps of a curve are drawn as slopes.
#
# Expected: one group is ranked without an error (AUC 1), the other with one of four pairs wrong (AUC .75), and no curve crosses the other: the area between them is .25.
# Happens:  curves are interpolated at rates that stand twice (a step upwards); the value after the step is taken on both sides: .125.
# Seen on 30 November 2026: "0.2.1: AUC 1.0 and 0.75, area between the curves 0.125"
# The error is about half a step for each row: .06 on average in two groups of 20 rows, .001 in groups of 200. fairgauge's AUC counts pairs and draws no curve.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fair-scoring==0.2.1
cat > area.py <<'PY'
from importlib.metadata import version

import numpy as np
from fairscoring.metrics.roc import bias_metric_roc
from sklearn.metrics import roc_auc_score

score = np.array([0.1, 0.2, 0.3, 0.4] * 2)
label = np.array([0, 0, 1, 1, 0, 1, 0, 1])
group = np.repeat(["A", "B"], 4)
found = bias_metric_roc.bias(score, label, group, groups=["A", "B"], favorable_target=1, prefer_high_scores=True)
auc = [float(roc_auc_score(label[group == name], score[group == name])) for name in "AB"]
print(f"{version('fair-scoring')}: AUC {auc[0]} and {auc[1]}, area between the curves {float(found.bias)}")
PY
seen=$(venv/bin/python area.py); echo "$seen"
[ "$seen" = "0.2.1: AUC 1.0 and 0.75, area between the curves 0.125" ]
