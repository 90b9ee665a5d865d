#!/usr/bin/env bash
# pyreadstat 1.3.8: of a SAS transport file (XPT, version 5) with two data sets, the second's cells are rows of the first.
#
# Expected: the format holds several data sets, each with a header of its own: the 60 people of the first are read, or the file is refused.
# Happens:  reading goes on to the end of the file: 136 rows, of which 76 are headers and visits taken for people; of version 8, which states a number of rows, 60 are read.
# Seen on 1 December 2026: "1.3.8: 60 people, rows of version 5: 136, of version 8: 60".
# fairgauge refuses both, and asks for a file of each (tests/unit/scan/test_files_that_people_have.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check pandas==2.3.3 pyreadstat==1.3.8
cat > people.py <<'PY'
import pandas as pd
import pyreadstat

people = pd.DataFrame({"sex": ["F", "M"] * 30, "hired": [0.0, 1.0] * 30})
visits = pd.DataFrame({"visit": [1.0, 2.0]})
seen = {}
for version in (5, 8):
    parts = []
    for name, rows in (("PEOPLE", people), ("VISITS", visits)):
        pyreadstat.write_xport(rows, "a.xpt", table_name=name, file_format_version=version)
        with open("a.xpt", "rb") as file:
            parts.append(file.read())
    second = parts[1].index(b"HEADER RECORD*******MEMB")  # what is before it is the library's
    with open("a.xpt", "wb") as file:
        file.write(parts[0] + parts[1][second:])
    seen[version] = pyreadstat.read_xport("a.xpt", encoding="latin1")[0]
print(f"{pyreadstat.__version__}: {len(people)} people, rows of version 5: {len(seen[5])}, of version 8: {len(seen[8])}")
PY
seen=$(venv/bin/python -W ignore people.py); echo "$seen"
[ "$seen" = "1.3.8: 60 people, rows of version 5: 136, of version 8: 60" ]
