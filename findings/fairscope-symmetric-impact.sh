#!/usr/bin/env bash
# fairscope 0.3.0: "disparate impact" of a lending audit is the smaller of both quotients, so that the group that is approved most often is reported as the largest gap.
#
# Expected: a disparate impact of .5 belongs to a group that is approved half as often as the reference (29 CFR 1607.4(D), Clarify's DI).
# Happens:  80 of 100 Asian, 40 of 100 White (the reference) and 30 of 100 Black applicants are approved: .50 for Asian, .75 for Black applicants, and the summary names the former.
# Seen on 28 November 2026: "0.3.0: Asian 0.50, Black 0.75, White 1.00; largest gap: Asian in 2025 DI=0.500 (approval 0.800)"
# fairgauge's ratios keep their direction: 2.0 and .75 (tests/properties/test_mirror.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check fairscope==0.3.0
cat > gap.py <<'PY'
from importlib.metadata import version

import numpy as np
from fairscope.lending import LendingFairnessAudit

approved_of_100 = {"White": 40, "Asian": 80, "Black": 30}
group = np.repeat(list(approved_of_100), 100)
approved = np.concatenate([np.arange(100) < n for n in approved_of_100.values()]).astype(int)
report = LendingFairnessAudit.from_outcomes(approved, group, np.full(300, 2025), reference="White").run()
ratios = ", ".join(f"{row.group} {row.disparate_impact:.2f}" for row in report.to_dataframe().itertuples())
print(f"{version('fairscope')}: {ratios}; {report.summary().splitlines()[-1]}")
PY
seen=$(venv/bin/python gap.py); echo "$seen"
[ "$seen" = "0.3.0: Asian 0.50, Black 0.75, White 1.00; largest gap: Asian in 2025 DI=0.500 (approval 0.800)" ]
