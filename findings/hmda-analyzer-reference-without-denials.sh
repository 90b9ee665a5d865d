#!/usr/bin/env bash
# hmda-analyzer 0.6.1: where no White applicant was denied, no disparity is flagged, however many others were.
#
# Expected: 24 of 40 Black applicants denied and 0 of 80 White ones: the ratio of denial rates is infinite, and the level of disparity "HIGH".
# Happens:  the ratio is None and the level "N/A", as for a group about which nothing is known.
# Seen on 30 November 2026: "0.6.1: denial rates 0.6 and 0.0: N/A; after one denial among White applicants HIGH"
# fairgauge answers infinity with an interval, and fails a rule whose limit is below the interval (here from 9 on).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check hmda-analyzer==0.6.1
cat > denials.py <<'PY'
from importlib.metadata import version

import pandas as pd
from hmdaanalyzer import disparity_ratio


def black_applicants(white_denied):
    cells = [("Black or African American", 24, 16), ("White", white_denied, 80 - white_denied)]
    rows = [(race, 3, 1) for race, denied, _ in cells for _ in range(denied)]
    rows += [(race, 1, 0) for race, _, approved in cells for _ in range(approved)]
    found = disparity_ratio(pd.DataFrame(rows, columns=["derived_race", "action_taken", "is_denied"]))
    return found.set_index("derived_race").loc["Black or African American"]


none, one = black_applicants(0), black_applicants(1)
print(f"{version('hmda-analyzer')}: denial rates {none['denial_rate']} and {none['reference_denial_rate']}: {none['disparity_level']}; "
      f"after one denial among White applicants {one['disparity_level']}")
PY
seen=$(venv/bin/python denials.py); echo "$seen"
[ "$seen" = "0.6.1: denial rates 0.6 and 0.0: N/A; after one denial among White applicants HIGH" ]
