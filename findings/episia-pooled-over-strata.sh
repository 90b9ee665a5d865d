#!/usr/bin/env bash
# episia 0.1.3: of what Mantel and Haenszel pool over strata, the risk ratio is not that of any stratum, the risk difference is above 1, and the interval
# of the odds ratio is too narrow.
#
# Expected: 40 and 20 of 100 are cases in one stratum, 10 and 5 of 100 in the other: a risk ratio of 2 in both, and so 2; a difference
#           between .20 and .05; of one stratum the interval that the package itself gives of its odds ratio.
# Happens:  1.51 and 6.25: rows and columns of the table are exchanged, and the difference is not divided by its weights. The interval of the
#           odds ratio of the first stratum, 1.42 to 5.02 by itself, is 1.63 to 4.35 when it is "pooled".
# Seen on 30 November 2026: "0.1.3: ratios 2.00 and 2.00, pooled 1.51; differences 0.20 and 0.05, pooled 6.25; odds ratio 1.42 to 5.02, pooled 1.63 to 4.35"
# fairgauge's pooled odds ratio is that of R's mantelhaen.test, its pooled difference that of metafor (tests/oracles/test_r.py).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check episia==0.1.3
cat > strata.py <<'PY'
from importlib.metadata import version

from episia.stats.contingency import Table2x2
from episia.stats.stratified import mantel_haenszel_or

# cases among the exposed and among others, then those who are not cases
first, second = Table2x2(40, 20, 60, 80), Table2x2(10, 5, 90, 95)
both, alone, odds = mantel_haenszel_or([first, second]), mantel_haenszel_or([first]), first.odds_ratio()
print(f"{version('episia')}: "
      f"ratios {first.risk_ratio().estimate:.2f} and {second.risk_ratio().estimate:.2f}, pooled {both.common_rr:.2f}; "
      f"differences {first.risk_difference()['estimate']:.2f} and {second.risk_difference()['estimate']:.2f}, pooled {both.common_rd:.2f}; "
      f"odds ratio {odds.ci_lower:.2f} to {odds.ci_upper:.2f}, pooled {alone.or_ci[0]:.2f} to {alone.or_ci[1]:.2f}")
PY
seen=$(venv/bin/python strata.py); echo "$seen"
[ "$seen" = "0.1.3: ratios 2.00 and 2.00, pooled 1.51; differences 0.20 and 0.05, pooled 6.25; odds ratio 1.42 to 5.02, pooled 1.63 to 4.35" ]
