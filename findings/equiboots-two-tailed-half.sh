#!/usr/bin/env bash
# equiboots 0.0.1a14: the two-tailed p-value of its bootstrap test is one-tailed, half of what it should be, so that corrected tests find twice as many gaps by chance.
#
# Expected: recall 400 of 1,000 against 357 and 357 of 1,000: two-tailed p .047 each, .094 after Bonferroni for two groups, not significant at .05.
# Happens:  limits are read from "two_tailed", but the p-value is doubled for "two-tailed" only, a name that the limits refuse: .024 each, .047 corrected, significant.
# Seen on 28 November 2026: "0.0.1a14: of 5,000 draws 118 below 0; corrected p 0.047, significant True"
# fairgauge's p-values are checked against published ones and against their intervals (tests/properties/test_interval_properties.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check equiboots==0.0.1a14
cat > test.py <<'PY'
from importlib.metadata import version

import numpy as np
from equiboots.StatisticalTester import StatisticalTester
from scipy.stats import norm

# the 5,000 quantiles of the gap that the normal law gives, .043 with a standard error of .0217, stand for the draws
gap, error = 0.400 - 0.357, np.sqrt(0.4 * 0.6 / 1000 + 0.357 * 0.643 / 1000)
draws = norm.ppf((np.arange(5000) + 0.5) / 5000, gap, error)
differences = [{"A": {"Recall_diff": d}, "B": {"Recall_diff": d}, "reference": {"Recall_diff": 0.0}} for d in draws]
config = {
    "test_type": "bootstrap_test", "alpha": 0.05, "adjust_method": "bonferroni", "confidence_level": 0.95,
    "classification_task": "binary_classification", "tail_type": "two_tailed", "metrics": ["Recall_diff"],
}
found = StatisticalTester().analyze_metrics([{}], "reference", config, differences=differences)["A"]["Recall_diff"]
print(f"{version('equiboots')}: of {len(draws):,} draws {(draws < 0).sum()} below 0; corrected p {found.p_value:.3f}, significant {found.is_significant}")
PY
seen=$(venv/bin/python test.py); echo "$seen"
[ "$seen" = "0.0.1a14: of 5,000 draws 118 below 0; corrected p 0.047, significant True" ]
