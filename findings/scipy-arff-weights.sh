#!/usr/bin/env bash
# scipy 1.17.1: loadarff() drops the weights of rows, and a missing group is the text "?".
#
# Expected: weights in braces, which the format defines, are read or refused; "?", its mark of a missing value, is missing.
# Happens:  rows of weight 5 and 1 count alike: 1 of 2 instead of 5 of 6 are hired; "?" is a third group.
# Seen on 1 December 2026: "1.17.1: hired .50 of .83, groups ? F M".
# fairgauge does not read .arff and says so (tests/unit/scan/test_input_files.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check scipy==1.17.1
cat > people.arff <<'ARFF'
@relation people
@attribute sex {F,M}
@attribute hired numeric
@data
F,1,{5}
M,0,{1}
?,?
ARFF
cat > people.py <<'PY'
from importlib.metadata import version

import numpy as np
from scipy.io import arff

rows, _ = arff.loadarff("people.arff")
hired = f"{np.nanmean(rows['hired']):.2f}".removeprefix("0")
groups = " ".join(sorted({value.decode() for value in rows["sex"]}))
print(f"{version('scipy')}: hired {hired} of .83, groups {groups}")
PY
seen=$(venv/bin/python -W ignore people.py); echo "$seen"
[ "$seen" = "1.17.1: hired .50 of .83, groups ? F M" ]
