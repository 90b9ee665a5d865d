#!/usr/bin/env bash
# fairbench 0.9.6: "the maximum difference from the largest group (the whole population if included)" is the largest one between any two groups.
#
# Expected: rates of .50, .75 and .30, and .514 of the whole population: the largest difference from it is .75 - .514 = .236.
# Happens:  .450, between two groups, as maxdiff states too. The relative difference next to it is of the population: 1 - .30 / .514 = .416.
#           Likewise "the geometric mean of tpr and tnr" is that of precision and recall: .500 where it is .577.
# Seen on 30 November 2026: "0.9.6: from the population .236, stated 0.450, relative 0.416; rates .500 and .667, their geometric mean stated as 0.500"
# fairgauge compares a group with the reference that it names (tests/properties/test_one_reference.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fairbench==0.9.6
cat > population.py <<'PY'
from importlib.metadata import version

import fairbench as fb
import numpy as np

selected_of = {"White": (200, 400), "Asian": (45, 60), "Black": (12, 40)}
group = np.repeat(list(selected_of), [n for _, n in selected_of.values()])
selected = np.concatenate([np.arange(n) < k for k, n in selected_of.values()]).astype(int)
report = fb.reports.vsall(predictions=selected, labels=selected, sensitive=fb.Dimensions(fb.categories @ group))
# of 4 positives 2 are found, of 6 negatives 4
found, true = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0]), np.array([1, 1, 0, 0, 1, 1, 0, 0, 0, 0])
mean = float(fb.measures.gmi(predictions=found, labels=true))
print(f"{version('fairbench')}: from the population .236, stated {float(report.largestmaxdiff.pr):.3f}, relative {float(report.largestmaxrel.pr):.3f}; "
      f"rates .500 and .667, their geometric mean stated as {mean:.3f}")
PY
seen=$(venv/bin/python population.py 2>/dev/null | tail -1); echo "$seen"
[ "$seen" = "0.9.6: from the population .236, stated 0.450, relative 0.416; rates .500 and .667, their geometric mean stated as 0.500" ]
