#!/usr/bin/env bash
# chdb 4.4.0: proportionsZTest() of 0 of 1,000 and 5 of 1,000 is nan, and rankCorr() of two independent columns of 0 and 1 is .25.
#
# Expected: p is about .025; a rank correlation of 0, as half of either half is 1.
# Happens:  the unpooled variance of the first share is 0; ties are not given their mean rank.
# Seen on 30 November 2026: "4.4.0: nan,nan,nan,nan; 0.25".
# fairgauge compares shares of 0 (Newcombe), and ranks with ties (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check chdb==4.4.0
cat > tests.py <<'PY'
import chdb

test = "SELECT proportionsZTest(0, 5, 1000, 1000, 0.95, 'unpooled')"
ranks = "SELECT round(rankCorr(a, b), 3) FROM (SELECT number % 2 AS a, intDiv(number, 2) % 2 AS b FROM numbers(400))"
found = [str(chdb.query(query, "CSV")).strip() for query in (test, ranks)]
print(f"{chdb.__version__}: {'; '.join(found)}")
PY
seen=$(venv/bin/python -W ignore tests.py); echo "$seen"
[ "$seen" = "4.4.0: nan,nan,nan,nan; 0.25" ]
