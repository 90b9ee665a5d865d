"""What a plug-in may import besides the names of `fairgauge` and the errors of `fairgauge.errors`.

A plug-in is a package that names its commands in the entry points ``fairgauge.commands`` and its
kinds of results in ``fairgauge.results``. Each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge.atomic_files import write_all
    from fairgauge.cli._command_group import Command
    from fairgauge.cli._output import (
        Output,
        check_outputs,
        made_folder,
        prints_report,
        shows_result,
    )
    from fairgauge.cli._spec_flags import flags_for, given_options
    from fairgauge.cli._streams import print_message, print_result
    from fairgauge.object_stores import read_limited
    from fairgauge.plugins._counts import MetricValues, count_codes
    from fairgauge.question.file_formats import Unreadable, loads
    from fairgauge.render import render
    from fairgauge.render.words.reason_sentences import describe_reason
    from fairgauge.results.brief import Brief, Sentence
    from fairgauge.results.shown_result import ResultKind, ShownResult, made_now
    from fairgauge.stats.neighbours import Neighbours
    from fairgauge.values import canonical, matches, name_of

_MODULES = {
    "atomic_files": ("write_all",),
    "cli._command_group": ("Command",),
    "cli._output": (
        "Output",
        "check_outputs",
        "made_folder",
        "prints_report",
        "shows_result",
    ),
    "cli._spec_flags": ("flags_for", "given_options"),
    "cli._streams": ("print_message", "print_result"),
    "object_stores": ("read_limited",),
    "plugins._counts": ("MetricValues", "count_codes"),
    "question.file_formats": ("Unreadable", "loads"),
    "render": ("render",),
    "render.words.reason_sentences": ("describe_reason",),
    "results.brief": ("Brief", "Sentence"),
    "results.shown_result": ("ResultKind", "ShownResult", "made_now"),
    "stats.neighbours": ("Neighbours",),
    "values": ("canonical", "matches", "name_of"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Brief",
    "Command",
    "MetricValues",
    "Neighbours",
    "Output",
    "ResultKind",
    "Sentence",
    "ShownResult",
    "Unreadable",
    "canonical",
    "check_outputs",
    "count_codes",
    "describe_reason",
    "flags_for",
    "given_options",
    "loads",
    "made_folder",
    "made_now",
    "matches",
    "name_of",
    "print_message",
    "print_result",
    "prints_report",
    "read_limited",
    "render",
    "shows_result",
    "write_all",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'fairgauge.plugins' has no attribute {name!r}")
    value = getattr(import_module(f"fairgauge.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
