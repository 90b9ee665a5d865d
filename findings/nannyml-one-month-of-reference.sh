#!/usr/bin/env bash
# nannyml 0.13.1: with one month of reference, both limits are its own value, and every later month is an alert, by monthly chunks.
#
# Expected: limits that allow for the chance of a month of 300 people, or an error: one month shows no spread between months.
# Happens:  limits are three standard deviations of the chunks of the reference, which of one chunk is 0.
# Seen on 1 December 2026: "0.13.1: accuracy 0.90 to 0.90; alerts in 3 of 3 months of 0.91, 0.89, 0.91"
# fairgauge's monitor allows for the sampling variation of every period (docs/monitoring.md).
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install --quiet --disable-pip-version-check nannyml==0.13.1 statsmodels==0.14.6
cat > months.py <<'PY'
from importlib.metadata import version

import nannyml
import pandas as pd


def month(number: int, right: int) -> pd.DataFrame:
    decided = [1, 0] * 150
    days = pd.date_range(f"2026-{number:02d}-01", periods=300, freq="2h")
    outcome = [y if row < right else 1 - y for row, y in enumerate(decided)]
    return pd.DataFrame({"day": days, "decided": decided, "probability": decided, "outcome": outcome})


calculator = nannyml.PerformanceCalculator(
    y_true="outcome", y_pred="decided", y_pred_proba="probability", metrics=["accuracy"],
    problem_type="classification_binary", timestamp_column_name="day", chunk_period="M",
)
calculator.fit(month(1, 270))
later = pd.concat([month(2, 273), month(3, 267), month(4, 272)])
found = calculator.calculate(later).filter(period="analysis").to_df()["accuracy"]
low, high = found["lower_threshold"].iloc[0], found["upper_threshold"].iloc[0]
months = ", ".join(f"{value:.2f}" for value in found["value"])
print(f"{version('nannyml')}: accuracy {low:.2f} to {high:.2f}; alerts in {found['alert'].sum()} of {len(found)} months of {months}")
PY
seen=$(venv/bin/python -W ignore months.py 2>/dev/null | tail -n 1); echo "$seen"
[ "$seen" = "0.13.1: accuracy 0.90 to 0.90; alerts in 3 of 3 months of 0.91, 0.89, 0.91" ]
