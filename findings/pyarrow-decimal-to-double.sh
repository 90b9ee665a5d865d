#!/usr/bin/env bash
# pyarrow 26.0.1: casting a decimal to float64 does not give the nearest double.
#
# Expected: each decimal becomes the double that is nearest to it, as float("0.009") does, so that a score stored as a
#           decimal compares with a threshold as the same score in a CSV file does.
# Happens:  144 of the 1,000 decimals 0.000 to 0.999 become a neighbouring double (0.009 becomes 0.009000000000000001).
# Seen on 28 November 2026: "26.0.1: 144 of 1000 differ, first 0.009 -> 0.009000000000000001"
# fairgauge casts such columns by way of their text (test_scores_that_are_decimals).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check pyarrow==26.0.1
cat > cast.py <<'PY'
from decimal import Decimal
import pyarrow as pa

exact = [Decimal(i).scaleb(-3) for i in range(1000)]
cast = pa.array(exact, pa.decimal128(10, 3)).cast(pa.float64()).to_pylist()
wrong = [(d, x) for d, x in zip(exact, cast) if x != float(d)]
print(f"{pa.__version__}: {len(wrong)} of 1000 differ, first {wrong[0][0]} -> {wrong[0][1]!r}")
PY
seen=$(venv/bin/python cast.py); echo "$seen"
[ "$seen" = "26.0.1: 144 of 1000 differ, first 0.009 -> 0.009000000000000001" ]
