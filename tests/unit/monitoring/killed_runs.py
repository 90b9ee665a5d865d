"""Kills ``fairgauge monitor run`` many times; a process of its own, as it forks.

The command runs once in full, and every other run is a fork of that. For every line of the code
that writes files, or every other one, a run that adds counts kills itself (kill -9) before it; ten
more count rows and end at a random moment of their CPU time, by a signal that nothing handles.
After each, nothing that was there is lost or half-written, and the same command again goes on.
``killed_runs.py FOLDER``
"""

import contextlib
import json
import os
import random
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import fairgauge as fg
from fairgauge.cli import main

LINES, MOMENTS, LONGEST, DAYS = 90, 3, 0.2, 3
"""Lines of a run that write, random moments, the CPU seconds of a run, and days of other counts."""
ADDED = (0, 3 << 8)
"""The statuses of a run that is not killed: one of few days is given again and again, no pass."""
STEP = 1 if os.environ.get("FAIRGAUGE_TESTS") == "all" else 9
"""One in so many of these lines is tried."""
WRITING = (
    "create", "replace", "create_whole", "replace_whole", "write_all", "_write_temporary",
    "make_locked", "_name_exclusively", "_make_names_last",
)  # fmt: skip
FILES = ("monitoring/_store.py", "fairgauge/atomic_files.py")
"""The functions that write files, and where they are."""
CONFIG = """
label = "approved"
prediction = "predicted"
positive = 1
sensitive = "sex"
reference = "largest"
[[monitor.rules]]
metric = "selection_rate.difference"
between = [-0.5, 0.5]
"""


def write_rows(path: Path, seed: int) -> None:
    """Write the rows of a day."""
    draw = random.Random(seed)
    rows = [f"{sex},{draw.randint(0, 1)},{draw.randint(0, 1)}" for sex in "F" * 30 + "M" * 60]
    path.write_text("\n".join(["sex,approved,predicted", *rows]) + "\n", encoding="utf-8")


def add_day(folder: Path, day: int, kind: str = "cube.json", history: str = "history") -> list[str]:
    """Return the command that adds a day, from its counts or its rows."""
    period = f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}"
    return [
        "monitor", "run", f"{folder}/{history}", f"{folder}/{day % DAYS}.{kind}", "--quiet",
        "--period", period, "-c", f"{folder}/monitor.toml", "-o", f"{folder}/m.prom",
    ]  # fmt: skip


def fork(command: list[str], *, seconds: float = 0, line: int = 0) -> int:
    """Run a command in a fork, killed after so much CPU time or before a line; its status."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    left = line

    def in_call(frame: FrameType, _event: str, _arg: object) -> Callable[..., object] | None:
        code = frame.f_code
        writes = code.co_name in WRITING and code.co_filename.endswith(FILES)
        return at_line if writes else None

    def at_line(_frame: FrameType, event: str, _arg: object) -> Callable[..., object]:
        nonlocal left
        left -= event == "line"
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return at_line

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if line:
        sys.settrace(in_call)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        main(command)
    except SystemExit as end:
        os._exit(int(end.code or 0))
    os._exit(99)


def check_whole(folder: Path, before: dict[str, bytes]) -> dict[str, bytes]:
    """Check what a killed run left: all that was there, and nothing half-written; the counts."""
    history = fg.History(folder / "history")
    for path in (folder / "history").glob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    metrics = folder / "m.prom"
    assert not metrics.exists() or metrics.read_text(encoding="utf-8").endswith("# EOF\n")
    files = sorted((folder / "history").glob("period=*/counts.cube.json"))
    held = {path.parent.name.removeprefix("period="): path.read_bytes() for path in files}
    assert before.items() <= held.items(), "a period was lost, or changed"
    assert not held or history.spec is not None, "periods without what was asked"
    for period in history.periods[len(before) :]:
        history.cube(period)
    return held


def kill_runs(folder: Path) -> None:
    """Kill runs, each of the first day that is not there; compare with days never killed."""
    draw = random.Random(5)
    (folder / "monitor.toml").write_text(CONFIG, encoding="utf-8")
    for day in range(DAYS):
        write_rows(folder / f"{day}.csv", day)
        counts = ["count", f"{folder}/{day}.csv", "-c", f"{folder}/monitor.toml"]
        assert fork([*counts, "-o", f"{folder}/{day}.cube.json"]) == 0
    with contextlib.suppress(SystemExit):  # what a run imports, is imported before the forks
        main(add_day(folder, 0, history="other"))
    held: dict[str, bytes] = {}
    lines = range(1, LINES, STEP)
    for line in draw.sample(lines, len(lines)):
        status = fork(add_day(folder, len(held)), line=line)
        assert os.WIFSIGNALED(status) or status in ADDED, status
        held = check_whole(folder, held)
    for _ in range(MOMENTS):
        status = fork(add_day(folder, len(held), "csv"), seconds=draw.uniform(0.001, LONGEST))
        assert os.WIFSIGNALED(status) or status in ADDED, status
        held = check_whole(folder, held)
    assert fork(add_day(folder, len(held))) in ADDED
    held = check_whole(folder, held)
    assert [*folder.rglob(".*")] == [], "the last run did not remove what those killed left"
    days = {name: fg.load(folder / f"{i % DAYS}.cube.json") for i, name in enumerate(held)}
    left, whole = fg.monitor(folder / "history"), fg.monitor(days, folder / "monitor.toml")
    assert left.comparisons == whole.comparisons, "what killed runs left changes what is decided"


if __name__ == "__main__":
    kill_runs(Path(sys.argv[1]))
