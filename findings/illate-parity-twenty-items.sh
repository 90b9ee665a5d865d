#!/usr/bin/env bash
# illate-parity 0.1.0: a candidate passes a margin of 3 points of accuracy on 20 items, with an interval of no width.
#
# Expected: 20 items answered alike leave room for 14% that differ (the exact 95% bound): inconclusive, as its rule "the interval straddles the margin" says.
# Happens:  a bootstrap of differences that are all 0 has only 0: the interval is 0 to 0, the verdict PASS. Its warning says that small sets give wide intervals.
# Seen on 30 November 2026: "0.1.0: 20 items, difference 0.0, 95% interval 0.0 to 0.0: PASS"
# fairgauge's intervals of paired differences have a width where no row differs; compare-models cannot decide on these 20 rows.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check illate-parity==0.1.0
cat > parity.py <<'PY'
from importlib.metadata import version

from illate_parity.parity import check

items = [{"id": str(number), "label": "yes" if number % 2 else "no"} for number in range(20)]
found = check(items, [dict(item) for item in items], [dict(item) for item in items], margin=0.03)
difference = found["diff"]
print(f"{version('illate-parity')}: {found['n']} items, difference {difference['diff']}, "
      f"95% interval {difference['low']} to {difference['high']}: {found['verdict']}")
PY
seen=$(venv/bin/python parity.py); echo "$seen"
[ "$seen" = "0.1.0: 20 items, difference 0.0, 95% interval 0.0 to 0.0: PASS" ]
