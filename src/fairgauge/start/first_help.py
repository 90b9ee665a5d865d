# ruff: noqa: PTH118, PTH123, PTH208 - pathlib takes as long to import as all else of `--help`
"""What ``fairgauge --help`` and the completion of a command's name print, without click.

To import that takes 3.6 times Python's start. Click's group of commands prints the same help. The
commands and results of installed packages are found without `importlib.metadata`, which reads the
metadata of every package.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

_FOLDERS = (".dist-info", ".egg-info")


class EntryPoint:
    """One name of a package's entry points, which is imported when it is loaded.

    ``metadata``: the file that describes the package.
    """

    def __init__(self, value: str, metadata: str = "") -> None:
        self.metadata = metadata
        self.module, _, self.attribute = value.partition("[")[0].replace(" ", "").partition(":")
        self.package = self.module.partition(".")[0]

    def describe(self) -> str:
        """Return what a command of another package does, in the words of the package."""
        try:
            with open(self.metadata, encoding="utf-8") as file:
                found = (line[9:].strip() for line in file if line.startswith("Summary: "))
                return next(found, f"A command of {self.package}.")
        except (OSError, UnicodeDecodeError):
            return f"A command of {self.package}."

    def load(self) -> object:
        return getattr(import_module(self.module), self.attribute)


def entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group, by name; the first of a name on the path counts.

    ``group``: str ``fairgauge.commands`` or ``fairgauge.results``.
    """
    found: dict[str, EntryPoint] = {}
    for folder in dict.fromkeys(sys.path):
        try:
            infos = sorted(name for name in os.listdir(folder or ".") if name.endswith(_FOLDERS))
        except OSError:  # an archive, or a folder that is gone
            continue
        for info in infos:
            try:
                with open(os.path.join(folder, info, "entry_points.txt"), encoding="utf-8") as file:
                    text = file.read()
            except (OSError, UnicodeDecodeError):
                continue
            if group in text:
                for name, value in _entries_of_group(text, group):
                    metadata = os.path.join(folder, info, "METADATA")
                    found.setdefault(name, EntryPoint(value, metadata))
    return dict(sorted(found.items()))


def _entries_of_group(text: str, group: str) -> list[tuple[str, str]]:
    section, found = "", []
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if line.startswith("["):
            section = line.strip()[1:-1]
        elif section == group and equals and not line.startswith(("#", ";")):
            found.append((name.strip(), value.strip()))
    return found


INTRODUCTION = """\
Measure how a model treats groups of people, with confidence intervals.

\b
fairgauge demo                                        see what an audit looks like
fairgauge audit loans.csv --label approved --prediction predicted --sensitive sex
fairgauge metrics DI                                  what a metric means

\b
Exit codes: 0 no rule failed and none is inconclusive, 1 a rule failed,
2 bad usage, specification or data, 3 no rule failed, but at least one is
inconclusive.
"""
_OPTIONS = {"--version": "Show the version and exit.", "-h, --help": "Show this message and exit."}
_WIDTH = 15
SECTIONS = {
    "Start": {
        "demo": "Audit two example tables.",
        "choose": "Choose metrics, and write a specification.",
        "presets": "List the presets, or describe one.",
        "metrics": "List the metrics, or describe one.",
        "plan": "Compute how many rows an audit needs.",
        "validate": "Check a specification against the data.",
    },
    "Audit": {
        "audit": "Audit a table, and write a report.",
        "page": "Write a page that audits a file without an installation.",
        "explore": "Write a page that computes every view.",
        "find": "Find the subgroups in which a rate is worse.",
        "why": "Decompose gaps: composition, and what remains.",
        "compare": "Compare two reports.",
        "compare-models": "Compare candidate models on the same rows.",
        "alternatives": "Find candidates that are as good and less discriminatory.",
        "thresholds": "Find the threshold of a score that meets a rule.",
        "monitor": "Monitor over time, with a controlled false alarm rate.",
        "pairs": "Compare answers under swapped names.",
    },
    "Counts": {
        "count": "Count the rows, and save the counts.",
        "merge": "Add the counts of several files.",
        "protect": "Round counts so that no small cell can be inferred.",
    },
    "Saved reports": {
        "render": "Write a saved result in another format.",
        "seal": "Put a report and its counts into one verifiable file.",
        "verify": "Compute a sealed report again from its counts.",
        "schema": "Print the JSON Schema of a report or a question.",
    },
}
"""Every command with what it does, as the help arranges them."""
_PLUG_INS = {
    "fairgauge_check.check_command": {"check": "Check a published table of selection rates."},
    "fairgauge_cloud.commands": {
        "clarify": "Run a bias configuration of SageMaker Clarify.",
        "clarify-monitor": "Compare the bias metrics of Clarify with a baseline.",
        "vertex": "Run a bias configuration of Vertex AI.",
    },
}
"""What the commands of our plug-ins do, by their modules, which `--help` does not import."""


def commands() -> dict[str, str]:
    """Return what each command does; no plug-in takes the name of one of ours."""
    own = {name: does for section in SECTIONS.values() for name, does in section.items()}
    points = entry_points("fairgauge.commands").items()
    return own | {
        name: _PLUG_INS.get(point.module, {}).get(name) or point.describe()
        for name, point in points
        if name not in own
    }


def first_help() -> str:
    """Return the help of all commands, 80 columns wide."""
    every = commands()
    own = {name for section in SECTIONS.values() for name in section}
    plug_ins = {name: does for name, does in every.items() if name not in own}
    width = max(_WIDTH, *map(len, every))
    lines = ["Usage: fairgauge [OPTIONS] COMMAND [ARGS]...", ""]
    lines += [f"  {line}".rstrip() for line in INTRODUCTION.replace("\b\n", "").splitlines()]
    lines += ["", "Options:", *(f"  {name:10}  {does}" for name, does in _OPTIONS.items())]
    for title, section in (SECTIONS | ({"Plug-ins": plug_ins} if plug_ins else {})).items():
        lines += ["", f"{title}:", *(f"  {n:{width}}  {does}" for n, does in section.items())]
    return "\n".join([*lines, ""])


_COMPLETIONS = {"bash_complete": "plain,{}\n", "zsh_complete": "plain\n{}\n{}\n"}


def complete_command() -> str:
    """Return the completions of the first word; empty where click has to find them."""
    line, kind = os.environ.get("COMP_WORDS", ""), os.environ.get("_FAIRGAUGE_COMPLETE", "")
    # click knows which quotes a shell removes
    if os.environ.get("COMP_CWORD") != "1" or kind not in _COMPLETIONS or set(line) & set("\\'\""):
        return ""
    started = [*line.split(), "", ""][1]
    every = sorted(commands().items())
    return "".join(_COMPLETIONS[kind].format(*row) for row in every if row[0].startswith(started))
