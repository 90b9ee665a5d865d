#!/usr/bin/env bash
# xarray 2026.9.0: in arrays of zarr format 2 every 0 is missing, so that the mean of 0 and 1 is 1.
#
# Expected: decisions of 0, 1, 0 and 1 have a mean of .5.
# Happens:  zarr's fill value, 0 unless another is given, is read as the mark of missing values.
# Seen on 30 November 2026: "2026.9.0: 0 of 4 are 0, mean 1.0".
# fairgauge takes frames and columns, in which nan is missing and 0 is not (docs/reference/other-tools.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check xarray==2026.9.0 zarr==3.1.6
cat > zeros.py <<'PY'
import xarray as xr
import zarr

group = zarr.open_group("people.zarr", mode="w", zarr_format=2)
hired = group.create_array("hired", shape=(4,), dtype="i8", fill_value=0)
hired[:] = [0, 1, 0, 1]
hired.attrs["_ARRAY_DIMENSIONS"] = ["person"]
read = xr.open_zarr("people.zarr", consolidated=False)["hired"]
print(f"{xr.__version__}: {int((read == 0).sum())} of 4 are 0, mean {float(read.mean())}")
PY
seen=$(venv/bin/python -W ignore zeros.py); echo "$seen"
[ "$seen" = "2026.9.0: 0 of 4 are 0, mean 1.0" ]
