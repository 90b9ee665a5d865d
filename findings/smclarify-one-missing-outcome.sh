#!/usr/bin/env bash
# smclarify 0.5: one missing outcome makes every measure of bias 0, and where a facet lacks an outcome, that outcome is not counted: KL is below 0, TVD half of what it is.
#
# Expected: of 50 women 40 and of 50 men 20 were hired (1): DPL -.4, and with one man's outcome unknown -.392; women of whom all, and men of whom half were hired: TVD .5, KL of at least 0.
# Happens:  a missing value makes pandas' column one of floats, which smclarify takes for a threshold: hired is "above 1", which nobody is; 0 is also what it states of equal groups.
# Seen on 1 December 2026: "0.5: DPL -0.4, with one missing outcome 0.0; without an outcome of one group TVD 0.25, KL -0.347".
# fairgauge counts the rows without an outcome as missing, and an outcome that a group lacks as 0 (tests/unit/scan/test_extreme_values.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check smclarify==0.5 pandas==2.3.3
cat > people.py <<'PY'
import logging
from importlib.metadata import version

import pandas as pd
from smclarify.bias import report

logging.disable()


def measure(rows):
    sex, hired = report.FacetColumn("sex", ["F"]), report.LabelColumn("hired", rows["hired"], [1])
    (facet,) = report.bias_report(rows, sex, hired, report.StageType.PRE_TRAINING, metrics=["DPL", "TVD", "KL"])
    return {each["name"]: round(each["value"], 3) for each in facet["metrics"]}


people = pd.DataFrame({"sex": ["F"] * 50 + ["M"] * 50, "hired": [1] * 40 + [0] * 10 + [1] * 20 + [0] * 30})
missing = people.assign(hired=people["hired"].where(people.index != 99))
all_hired = people.assign(hired=[1] * 50 + [1] * 25 + [0] * 25)
last = measure(all_hired)
print(f"{version('smclarify')}: DPL {measure(people)['DPL']}, with one missing outcome {measure(missing)['DPL']}; without an outcome of one group TVD {last['TVD']}, KL {last['KL']}")
PY
seen=$(venv/bin/python -W ignore people.py); echo "$seen"
[ "$seen" = "0.5: DPL -0.4, with one missing outcome 0.0; without an outcome of one group TVD 0.25, KL -0.347" ]
