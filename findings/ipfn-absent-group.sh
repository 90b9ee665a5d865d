#!/usr/bin/env bash
# ipfn 1.4.4: weights of a sample that lacks a group of the population "converge", and sum to 90 of 100 people.
#
# Expected: an error: nobody can stand for the 10 oldest people.
# Happens:  the group is passed over, the remaining shares are raised no more, and iteration() reports convergence.
# Seen on 30 November 2026: "1.4.4: converged 1, weights sum to 90".
# fairgauge takes the weights that it is given and states their sum (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check ipfn==1.4.4 pandas==3.1.1 setuptools
cat > rake.py <<'PY'
import contextlib
import io
from importlib.metadata import version

import pandas as pd
from ipfn.ipfn import ipfn

people = pd.DataFrame({"sex": ["F"] * 60 + ["M"] * 40, "age": ["young"] * 30 + ["old"] * 30 + ["young"] * 40})
sex = pd.Series({"F": 50.0, "M": 50.0}).rename_axis("sex")
age = pd.Series({"young": 60.0, "old": 30.0, "oldest": 10.0}).rename_axis("age")
with contextlib.redirect_stdout(io.StringIO()):
    weighted = ipfn(people.assign(total=1.0), [sex, age], [["sex"], ["age"]], verbose=2)
    raked, converged, _ = weighted.iteration()
print(f"{version('ipfn')}: converged {converged}, weights sum to {raked['total'].sum():.0f}")
PY
seen=$(venv/bin/python -W ignore rake.py); echo "$seen"
[ "$seen" = "1.4.4: converged 1, weights sum to 90" ]
