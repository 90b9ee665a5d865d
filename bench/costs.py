"""Costs that do not depend on the machine; `python -m bench.costs` states them in `costs.toml`.

Only calls of fairgauge's own functions count, and no comprehensions: what Python and libraries do
inside theirs differs by version.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import fairgauge as fg
from fairgauge.cli._demo_data import examples
from fairgauge.render import render

FILE = Path(__file__).with_name("costs.toml")
_SOURCE = Path(fg.__file__).parent
_LISTED = 10
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>")
_DECIDED: dict[str, Any] = {"label": "y", "prediction": "p", "positive": 1}
_ASKED = _DECIDED | {"sensitive": "group"}
_RULE = {"metric": "selection_rate.ratio", "at_least": 0.8, "groups": "F"}
_STARTS = {
    "fairgauge --help": "from fairgauge.cli import main; main(['--help'])",
    "import fairgauge": "import fairgauge",
    "audit": "import fairgauge as fg; fg.audit({'g': ['a', 'b'] * 9, 'y': [0, 1, 1] * 6}, "
    "label='y', positive=1, sensitive='g').to_json()",
}


def runs() -> dict[str, Callable[[], Any]]:
    """Return the runs; their rows are made by arithmetic, as random numbers may differ."""
    label = [i * 7_919 % 97 % 2 for i in range(2_000)]
    rows = {
        "group": ["abcde"[i * i % 11 % 5] for i in range(2_000)],
        "other": ["xyz"[i * 31 % 7 % 3] for i in range(2_000)],
        "y": label,
        "p": [int(i * 104_729 % 89 < 30 + 20 * y) for i, y in enumerate(label)],
        "q": [int(i * 15_485 % 83 < 25 + 25 * y) for i, y in enumerate(label)],
    }
    report, both = fg.audit(rows, **_ASKED), ["group", "other"]
    sides = [{"F": {"tp": 30 + i % 7, "fn": 60}, "M": {"tp": 80, "fn": 100}} for i in range(10, 40)]
    days = {f"2026-01-{i - 9:02}": fg.confusion("sex", sides[i - 10]) for i in range(10, 40)}
    followed = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex",
                "monitor": {"rules": [_RULE]}}  # fmt: skip
    return {
        "audit": lambda: fg.audit(rows, **_ASKED, metrics="clarify").to_dict(),
        "why": lambda: fg.why(rows, **_ASKED, controls=["other"]).to_dict(),
        "find": lambda: fg.find(rows, **_DECIDED, features=both, rate="selection_rate").to_dict(),
        "compare-models": lambda: fg.compare_models(rows, **_ASKED, candidate="q").to_dict(),
        "monitor run": lambda: fg.monitor(days, followed).to_dict(),
        "HTML report": lambda: render(report, "html"),
    }


def calls(run: Callable[[], Any]) -> Counter[str]:
    """Count the calls of each of fairgauge's functions in a run that has run once before."""
    run()
    counted: Counter[Any] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            counted[frame.f_code] += 1

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    found: Counter[str] = Counter()
    for code, times in counted.items():
        file = Path(code.co_filename)
        if file.is_relative_to(_SOURCE) and code.co_name not in _COMPREHENSIONS:
            name = f"{file.relative_to(_SOURCE).with_suffix('').as_posix()}:{code.co_qualname}"
            found[name] += times
    return found


def modules(code: str) -> int:
    """Count the modules of fairgauge, and the packages of others, that some code loads."""
    script = f"import sys, json\ntry:\n {code}\nfinally:\n print(json.dumps([*sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False,
        env=os.environ | {"PYTHONPATH": str(_SOURCE.parent)},
    )  # fmt: skip
    loaded = json.loads(done.stdout.splitlines()[-1])
    own = {name for name in loaded if name.startswith("fairgauge")}
    return len(own | {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names)


def measured() -> dict[str, dict[str, int]]:
    """Return all costs: of each run the calls of all functions, and of each, the most first."""
    costs = {}
    for name, run in runs().items():
        found = calls(run)
        costs[name] = {"calls": found.total()} | dict(found.most_common())
    costs["modules loaded"] = {name: modules(code) for name, code in _STARTS.items()}
    with tempfile.TemporaryDirectory() as folder:
        reports = [example.report for example in examples(Path(folder))]
    costs["bytes of the demo"] = {
        kind: sum(len(render(each, kind).encode()) for each in reports) for kind in ("html", "json")
    }
    return costs


if __name__ == "__main__":
    lines = [
        "# Written by `python -m bench.costs`: the calls in each run, of all and the greatest."
    ]
    for name, costs in measured().items():
        listed = ", ".join(f'"{of}" = {n}' for of, n in [*costs.items()][:_LISTED])
        lines.append(f'"{name}" = {{ {listed} }}')
    FILE.write_text("\n".join([*lines, ""]), encoding="utf-8")
