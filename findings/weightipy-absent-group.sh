#!/usr/bin/env bash
# weightipy 0.4.2: targets with a group that the sample lacks are met by nobody, and the weights of 100 people sum to 90.
#
# Expected: an error: its own validate() of the scheme, or the weighting, knows that nobody is oldest.
# Happens:  no error and no warning; the share of women, whose target is 50%, is 50% of 90.
# Seen on 1 December 2026: "0.4.2: weights of 100 people sum to 90, of women to 45"
# fairgauge takes the weights that it is given and states their sum (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check weightipy==0.4.2 pandas==3.1.1
cat > weigh.py <<'PY'
from importlib.metadata import version

import pandas as pd
import weightipy

people = pd.DataFrame({"sex": ["F"] * 60 + ["M"] * 40, "age": ["young"] * 30 + ["old"] * 30 + ["young"] * 40})
scheme = weightipy.scheme_from_dict({"sex": {"F": 50, "M": 50}, "age": {"young": 60, "old": 30, "oldest": 10}})
weighted = weightipy.weight_dataframe(people, scheme, weight_column="weight")
women = weighted.loc[weighted["sex"] == "F", "weight"]
print(f"{version('weightipy')}: weights of 100 people sum to {weighted['weight'].sum():.0f}, of women to {women.sum():.0f}")
PY
seen=$(venv/bin/python weigh.py 2>&1); echo "$seen"
[ "$seen" = "0.4.2: weights of 100 people sum to 90, of women to 45" ]
