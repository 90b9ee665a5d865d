#!/usr/bin/env bash
# pandas 3.1.1: read_sas() reads every 0 of a SAS transport file as 5.397605346934028e-79.
#
# Expected: an outcome of 0 and 1 is 0 and 1: NHANES, BRFSS and the filings of drug trials are such files (XPT, version 5).
# Happens:  the conversion from IBM's floating point has no case for 0, so that y == 0 is true of nobody, and y > 0 of everybody.
# Seen on 28 November 2026: "3.1.1: of 0, 1, 0, 1 equal to 0: 0, above 0: 4; pyreadstat 1.3.7: equal to 0: 2".
# fairgauge reads these files by pyreadstat (tests/unit/scan/test_files_that_people_have.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check pandas==3.1.1 pyreadstat==1.3.7
cat > read.py <<'PY'
import pandas as pd
import pyreadstat

pyreadstat.write_xport(pd.DataFrame({"Y": [0.0, 1.0, 0.0, 1.0]}), "y.xpt", file_format_version=5)
read = pd.read_sas("y.xpt")["Y"]
other = pyreadstat.read_xport("y.xpt")[0]["Y"]
print(f"{pd.__version__}: of 0, 1, 0, 1 equal to 0: {(read == 0).sum()}, above 0: {(read > 0).sum()}; pyreadstat {pyreadstat.__version__}: equal to 0: {(other == 0).sum()}")
PY
seen=$(venv/bin/python -W ignore read.py); echo "$seen"
[ "$seen" = "3.1.1: of 0, 1, 0, 1 equal to 0: 0, above 0: 4; pyreadstat 1.3.7: equal to 0: 2" ]
