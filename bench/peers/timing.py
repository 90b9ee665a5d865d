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


def report(work):
    """Time work and print what it cost."""
    peak, stop = [_resident()], threading.Event()

    def watch():
        while not stop.wait(0.002):
            peak.append(max(peak[-1], _resident()))

    before = _resident()
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    cost = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    stop.set()
    watcher.join()
    print(json.dumps(dict(cost, memory=max(peak[-1], _resident()) - before)))
