"""Measure one piece of work in a fresh process: CPU time, wall time, and memory above the start."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Cost:
    """What a piece of work cost.

    Attributes
    ----------
    cpu, wall : seconds; preparing the input and importing are not counted.
    memory : greatest resident size during the work, above that before it, in bytes.
    answer : what is stated of the answer to the work.
    """

    cpu: float
    wall: float
    memory: int
    answer: str = ""


def timed(work: Any, stated: Any = None) -> dict[str, Any]:
    """Run work in this process and return what it cost; ``stated`` makes a text of its answer."""
    peak, stop = [_resident()], threading.Event()

    def watch() -> None:
        while not stop.wait(max(0.002, (time.perf_counter() - wall) / 1_000)):  # costs CPU itself
            peak.append(max(peak[-1], _resident()))

    watcher = threading.Thread(target=watch, daemon=True)
    before = _resident()
    cpu, wall = time.process_time(), time.perf_counter()
    watcher.start()
    answer = work()
    cost = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    stop.set()
    watcher.join()
    memory = max(peak[-1], _resident()) - before
    return {**cost, "memory": memory, "answer": stated(answer) if stated else ""}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


def fresh(command: list[str], *, environment: dict[str, str] | None = None) -> Cost:
    """Run a command that prints a cost as its last line."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")} | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command} failed:\n{done.stderr[-2_000:]}")
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def ours(name: str, *arguments: object, source: Path = ROOT / "src") -> Cost:
    """Measure a piece of fairgauge's work, as the source in a folder does it."""
    command = [sys.executable, "-m", "bench.measure", name, *map(str, arguments)]
    return fresh(command, environment={"PYTHONPATH": str(source)})


def whole(command: list[str], environment: dict[str, str] | None = None) -> Cost:
    """Measure a whole process, its start included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    more = os.environ | (environment or {})
    more.pop("PYTHONDONTWRITEBYTECODE", None)  # who installed it has its bytecode
    subprocess.run(command, cwd=ROOT, env=more, capture_output=True, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall, 0)


def best(costs: list[Cost]) -> Cost:
    """Return the least of several measurements: what disturbs a machine only adds."""
    cpu, wall, memory = (min(getattr(c, of) for c in costs) for of in ("cpu", "wall", "memory"))
    return Cost(cpu, wall, memory, costs[0].answer)


if __name__ == "__main__":
    from bench.work import ANSWERS, WORK

    numbers = [int(each) if each.isdigit() else each for each in sys.argv[2:]]
    stated = ANSWERS.get(sys.argv[1])
    print(json.dumps(timed(WORK[sys.argv[1]](*numbers), stated)))
