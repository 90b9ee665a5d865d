"""The same work done by others, each in a virtual environment of its own under bench/.venvs.

Every script takes the number of rows, prepares a pandas frame of text objects, times what its
library does to report on one feature with five groups, and prints the cost as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.measure import Cost, fresh

_VENVS = Path(__file__).parent.parent / ".venvs"
PEERS = ("fairlearn", "smclarify", "aif360", "aequitas")


def python_of(peer: str) -> Path | None:
    """Return the interpreter of a peer, installed if that can be done; else None."""
    venv = _VENVS / peer
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", peer], check=False)
    found = subprocess.run([python, "-c", f"import {peer}"], capture_output=True, check=False)
    return python if found.returncode == 0 else None


def version_of(peer: str, python: Path) -> str:
    """Return the version of a peer."""
    code = f"import importlib.metadata as m; print(m.version({peer!r}))"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def same(ours: str, theirs: str) -> bool:
    """Return whether two texts state the same differences of all groups."""
    one, other = json.loads(ours), json.loads(theirs)
    return one.keys() == other.keys() and all(abs(one[g] - other[g]) < 1e-9 for g in one)


def run(peer: str, python: Path, table: Path, *arguments: str) -> Cost:
    """Run a peer's script on a CSV file."""
    script = Path(__file__).parent / f"{peer}_report.py"
    return fresh([str(python), str(script), str(table), *arguments], environment={"PYTHONPATH": ""})
