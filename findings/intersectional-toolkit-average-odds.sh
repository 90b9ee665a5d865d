#!/usr/bin/env bash
# intersectional-fairness-toolkit 1.0.0: its average odds difference takes specificity for the false positive rate, so that the sign of that half is turned.
#
# Expected: women and men have the same true positive rate (.5) and false positive rates of .6 and .2: ((.6 - .2) + (.5 - .5)) / 2 = +.2, as its documentation defines it.
# Happens:  counts of true negatives and false positives change places between two of its functions: (.4 - .8) / 2 = -.2. Where both rates are higher for a group, they cancel.
# Seen on 30 November 2026: "1.0.0: average odds difference -0.2; with a true positive rate of 0.9 for women 0.0"
# fairgauge's average odds difference is checked against aif360.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check intersectional-fairness-toolkit==1.0.0
cat > odds.py <<'PY'
from importlib.metadata import version

from fairness.single_metrics import calculate_AOD


def difference(found_of_women):
    label, decision, sex = [], [], []
    for group, found, alarms in (("men", 5, 2), ("women", found_of_women, 6)):
        label += [1] * 10 + [0] * 10
        decision += [1] * found + [0] * (10 - found) + [1] * alarms + [0] * (10 - alarms)
        sex += [group] * 20
    return round(float(calculate_AOD(label, decision, sex, "men")), 6)


print(f"{version('intersectional-fairness-toolkit')}: average odds difference {difference(5)}; "
      f"with a true positive rate of 0.9 for women {difference(9)}")
PY
seen=$(venv/bin/python odds.py); echo "$seen"
[ "$seen" = "1.0.0: average odds difference -0.2; with a true positive rate of 0.9 for women 0.0" ]
