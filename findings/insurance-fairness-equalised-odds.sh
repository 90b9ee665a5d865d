#!/usr/bin/env bash
# insurance-fairness 1.2.2: equalised odds are of true positive rates alone; mean prices are compared by their geometric means.
#
# Expected: equalised odds, which its docstring defines by true and false positive rates, are red where false ones are .5 and .1; a ratio of mean
#           prices, as its docstring says, is 1 where both groups pay 500 on average.
# Happens:  equalised odds have a disparity of 0 and are green; the ratio is 1.67 and red, since one group pays 100 or 900.
# Seen on 29 November 2026: "1.2.2: false positive rates .5 and .1, disparity 0.00, green; mean prices 500 and 500, ratio 1.67, red"
# fairgauge: worst_odds is the larger of the differences in true and in false positive rates; a ratio of means is of arithmetic means.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check insurance-fairness==1.2.2
cat > odds.py <<'PY'
from importlib.metadata import version

import polars as pl
from insurance_fairness.bias_metrics import demographic_parity_ratio, equalised_odds

cells = {"F": (80, 20, 50, 50), "M": (80, 20, 10, 90)}
rows = [(sex, claim, score) for sex, times in cells.items()
        for (claim, score), n in zip(((1, 0.9), (1, 0.1), (0, 0.9), (0, 0.1)), times) for _ in range(n)]
scored = pl.DataFrame(rows, schema=["sex", "claim", "score"], orient="row")
odds = equalised_odds(scored, "sex", "score", "claim", binary_threshold=0.5)
priced = pl.DataFrame({"sex": ["F"] * 100 + ["M"] * 100, "price": [100.0, 900.0] * 50 + [500.0] * 100})
paid = demographic_parity_ratio(priced, "sex", "price")
print(f"{version('insurance-fairness')}: false positive rates .5 and .1, disparity {odds.max_tpr_disparity:.2f}, {odds.rag}; "
      f"mean prices 500 and 500, ratio {paid.ratio:.2f}, {paid.rag}")
PY
seen=$(venv/bin/python odds.py 2>/dev/null); echo "$seen"
[ "$seen" = "1.2.2: false positive rates .5 and .1, disparity 0.00, green; mean prices 500 and 500, ratio 1.67, red" ]
