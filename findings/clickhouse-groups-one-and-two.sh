#!/usr/bin/env bash
# chdb 4.4.0 (ClickHouse): tests of two groups take 0 for the first and every other number for the second; groups 1 and 2 are one sample.
#
# Expected: groups coded 1 and 2, as sex is in most statistics, are compared as 0 and 1 are, or refused.
# Happens:  both are the second sample: meanZTest and welchTTest answer nan, and the Z test a statistic of nan with p = 0.
# Seen on 1 December 2026: "4.4.0: 0 and 1: z -4.90, t -4.90; 1 and 2: z nan (p 0), t nan; 0, 1 and 2: t -4.90"
# fairgauge compares groups by whatever they are called (tests/properties/test_renaming.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check chdb==4.4.0
cat > tests.py <<'PY'
import chdb


def tested(test: str, *groups: int) -> list[float]:
    rows = ",".join(f"({pay},{group})" for pay, group in zip((1, 2, 3, 5, 6, 7), groups, strict=True))
    answer = str(chdb.query(f"SELECT {test}(pay, sex) FROM values('pay Float64, sex UInt8', {rows})", "CSV"))
    return [float(value) for value in answer.split(",")]


zero, one = (0, 0, 0, 1, 1, 1), (1, 1, 1, 2, 2, 2)
z = "meanZTest(1., 1., 0.95)"
print(f"{chdb.__version__}: 0 and 1: z {tested(z, *zero)[0]:.2f}, t {tested('welchTTest', *zero)[0]:.2f}; "
      f"1 and 2: z {tested(z, *one)[0]} (p {tested(z, *one)[1]:.0f}), t {tested('welchTTest', *one)[0]}; "
      f"0, 1 and 2: t {tested('welchTTest', 0, 0, 0, 1, 1, 2)[0]:.2f}")
PY
seen=$(venv/bin/python -W ignore tests.py); echo "$seen"
[ "$seen" = "4.4.0: 0 and 1: z -4.90, t -4.90; 1 and 2: z nan (p 0), t nan; 0, 1 and 2: t -4.90" ]
