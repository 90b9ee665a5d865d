"""``python -m bench.report_time``: the CPU time from a cube to its report, for one or many metrics.

``--against CHECKOUT`` measures another checkout of the repository beside this one, in turn, and
gives the ratio of both. Every time is the least of many reports in a process, over processes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairgauge import Cube

_HERE = Path(__file__).resolve().parent.parent
_ONE = "true_positive_rate.difference"
_REPORTS = {_ONE: 40, "standard": 20, "clarify": 20, "all": 10}
"""The reports of which the fastest is taken, by the metrics that are asked for."""
_RACES = (3175, 2103, 509, 31, 11, 343)
"""Defendants of each of six races, about as many as in the COMPAS data."""


def main() -> None:
    """Measure this checkout, beside another one if it is given, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.report_time", description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout of the repository")
    parser.add_argument("--rounds", type=int, default=3, help="processes of each (default 3)")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(_times()))
        return
    checkouts = [path for path in (options.against, _HERE) if path]
    rounds = [[_measured(path) for path in checkouts] for _ in range(options.rounds)]
    for question in rounds[0][0]:
        times = [min(each[i][question][0] for each in rounds) for i in range(len(checkouts))]
        estimates = [rounds[0][i][question][1] for i in range(len(checkouts))]
        ratio = f"  ratio {times[1] / times[0]:.2f}" if options.against else ""
        shown = " -> ".join(f"{t * 1e3:.2f} ms" for t in times)
        made = " -> ".join(f"{n:.0f}" for n in estimates)
        print(f"{question}: {shown}{ratio}  ({made} estimates)")


def _measured(checkout: Path) -> dict[str, tuple[float, float]]:
    """Measure one checkout in a process of its own."""
    environment = os.environ | {"PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{_HERE}"}
    command = [sys.executable, "-m", "bench.report_time", "--here"]
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    measured: dict[str, tuple[float, float]] = json.loads(run.stdout)
    return measured


def _times() -> dict[str, tuple[float, int]]:
    """Return the CPU seconds of every question, and its number of estimates."""
    import fairgauge as fg

    times = {}
    for (name, cube), (metrics, reports) in product(_cubes().items(), _REPORTS.items()):
        asked = {"metrics": metrics}
        made = fg.audit(cube, **asked)  # imports and tables are made once
        seconds = min(_seconds(lambda c=cube, a=asked: fg.audit(c, **a)) for _ in range(reports))
        times[f"{name}, {metrics}"] = seconds, len(made.estimates)
    return times


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _cubes() -> dict[str, Cube]:
    """Return the counts of two groups, and of two features with their intersection."""
    import pandas as pd

    import fairgauge as fg

    two = fg.confusion(
        "sex",
        {
            "Female": {"tp": 20, "fp": 5, "fn": 7, "tn": 18},
            "Male": {"tp": 65, "fp": 10, "fn": 5, "tn": 20},
        },
    )
    shares = {(0, 0): 0.36, (0, 1): 0.18, (1, 0): 0.16, (1, 1): 0.3}
    cells = [
        (race, sex, label, decision, round(n * (0.2, 0.8)[sex] * share * (1 + race * label / 10)))
        for (race, n), sex, ((label, decision), share) in product(
            enumerate(_RACES), (0, 1), shares.items()
        )
    ]
    columns = ["race", "sex", "label", "prediction", "cases"]
    compas = fg.count(
        pd.DataFrame(cells, columns=columns),
        label="label", prediction="prediction", positive=1, count="cases",
        sensitive=["race", "sex"], intersections=[("race", "sex")],
    )  # fmt: skip
    return {"two groups": two, "race and sex": compas}


if __name__ == "__main__":
    main()
