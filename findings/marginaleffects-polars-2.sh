#!/usr/bin/env bash
# marginaleffects 0.6.0 as pip installs it today, with polars 2.1.0, compares no groups: text columns are refused, and categorical ones meet a method that polars 2 removed.
#
# Expected: a logistic regression on sex and department gives the average difference between women and men, adjusted for department.
# Happens:  text: TypeError, "convert to Categorical"; converted: AttributeRemovedError from polars. With polars 1.44 the same lines give the difference.
# Seen on 28 November 2026: "0.6.0 with polars 2.1.0: text TypeError, categories AttributeRemovedError"
# fairgauge averages over people by statsmodels alone (tests/unit/stats/test_regression.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check marginaleffects==0.6.0 polars==2.1.0 pandas==3.1.1 statsmodels==0.15.0
cat > compare.py <<'PY'
from importlib.metadata import version

import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from marginaleffects import avg_comparisons

admitted = [("men", "A", 512, 313), ("women", "A", 89, 19), ("men", "F", 22, 351), ("women", "F", 24, 317)]
rows = [(sex, dept, y) for sex, dept, yes, no in admitted for y, n in ((1, yes), (0, no)) for _ in range(n)]
people = pd.DataFrame(rows, columns=["sex", "dept", "admitted"])


def error(data):
    try:
        model = smf.glm("admitted ~ sex + dept", data, family=sm.families.Binomial()).fit()
        return avg_comparisons(model, variables="sex")
    except Exception as raised:
        return type(raised).__name__


text, categories = error(people), error(people.astype({"sex": "category", "dept": "category"}))
print(f"{version('marginaleffects')} with polars {version('polars')}: text {text}, categories {categories}")
PY
seen=$(venv/bin/python compare.py); echo "$seen"
[ "$seen" = "0.6.0 with polars 2.1.0: text TypeError, categories AttributeRemovedError" ]
