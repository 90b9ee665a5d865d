#!/usr/bin/env bash
# aedt-audit 0.3.0: a category at exactly four fifths of the highest rate is flagged as adversely affected, and its own row states that no selection is missing.
#
# Expected: 12 of 20 women and 15 of 20 men are .60 and .75, a ratio of exactly .8; "less than four-fifths" (29 CFR 1607.4(D)) is false.
# Happens:  the flag compares the quotient of two rounded rates, .7999999999999999, with .8; selections_to_four_fifths counts in whole numbers and is 0.
# Seen on 28 November 2026: "0.3.0: women 12 of 20, men 15 of 20: ratio 0.8, flagged True, selections to four fifths 0"
# fairgauge lets a value that only rounding puts outside a limit meet it (tests/unit/measure/test_decide_verdicts.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check aedt-audit==0.3.0
cat > flag.py <<'PY'
from importlib.metadata import version

import aedt_audit
import pandas as pd

rows = [("women", i < 12) for i in range(20)] + [("men", i < 15) for i in range(20)]
rates = aedt_audit.selection_rates(pd.DataFrame(rows, columns=["sex", "hired"]), by=["sex"], outcome="hired")
table = aedt_audit.significance(aedt_audit.four_fifths(rates)).set_index("sex").loc["women"]
print(f"{version('aedt-audit')}: women 12 of 20, men 15 of 20: ratio {table.impact_ratio:.10g}, "
      f"flagged {table.adverse_impact_eeoc}, selections to four fifths {table.selections_to_four_fifths}")
PY
seen=$(venv/bin/python flag.py); echo "$seen"
[ "$seen" = "0.3.0: women 12 of 20, men 15 of 20: ratio 0.8, flagged True, selections to four fifths 0" ]
