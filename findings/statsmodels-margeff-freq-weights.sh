#!/usr/bin/env bash
# statsmodels 0.15.0: average marginal effects of a GLM with freq_weights are averages over the lines of the table, not over the rows that the weights stand for.
#
# Expected: a table of counts (freq_weights) gives what the rows themselves give: coefficients and standard errors do, and "overall" effects are documented as averages over observations.
# Happens:  get_margeff() takes every line once, so a line of 100 people counts as much as one of 900.
# Seen on 28 November 2026: "0.15.0: coefficients equal True; effects of counts 0.1923 0.2900, of the same 2,000 rows 0.1740 0.2625".
# fairgauge averages over people (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check statsmodels==0.15.0 pandas==3.1.1
cat > effects.py <<'PY'
import numpy as np
import pandas as pd
import statsmodels
import statsmodels.api as sm

lines = []
for g, x, n in ((0, 0, 900), (0, 1, 100), (1, 0, 100), (1, 1, 900)):
    ones = round(n / (1 + np.exp(2 - g - 1.5 * x)))
    lines += [(g, x, 1, ones), (g, x, 0, n - ones)]
table = pd.DataFrame(lines, columns=["g", "x", "y", "n"])
rows = table.loc[table.index.repeat(table.n)]
counts = sm.GLM(table.y, sm.add_constant(table[["g", "x"]]), family=sm.families.Binomial(), freq_weights=table.n).fit()
people = sm.GLM(rows.y, sm.add_constant(rows[["g", "x"]]), family=sm.families.Binomial()).fit()
a, b = ("{:.4f} {:.4f}".format(*fit.get_margeff().margeff) for fit in (counts, people))
equal = np.allclose(counts.params, people.params)
print(f"{statsmodels.__version__}: coefficients equal {equal}; effects of counts {a}, of the same {len(rows):,} rows {b}")
PY
seen=$(venv/bin/python -W ignore effects.py); echo "$seen"
[ "$seen" = "0.15.0: coefficients equal True; effects of counts 0.1923 0.2900, of the same 2,000 rows 0.1740 0.2625" ]
