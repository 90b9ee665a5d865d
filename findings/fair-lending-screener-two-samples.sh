#!/usr/bin/env bash
# fair-lending-screener 0.2.2: the adjusted odds ratio is of the applications with every control, the unadjusted one of all, and the sentence names the larger number; below 1 it says "higher".
#
# Expected: the adjusted and the unadjusted ratio are of the same applications, or the sentence counts those that were left out; an odds ratio of .42 is lower odds.
# Happens:  461 approved applications without income leave the regression unnamed: .42 becomes .85, "no statistically significant adjusted disparity" of "2,000 applications". With all incomes: "faced 0.42x higher odds".
# Seen on 28 November 2026: "0.2.2: 2,000 applications, 1,539 in the model: unadjusted 0.42, adjusted 0.85; with all incomes: faced 0.42x higher odds of denial"
# fairgauge says how many rows adjusting excludes and concludes nothing where their rates differ (tests/unit/inference/test_missing_strata.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fair-lending-screener==0.2.2 numpy==2.4.6 pandas==3.1.1 statsmodels==0.15.0
cat > screen.py <<'PY'
import re
import warnings
from importlib.metadata import version

import numpy as np
import pandas as pd
from fair_lending_screener.disparity import adjusted_denial_disparity

warnings.filterwarnings("ignore")
random = np.random.default_rng(1)
n = 2000
race = np.where(np.arange(n) % 2, "Asian", "White")
income = random.uniform(40, 200, n)
data = pd.DataFrame({
    "derived_race": race,
    "is_denied": (random.random(n) < np.where(race == "Asian", 0.08, 0.16)).astype(int),
    "log_income": np.log(income),
    "log_loan_amount": random.normal(12, 0.3, n),
    "loan_to_value_ratio": random.uniform(50, 95, n),
    "log_property_value": random.normal(12.5, 0.3, n),
})
asked = {"protected_class": "Asian", "comparison_class": "White", "data_year": 2023}
whole = adjusted_denial_disparity(data, **asked)
data.loc[(np.arange(n) % 4 == 1) & (data.is_denied == 0), "log_income"] = np.nan
found = adjusted_denial_disparity(data, **asked)
stated = re.search(r"[\d,]+ applications", found.interpretation)[0]
direction = re.search(r"faced .*? odds of denial", whole.interpretation)[0].replace("\u00d7", "x")
print(f"{version('fair-lending-screener')}: {stated}, {found.model_diagnostics['n_obs_in_model']:,} in the model: "
      f"unadjusted {found.unadjusted_odds_ratio:.2f}, adjusted {found.adjusted_odds_ratio:.2f}; with all incomes: {direction}")
PY
seen=$(venv/bin/python screen.py); echo "$seen"
[ "$seen" = "0.2.2: 2,000 applications, 1,539 in the model: unadjusted 0.42, adjusted 0.85; with all incomes: faced 0.42x higher odds of denial" ]
