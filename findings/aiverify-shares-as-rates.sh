#!/usr/bin/env bash
# aiverify-fairness-metrics-toolbox-for-classification 2.2.1 (AI Verify): a group's "True Positive Rate" is its true positives by the positives of all groups, so that the smaller group looks worse by its size alone.
#
# Expected: 900 men and 100 women, half of each qualified; of those 9 of 10 are predicted to be, of the others 1 of 10: rates of .9 for both, and false positive rates of .1 for both.
# Happens:  a group's true positives are divided by the positives of all groups: .81 for men and .09 for women; all eight rates likewise. "Equal Selection Parity" is a number of people, 400.
# Seen on 30 November 2026: "2.2.1: true positive rates men 0.81 women 0.09, false positive rates men 0.09 women 0.01, disparate impact 1.0"
# fairgauge divides by the group's own rows (tests/oracles/test_fairlearn_every_frame.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check aiverify-fairness-metrics-toolbox-for-classification==2.2.1
cat > people.py <<'PY'
import pickle

import pandas as pd
from sklearn.tree import DecisionTreeClassifier

rows = [(sex, int(i < (n * 9 if y else n) // 20), y) for sex, n in ((0, 900), (1, 100)) for y in (1, 0) for i in range(n // 2)]
people = pd.DataFrame(rows, columns=["woman", "score", "qualified"])
people.to_pickle("people.sav")
with open("model.sav", "wb") as file:
    pickle.dump(DecisionTreeClassifier(max_depth=1).fit(people[["woman", "score"]], people["score"]), file)
PY
cat > show.py <<'PY'
import json
from importlib.metadata import version

found = json.load(open("output/results.json"))["output"]["results"][1]
rates = {name: [entry["metric"] for entry in found[name]] for name in ("True Positive Rate", "False Positive Rate", "Disparate Impact")}
(tpr_men, tpr_women), (fpr_men, fpr_women), (impact,) = rates.values()
print(f"{version('aiverify-fairness-metrics-toolbox-for-classification')}: true positive rates men {tpr_men} women {tpr_women}, "
      f"false positive rates men {fpr_men} women {fpr_women}, disparate impact {impact}")
PY
venv/bin/python people.py
venv/bin/python -m aiverify_fairness_metrics_toolbox_for_classification --data_path people.sav --model_path model.sav \
  --ground_truth_path people.sav --ground_truth qualified --model_type CLASSIFICATION --sensitive_features_list woman >log 2>&1
seen=$(venv/bin/python show.py); echo "$seen"
[ "$seen" = "2.2.1: true positive rates men 0.81 women 0.09, false positive rates men 0.09 women 0.01, disparate impact 1.0" ]
