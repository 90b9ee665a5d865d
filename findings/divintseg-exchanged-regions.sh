#!/usr/bin/env bash
# divintseg 0.7.0: isolation and exposure of each region are those of another one unless the rows are sorted by region.
#
# Expected: isolation, the share of their own group among those who live in the tract of an average member: 1 in the West, whose tracts are all
#           Black, and .1 in the East, where 10 of 100 are; in whatever order the rows are.
# Happens:  West .1 and East 1: values are sorted by region, and are written next to the regions in the order of the rows.
# Seen on 30 November 2026: "0.7.0: isolation West 0.1, East 1.0; of sorted rows East 0.1, West 1.0; exposure West 0.1, East 0.0"
# fairgauge's numbers do not depend on the order of groups (tests/properties/test_order_of_groups.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check divintseg==0.7.0
cat > regions.py <<'PY'
from importlib.metadata import version

import pandas as pd
from divintseg import exposure, isolation

tracts = pd.DataFrame(
    [["West", "1", 100, 0], ["West", "2", 100, 0], ["East", "3", 10, 90], ["East", "4", 10, 90]],
    columns=["region", "tract", "Black", "White"],
)


def described(found):
    return ", ".join(f"{region} {value:.1f}" for region, value in found.itertuples(index=False))


of_rows, of_sorted = (
    described(isolation(rows, "Black", by="region", over="tract")) for rows in (tracts, tracts.sort_values("region"))
)
to_white = described(exposure(tracts, "Black", by="region", over="tract"))
print(f"{version('divintseg')}: isolation {of_rows}; of sorted rows {of_sorted}; exposure {to_white}")
PY
seen=$(venv/bin/python regions.py); echo "$seen"
[ "$seen" = "0.7.0: isolation West 0.1, East 1.0; of sorted rows East 0.1, West 1.0; exposure West 0.1, East 0.0" ]
