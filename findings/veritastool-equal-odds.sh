#!/usr/bin/env bash
# aiverify-veritastool 2.2.1: "equal odds" adds the gaps of both error rates with their signs, so that opposite gaps cancel and the conclusion is "fair".
#
# Expected: of those who qualify 90 of 100 men and 60 of 100 women are approved, of those who do not 10 of 100 men and 40 of 100 women; equalized odds asks that both rates agree, and neither does.
# Happens:  equal_odds is the mean of +.30 and -.30, which is 0, below any threshold; alone, equal_opportunity is "unfair" by .30.
# Seen on 28 November 2026: "2.2.1: TPR gap 0.3, FPR gap -0.3, equal_odds 0.0: fair"
# fairgauge states the larger of the two gaps (equalized_odds.largest_gap; tests/unit/catalogue/test_across.py); the mean with its signs is called average odds.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check aiverify-veritastool==2.2.1
cat > odds.py <<'PY'
import contextlib
import io
import warnings
from importlib.metadata import version

import pandas as pd
from aiverify_veritastool.model.model_container import ModelContainer
from aiverify_veritastool.usecases.base_classification import BaseClassification

warnings.filterwarnings("ignore")
approved = [("men", 1, 90), ("men", 0, 10), ("women", 1, 60), ("women", 0, 40)]
rows = [(sex, qualified, int(i < n)) for sex, qualified, n in approved for i in range(100)]
data = pd.DataFrame(rows, columns=["sex", "qualified", "approved"])
model = ModelContainer(
    y_true=data.qualified.to_numpy(), y_pred=data.approved.to_numpy(), x_train=data[["sex"]], x_test=data[["sex"]],
    p_grp={"sex": ["men"]}, up_grp={"sex": ["women"]}, model_type="classification", model_name="m", pos_label=[1], neg_label=[0],
)
case = BaseClassification(model_params=[model], fair_metric_name="equal_odds")
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    case.evaluate(output=False, seed=1)
found = case.fair_metric_obj.result["sex"]["fair_metric_values"]
tpr, fpr, odds = (round(found[name][0], 10) for name in ("equal_opportunity", "fpr_parity", "equal_odds"))
print(f"{version('aiverify-veritastool')}: TPR gap {tpr}, FPR gap {fpr}, equal_odds {odds}: {case.fair_conclusion['sex']['fairness_conclusion']}")
PY
seen=$(venv/bin/python odds.py); echo "$seen"
[ "$seen" = "2.2.1: TPR gap 0.3, FPR gap -0.3, equal_odds 0.0: fair" ]
