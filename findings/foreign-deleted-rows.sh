#!/usr/bin/env bash
# R's foreign 0.8-84: read.dbf() reads rows that are marked as deleted, which dBase, dbfread and GDAL skip.
#
# Expected: the share of those who are in the file: 2 of 3 (dbfread 2.0.7).
# Happens:  the mark before each row is not looked at: somebody who withdrew is counted, 2 of 4.
# Seen on 1 December 2026: "foreign 0.8.84: hired 2 of 4; dbfread 2.0.7: 2 of 3"
# fairgauge does not read .dbf and says so. The package of R is Debian's, for an R that is installed.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
apt-get download -qq r-cran-foreign=0.8.84-1 2>/dev/null; dpkg -x r-cran-foreign_*.deb .
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check dbfread==2.0.7
cat > people.py <<'PY'
from importlib.metadata import version
from pathlib import Path

from dbfread import DBF

fields = b"".join(name.ljust(11, b"\0") + kind + bytes(4) + bytes([size]) + bytes(15) for name, kind, size in ((b"SEX", b"C", 1), (b"HIRED", b"N", 1)))
rows = b" F1" b"*F0" b" M1" b" M0"  # the star marks a row as deleted
header = bytes([3, 126, 12, 1]) + (4).to_bytes(4, "little") + (32 + len(fields) + 1).to_bytes(2, "little") + (3).to_bytes(2, "little")
Path("people.dbf").write_bytes(header.ljust(32, b"\0") + fields + b"\r" + rows + b"\x1a")
hired = [row["HIRED"] for row in DBF("people.dbf")]
print(f"dbfread {version('dbfread')}: {sum(hired)} of {len(hired)}")
PY
python=$(venv/bin/python people.py)
r=$(R_LIBS=$folder/usr/lib/R/site-library:$folder/usr/lib/R/library Rscript -e '
library(foreign)
hired <- read.dbf("people.dbf")$HIRED
cat(sprintf("foreign %s: hired %d of %d", packageVersion("foreign"), sum(hired), length(hired)))')
seen="$r; $python"; echo "$seen"
[ "$seen" = "foreign 0.8.84: hired 2 of 4; dbfread 2.0.7: 2 of 3" ]
