#!/usr/bin/env bash
# pyreadstat 1.3.8: a data set of SAS with a catalogue of labels is not read as columns.
#
# Expected: read_sas7bdat(..., catalog_file=..., output_format="dict") gives the columns, as it does without a catalogue.
# Happens:  an error about an "Unsupported dataframe type"; as a frame of pandas both files are read.
# Seen on 1 December 2026: "1.3.8: without a catalogue [2.0, 1.0], with one Unsupported dataframe type, got: <class 'collections.OrderedDict'>".
# fairgauge reads the catalogue by itself (tests/unit/scan/test_files_that_people_have.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check pandas==3.1.1 pyreadstat==1.3.8
cat > read.py <<'PY'
from base64 import b85decode
from zlib import decompress

import pandas as pd
import pyreadstat

# a catalogue whose format SEXF names 1 Female and 2 Mäle, written by ReadStat
CATALOGUE = (
    "c-pJD_4b0TcXXfx!-L{p(Yqo>JHAdj7xzxl?1tf$B^-hWXCGWEGEr&EU6<?U-d?&i|ABo$fsm_a-?}_m?zu957}auv"
    "FR#vYyi+4*v1gC`_r2}HhqgYJe}Db^D&uta`Ra$SWd5=ET~W0xj(cmAk=W#T<*Nc(C*!|XeOe;7>gt5BNeAaGid^z`"
    "sbBWSo4I0Z^Q^pn^grMG-dbD#(&zP)=YQM2-<191u?OdUJtg#~&QJYWBR741nc4l^w>(#0N1oYSqj$`0-q9IHKkb^^"
    "dhGPEKc)Bnzn{*(UY|YvO0D}neg^7*2XbplyRO#B{GaQ8zw&a|aTbOF1P$!3f7|bN&0ahAThBZR?W4cVtG(ZTSaip?"
    "ZI}Dfmz@{xRs4Q+_SpPGi#OD4vYx_BnPoN-;Y)q(y#bxwod*"
)
rows = pd.DataFrame({"sex": [2.0, 1.0]})
pyreadstat.write_sas7bdat(rows, "a.sas7bdat", variable_format={"sex": "SEXF"})
with open("a.sas7bcat", "wb") as file:
    file.write(decompress(decompress(b85decode(CATALOGUE))))
found = list(pyreadstat.read_sas7bdat("a.sas7bdat", output_format="dict")[0]["sex"])
try:
    named = pyreadstat.read_sas7bdat("a.sas7bdat", catalog_file="a.sas7bcat", output_format="dict")
    error = list(named[0]["sex"])
except Exception as raised:
    error = raised
print(f"{pyreadstat.__version__}: without a catalogue {[*map(float, found)]}, with one {error}")
PY
seen=$(venv/bin/python -W ignore read.py); echo "$seen"
[ "$seen" = "1.3.8: without a catalogue [2.0, 1.0], with one Unsupported dataframe type, got: <class 'collections.OrderedDict'>" ]
