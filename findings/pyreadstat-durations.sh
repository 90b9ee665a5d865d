#!/usr/bin/env bash
# pyreadstat 1.3.7: durations of SPSS and SAS lose their days, and dates of SAS that are kept as seconds become days.
#
# Expected: 8 and 32 hours in a column of the format DTIME (SPSS) or TIME (SAS) are two values; a moment of the format DTDATE (SAS: seconds since 1960, shown as a date) is its day.
# Happens:  both are datetime.time(8, 0), so that people who waited 8 and 32 hours are one group; 91,800 seconds are read as 91,800 days, 5 May 2211 in place of 2 January 1960.
# Seen on 30 November 2026: "1.3.7: of 8 and 32 hours SPSS ['08:00:00', '08:00:00'], SAS ['08:00:00', '08:00:00']; DTDATE of 91800 seconds 2211-05-05".
# fairgauge reads the numbers, and what the format makes of them (tests/unit/scan/test_files_that_people_have.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check pandas==3.1.1 pyreadstat==1.3.7
cat > read.py <<'PY'
import pandas as pd
import pyreadstat

rows = pd.DataFrame({"wait": [8 * 3600.0, 32 * 3600.0], "day": [91_800.0, 91_800.0]})
pyreadstat.write_sav(rows, "a.sav", variable_format={"wait": "DTIME12"})
pyreadstat.write_xport(rows, "a.xpt", variable_format={"wait": "TIME8.", "day": "DTDATE9."})
spss, sas = pyreadstat.read_sav("a.sav")[0], pyreadstat.read_xport("a.xpt")[0]
waits = [[str(value) for value in frame["wait"]] for frame in (spss, sas)]
print(f"{pyreadstat.__version__}: of 8 and 32 hours SPSS {waits[0]}, SAS {waits[1]}; DTDATE of 91800 seconds {str(sas['day'][0])[:10]}")
PY
seen=$(venv/bin/python -W ignore read.py); echo "$seen"
[ "$seen" = "1.3.7: of 8 and 32 hours SPSS ['08:00:00', '08:00:00'], SAS ['08:00:00', '08:00:00']; DTDATE of 91800 seconds 2211-05-05" ]
