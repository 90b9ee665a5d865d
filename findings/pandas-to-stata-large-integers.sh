#!/usr/bin/env bash
# pandas 3.1.1: to_stata() writes whole numbers of 2,147,483,621 and more as missing.
#
# Expected: the limit of an account, 2147483647 for "no limit", is itself, or is refused.
# Happens:  int32 columns keep their type, whose 27 largest values mean missing in Stata; nothing is said.
# Seen on 30 November 2026: "3.1.1: 100.0, nan, nan".
# fairgauge reads such cells as missing, and states how many rows lack a value (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check pandas==3.1.1
cat > limits.py <<'PY'
import numpy as np
import pandas as pd

limits = pd.DataFrame({"limit": np.array([100, 2147483621, 2147483646], dtype="int32")})
limits.to_stata("limits.dta", write_index=False)
print(f"{pd.__version__}: " + ", ".join(map(str, pd.read_stata("limits.dta")["limit"])))
PY
seen=$(venv/bin/python -W ignore limits.py); echo "$seen"
[ "$seen" = "3.1.1: 100.0, nan, nan" ]
