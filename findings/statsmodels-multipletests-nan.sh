#!/usr/bin/env bash
# statsmodels 0.15.0: multipletests() with one undefined p-value: Holm and Bonferroni count it as a test, Benjamini-Hochberg and Hommel lose every result.
#
# Expected: a comparison without a p-value (too few people) is left out, as R's p.adjust does: the others are adjusted as if it were not there.
# Happens:  the length of the list is the number of tests, and NaN is carried into minima: holm gives 0.03 and 0.08 where 0.02 and 0.04 are right, fdr_bh and hommel give NaN for all, none is rejected.
# Seen on 28 November 2026: "0.15.0: holm 0.03 0.08 nan; bonferroni 0.03 0.12 nan; fdr_bh nan nan nan; hommel nan nan nan".
# fairgauge adjusts the p-values that there are, and states how many (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check statsmodels==0.15.0 pandas==3.1.1
cat > adjust.py <<'PY'
import numpy as np
import statsmodels
from statsmodels.stats.multitest import multipletests

found = {m: multipletests([0.01, 0.04, np.nan], method=m)[1] for m in ("holm", "bonferroni", "fdr_bh", "hommel")}
print(f"{statsmodels.__version__}: " + "; ".join(f"{m} " + " ".join(f"{p:.3g}" for p in values) for m, values in found.items()))
PY
seen=$(venv/bin/python -W ignore adjust.py); echo "$seen"
[ "$seen" = "0.15.0: holm 0.03 0.08 nan; bonferroni 0.03 0.12 nan; fdr_bh nan nan nan; hommel nan nan nan" ]
