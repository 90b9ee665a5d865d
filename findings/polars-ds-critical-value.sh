#!/usr/bin/env bash
# polars-ds 0.13.0: the "pvalue" of ks_2samp() is the critical value of the statistic.
#
# Expected: two samples of 500 whose means differ by half a standard deviation: p is about 1e-10.
# Happens:  the field is 1.358 times the root of 2/500, whatever the data: .0859, which reads as no difference.
# Seen on 30 November 2026: "0.13.0: statistic 0.214, pvalue 0.0859; of equal samples 0.0859".
# fairgauge p-values of distances are computed from the data (tests/unit/stats/test_distances.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check polars-ds==0.13.0 polars==2.1.0 numpy
cat > scores.py <<'PY'
from importlib.metadata import version

import numpy as np
import polars as pl
import polars_ds as pds

draw = np.random.default_rng(0)
frame = pl.DataFrame({"a": draw.normal(size=500), "b": draw.normal(0.5, 1, 500)})
(found,) = frame.select(pds.ks_2samp("a", "b").alias("ks"))["ks"].to_list()
(same,) = frame.select(pds.ks_2samp("a", "a").alias("ks"))["ks"].to_list()
print(f"{version('polars-ds')}: statistic {found['statistic']:.3f}, pvalue {found['pvalue']:.4f}; of equal samples {same['pvalue']:.4f}")
PY
seen=$(venv/bin/python -W ignore scores.py); echo "$seen"
[ "$seen" = "0.13.0: statistic 0.214, pvalue 0.0859; of equal samples 0.0859" ]
