"""The clock of the peers' scripts: no library but the standard one and pandas."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def people(path):
    """Read race as shared text objects, label and prediction as whole numbers."""
    import numpy as np
    import pandas as pd

    frame = pd.read_csv(path, usecols=["race", "label", "prediction"])
    codes, names = pd.factorize(frame["race"])
    frame["race"] = pd.Series(np.array(names.tolist(), dtype=object)[codes], dtype=object)
    return frame


def _resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def from_rates(rates, sizes):
    """Return by how much the rate of each group exceeds that of all others."""
    positives, rows = sum(rates[g] * sizes[g] for g in rates), sum(sizes.values())
    return {g: rates[g] - (positives - rates[g] * sizes[g]) / (rows - sizes[g]) for g in rates}


def report(work, differences):
    """Time work and print what it cost, and the differences in selection rates that it found."""
    peak, stop = [_resident()], threading.Event()

    def watch():
        while not stop.wait(0.002):
            peak.append(max(peak[-1], _resident()))

    before = _resident()
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    cpu, wall = time.process_time(), time.perf_counter()
    answer = work()
    cost = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    stop.set()
    watcher.join()
    found = {group: float(value) for group, value in differences(answer).items()}
    memory = max(peak[-1], _resident()) - before
    print(json.dumps(dict(cost, memory=memory, answer=json.dumps(found))))
