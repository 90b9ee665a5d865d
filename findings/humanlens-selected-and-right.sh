#!/usr/bin/env bash
# humanlens 0.1.5: "SR (Selection Rate)" counts only those selected rightly, so that its four-fifths verdict passes unequal selection and fails equal selection.
#
# Expected: 60 of 100 men and 30 of 100 women selected: rates of .6 and .3, a ratio of .5, Fail (29 CFR 1607.4(D)); 60 of 100 of each: 1, Pass.
# Happens:  the rate is true positives by people. Where 30 of the selected men and all 30 women are good, .3 and .3: ratio 1, Pass. Where 60 of each are selected, 50 and 30 of them good: .6, Fail.
# Seen on 30 November 2026: "0.1.5: selected .60 and .30: rates 0.3 and 0.3, ratio 1.0, Pass; selected .60 and .60: rates 0.5 and 0.3, ratio 0.6, Fail"
# fairgauge's selection rate needs no label (tests/oracles/test_fairlearn_every_frame.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check humanlens==0.1.5
cat > rates.py <<'PY'
from importlib.metadata import version

import humanlens
import pandas as pd


def told(men, women):
    rows = [(sex, int(i < good), int(i < selected)) for sex, (selected, good) in (("men", men), ("women", women)) for i in range(100)]
    people = pd.DataFrame(rows, columns=["sex", "good", "hired"])
    rates = humanlens.get_group_metrics(people, "sex", "good", "hired")["SR (Selection Rate)"]
    [found] = humanlens.run_fairness_audit(people, "good", "hired", ["sex"], suppress_display=True)
    share = " and ".join(f"{selected / 100:.2f}".lstrip("0") for selected, _ in (men, women))
    return f"selected {share}: rates {rates[0]} and {rates[1]}, ratio {found['DI Ratio']}, {found['Fail/Pass 4/5']}"


print(f"{version('humanlens')}: {told((60, 30), (30, 30))}; {told((60, 50), (60, 30))}")
PY
seen=$(venv/bin/python rates.py 2>/dev/null | tail -1); echo "$seen"
[ "$seen" = "0.1.5: selected .60 and .30: rates 0.3 and 0.3, ratio 1.0, Pass; selected .60 and .60: rates 0.5 and 0.3, ratio 0.6, Fail" ]
