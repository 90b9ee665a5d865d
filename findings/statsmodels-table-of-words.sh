#!/usr/bin/env bash
# statsmodels 0.15.0: Table2x2.from_data() of two columns of words makes a table of 4 by 4; a zero cell is shifted alone.
#
# Expected: women and men by hired, yes and no, are a table of 2 by 2; shift_zeros adds 0.5 to all cells, as its documentation says.
# Happens:  the names of both columns become rows and columns of one table, and the risk ratio is 1; 0.5 is added to the empty cell alone: odds ratio .075 where .0736 is of all four cells.
# Seen on 30 November 2026: "0.15.0: 4 by 4, risk ratio 1.0; shifted [[0.5, 20.0], [5.0, 15.0]]".
# fairgauge counts words by their columns, and its odds ratios need no correction (docs/coverage.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check statsmodels==0.15.0 pandas==3.1.1
cat > tables.py <<'PY'
import numpy as np
import pandas as pd
import statsmodels
from statsmodels.stats.contingency_tables import Table2x2

hired = ["yes"] * 30 + ["no"] * 70 + ["yes"] * 60 + ["no"] * 40
people = pd.DataFrame({"sex": ["F"] * 100 + ["M"] * 100, "hired": hired})
table = Table2x2.from_data(people)
rows, columns = table.table.shape
shifted = Table2x2(np.array([[0.0, 20], [5, 15]])).table.tolist()
print(f"{statsmodels.__version__}: {rows} by {columns}, risk ratio {table.riskratio}; shifted {shifted}")
PY
seen=$(venv/bin/python -W ignore tables.py); echo "$seen"
[ "$seen" = "0.15.0: 4 by 4, risk ratio 1.0; shifted [[0.5, 20.0], [5.0, 15.0]]" ]
