#!/usr/bin/env bash
# fairmedfm 0.4.2: scores at the threshold of the best F1 are decided negative, though the threshold was chosen with them positive.
#
# Expected: scores of .8 for the positives and .2 for the others are decided without an error at the threshold of the best F1: accuracy 1, as the AUC.
# Happens:  the threshold is found for scores of at least .8 (as scikit-learn counts them) and used for scores above .8: accuracy .5, all rates of true positives 0.
# Seen on 29 November 2026: "0.4.2: AUC 1.0, accuracy at the best F1 0.5, difference in true positive rates 0.0 of 0.0 and 0.0"
# Any score of few values has it. fairgauge decides scores of at least a threshold as positive, in audits and in choosing thresholds alike.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fairmedfm==0.4.2
cat > threshold.py <<'PY'
from importlib.metadata import version

import fairmedfm

label = [0, 0, 1, 1] * 10
score = [0.2, 0.2, 0.8, 0.8] * 10
sex = ["F", "M"] * 20
report = fairmedfm.evaluate(label, score, sex)
[row] = report.summary.to_dict("records")
rates = report.by_group["tpr@best_f1"].tolist()
print(f"{version('fairmedfm')}: AUC {row['overall-auc']}, accuracy at the best F1 {row['overall-acc']}, "
      f"difference in true positive rates {row['eo']} of {' and '.join(map(str, rates))}")
PY
seen=$(venv/bin/python threshold.py); echo "$seen"
[ "$seen" = "0.4.2: AUC 1.0, accuracy at the best F1 0.5, difference in true positive rates 0.0 of 0.0 and 0.0" ]
