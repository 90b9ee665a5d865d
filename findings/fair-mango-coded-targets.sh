#!/usr/bin/env bash
# fair-mango 0.2.2: of outcomes coded -1 and 1 the mean is taken for the selection rate; of outcomes 0 and 1 the stated positive is not read.
#
# Expected: 30 of 100 women and 60 of 100 men have the outcome stated as positive: selection rates .3 and .6, however it is coded.
# Happens:  right for "no" and "yes"; -.4 and .2 for -1 and 1 (a rate below 0); .7 and .4 where 0 is stated as positive, as "no default" is.
# Seen on 29 November 2026: "0.2.2: no/yes 0.3 0.6, -1/1 -0.4 0.2, 1/0 0.7 0.4"
# fairgauge counts the values that are stated as positive, however they are coded.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fair-mango==0.2.2
cat > coded.py <<'PY'
from importlib.metadata import version

import pandas as pd
from fair_mango.dataset.dataset import Dataset
from fair_mango.metrics.metrics import SelectionRate

seen = []
for negative, positive in (("no", "yes"), (-1, 1), (1, 0)):
    decided = [positive] * 30 + [negative] * 70 + [positive] * 60 + [negative] * 40
    table = pd.DataFrame({"sex": ["F"] * 100 + ["M"] * 100, "label": [positive, negative] * 100, "decision": decided})
    data = Dataset(df=table, sensitive=["sex"], real_target="label", predicted_target="decision",
                   positive_target=positive)
    rates = [round(each.data, 3) for each in SelectionRate(data, use_y_true=False)()]
    seen.append(f"{negative}/{positive} {' '.join(map(str, rates))}")
print(f"{version('fair-mango')}: {', '.join(seen)}")
PY
seen=$(venv/bin/python coded.py); echo "$seen"
[ "$seen" = "0.2.2: no/yes 0.3 0.6, -1/1 -0.4 0.2, 1/0 0.7 0.4" ]
