#!/usr/bin/env bash
# marginaleffects 0.6.0: the p-value of an average ratio tests 0, which no ratio has.
#
# Expected: a ratio of 1.05 (.93 to 1.17) does not differ from 1: p is about .4.
# Happens:  the estimate is divided by its standard error: z = 17, p = 0 next to an interval that holds 1.
# Seen on 30 November 2026: "0.6.0: ratio 1.05, 95 % CI 0.93 to 1.17, p 0".
# fairgauge p-values agree with the intervals next to them (tests/properties/test_interval_properties.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check marginaleffects==0.6.0 statsmodels==0.15.0 pandas==3.1.1 'polars<2'
cat > ratio.py <<'PY'
from importlib.metadata import version

import marginaleffects
import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

draw, n = np.random.default_rng(0), 1000
people = pd.DataFrame({"woman": draw.integers(0, 2, n), "skill": draw.normal(size=n)})
people["hired"] = (draw.random(n) < 0.5).astype(int)
fit = smf.logit("hired ~ woman + skill", people).fit(disp=0)
(row,) = marginaleffects.avg_comparisons(fit, variables="woman", comparison="ratio").to_dicts()
ends = f"{row['conf_low']:.2f} to {row['conf_high']:.2f}"
print(f"{version('marginaleffects')}: ratio {row['estimate']:.2f}, 95 % CI {ends}, p {row['p_value']:.2g}")
PY
seen=$(venv/bin/python -W ignore ratio.py); echo "$seen"
[ "$seen" = "0.6.0: ratio 1.05, 95 % CI 0.93 to 1.17, p 0" ]
