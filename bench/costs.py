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
from pathlib import Path
from typing import Any

import fairgauge as fg
from bench.growth import calls_for_one_more
from fairgauge.cli._demo_data import examples
from fairgauge.render import render

FILE = Path(__file__).with_name("costs.toml")
_SOURCE = Path(fg.__file__).parent
_DECIDED: dict[str, Any] = {"label": "y", "prediction": "p", "positive": 1}
_ASKED = _DECIDED | {"sensitive": "group"}
_STARTS = {
    "fairgauge --help": "sys.argv[1:] = ['--help']; from fairgauge.__main__ import main; main()",
    "import fairgauge": "import fairgauge",
    "audit": "import fairgauge as fg; fg.audit(label=[0, 1] * 9, sensitive={'g': ['a'] * 18})",
}


def runs() -> dict[str, Any]:
    """Return the runs; their rows are made by arithmetic, as random numbers may differ."""
    label = [i * 7_919 % 97 % 2 for i in range(2_000)]
    rows = {
        "y": label,
        "group": ["abcde"[i * i % 11 % 5] for i in range(2_000)],
        "other": ["xyz"[i * 31 % 7 % 3] for i in range(2_000)],
        "p": [int(i * 104_729 % 89 < 30 + 20 * y) for i, y in enumerate(label)],
        "q": [int(i * 15_485 % 83 < 25 + 25 * y) for i, y in enumerate(label)],
    }
    report, both = fg.audit(rows, **_ASKED), ["group", "other"]
    sides = {f"2026-01-{i}": {"F": {"tp": i, "fn": 60}, "M": {"tp": 9}} for i in range(10, 32)}
    days = {day: fg.confusion("sex", of) for day, of in sides.items()}
    rules = {"rules": [{"metric": "selection_rate.ratio", "at_least": 0.8, "groups": "F"}]}
    followed = {"label": "label", "prediction": "prediction", "positive": 1, "sensitive": "sex"}
    return {
        "audit": lambda: fg.audit(rows, **_ASKED, metrics="clarify").to_dict(),
        "why": lambda: fg.why(rows, **_ASKED, controls=["other"]).to_dict(),
        "find": lambda: fg.find(
            rows, **_DECIDED, sensitive=both, metrics="selection_rate"
        ).to_dict(),
        "compare-models": lambda: fg.compare_models(rows, **_ASKED, candidate="q").to_dict(),
        "monitor run": lambda: fg.monitor(days, followed | {"monitor": rules}).to_dict(),
        "HTML report": lambda: render(report, "html"),
    }


def calls(run: Any) -> Counter[str]:
    """Count the calls of each of fairgauge's functions in a run that has run once before."""
    run()
    counted: Counter[Any] = Counter()

    def count(frame: Any, event: str, _: object) -> None:
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
        if file.is_relative_to(_SOURCE) and not code.co_name.endswith("comp>"):
            name = f"{file.relative_to(_SOURCE).with_suffix('').as_posix()}:{code.co_qualname}"
            found[name] += times
    return found


def modules(code: str) -> int:
    """Count the modules of fairgauge, and the packages of others, that some code loads."""
    script = f"import sys, json\ntry:\n {code}\nfinally:\n print(json.dumps([*sys.modules]))"
    own_path = os.environ | {"PYTHONPATH": str(_SOURCE.parent)}
    printed = subprocess.check_output([sys.executable, "-c", script], env=own_path)
    loaded = json.loads(printed.splitlines()[-1])
    own = {name for name in loaded if name.startswith("fairgauge")}
    return len(own | {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names)


def measured() -> dict[str, dict[str, int]]:
    """Return all costs: of each run the calls of all functions, and of each, the most first."""
    of_runs = {name: calls(run) for name, run in runs().items()}
    costs = {n: {"calls": of.total()} | dict(of.most_common()) for n, of in of_runs.items()}
    costs["calls for one more"] = calls_for_one_more(lambda run: calls(run).total())
    costs["modules loaded"] = {name: modules(code) for name, code in _STARTS.items()}
    with tempfile.TemporaryDirectory() as folder:
        reports = [example.report for example in examples(Path(folder))]
    written = {kind: [render(each, kind) for each in reports] for kind in ("html", "json")}
    costs["bytes of the demo"] = {k: len("".join(each).encode()) for k, each in written.items()}
    return costs


if __name__ == "__main__":
    lines = ["# By `python -m bench.costs`: the calls in each run, of all and the greatest."]
    for name, costs in measured().items():
        listed = ", ".join(f'"{of}" = {n}' for of, n in [*costs.items()][:10])
        lines.append(f'"{name}" = {{ {listed} }}')
    FILE.write_text("\n".join([*lines, ""]), encoding="utf-8")
