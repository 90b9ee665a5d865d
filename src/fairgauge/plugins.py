"""What a plug-in may import besides the names of `fairgauge` and the errors of `fairgauge.errors`.

A plug-in is a package that names its commands in the entry points ``fairgauge.commands`` and its
kinds of results in ``fairgauge.results``. Each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge.api.audit import run_verb
    from fairgauge.atomic_files import write_all
    from fairgauge.cli._arguments import Texts, config_option, flags_for, given_options, question
    from fairgauge.cli._command_group import (
        Command,
        Decorator,
        add_options,
        print_message,
        print_result,
    )
    from fairgauge.cli._output import (
        Output,
        check_outputs,
        made_folder,
        prints_report,
        shows_result,
    )
    from fairgauge.cli.commands.verbs import Verb, command_of
    from fairgauge.enums import Favourable, IntervalMethod, Outcome, ReferenceRule
    from fairgauge.measure.code_counts import MetricValues, count_codes
    from fairgauge.object_stores import check_workbook, local_path, read_limited
    from fairgauge.question.category_words import is_of_harms, is_total, is_unknown
    from fairgauge.question.features import Feature
    from fairgauge.question.kits import find_kit, kit_names
    from fairgauge.question.options import Options
    from fairgauge.question.readers import Unreadable, loads
    from fairgauge.question.rules import Rule
    from fairgauge.question.specification import Config, Spec, read_part, with_config
    from fairgauge.reasons import FEWEST_ROWS, Parameter, Reason, ReasonCode
    from fairgauge.render import render
    from fairgauge.render.grammar import describe_reason, english
    from fairgauge.render.page import stated
    from fairgauge.render.streams import flat
    from fairgauge.render.words.display_names import called
    from fairgauge.render.words.metric_words import published_range
    from fairgauge.results.codec import Finite, Inline, Key, Parameters, Share, Version
    from fairgauge.results.estimates import Estimate
    from fairgauge.results.report import Report
    from fairgauge.results.scopes import Interval
    from fairgauge.results.shown_result import (
        Brief,
        CountedResult,
        ResultKind,
        Sentence,
        ShownResult,
        made_now,
    )
    from fairgauge.results.statement import Page, Range, Side, Statement
    from fairgauge.results.verdicts import Verdict, overall
    from fairgauge.statements.compared import page, step
    from fairgauge.stats.patterns import sums_of_others
    from fairgauge.stats.row_statistics import Neighbours
    from fairgauge.stats.significance import fisher
    from fairgauge.stats.unrecorded_rates import pair_bounds
    from fairgauge.values import Json, canonical, is_number, matches, name_of

_MODULES = {
    "api.audit": "run_verb",
    "atomic_files": "write_all",
    "cli._command_group": "Command Decorator add_options print_message print_result",
    "cli._output": "Output check_outputs made_folder prints_report shows_result",
    "cli._arguments": "Texts config_option flags_for given_options question",
    "cli.commands.verbs": "Verb command_of",
    "enums": "Favourable IntervalMethod Outcome ReferenceRule",
    "measure.code_counts": "MetricValues count_codes",
    "object_stores": "check_workbook local_path read_limited",
    "question.category_words": "is_of_harms is_total is_unknown",
    "question.features": "Feature",
    "question.options": "Options",
    "question.kits": "find_kit kit_names",
    "question.readers": "Unreadable loads",
    "question.rules": "Rule",
    "question.specification": "Config Spec read_part with_config",
    "reasons": "FEWEST_ROWS Parameter Reason ReasonCode",
    "render": "render",
    "render.page": "stated",
    "render.streams": "flat",
    "render.grammar": "describe_reason english",
    "render.words.display_names": "called",
    "render.words.metric_words": "published_range",
    "results.codec": "Finite Inline Key Parameters Share Version",
    "results.shown_result": "Brief CountedResult ResultKind Sentence ShownResult made_now",
    "results.estimates": "Estimate",
    "results.report": "Report",
    "results.scopes": "Interval",
    "results.statement": "Page Range Side Statement",
    "results.verdicts": "Verdict overall",
    "statements.compared": "page step",
    "stats.patterns": "sums_of_others",
    "stats.row_statistics": "Neighbours",
    "stats.significance": "fisher",
    "stats.unrecorded_rates": "pair_bounds",
    "values": "Json canonical is_number matches name_of",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "FEWEST_ROWS", "Brief", "Command", "Config", "CountedResult", "Decorator", "Estimate",
    "Favourable", "Feature", "Finite", "Inline", "Interval", "IntervalMethod", "Json", "Key",
    "MetricValues", "Neighbours", "Options", "Outcome", "Output", "Page", "Parameter", "Parameters",
    "Range", "Reason", "ReasonCode", "ReferenceRule", "Report", "ResultKind", "Rule", "Sentence",
    "Share", "ShownResult", "Side", "Spec", "Statement", "Texts", "Unreadable", "Verb", "Verdict",
    "Version", "add_options", "called", "canonical", "check_outputs", "check_workbook",
    "command_of", "config_option", "count_codes", "describe_reason", "english", "find_kit",
    "fisher", "flags_for", "flat", "given_options", "is_number", "is_of_harms", "is_total",
    "is_unknown", "kit_names", "loads", "local_path", "made_folder", "made_now", "matches",
    "name_of", "overall", "page", "pair_bounds", "print_message", "print_result", "prints_report",
    "published_range", "question", "read_limited", "read_part", "render", "run_verb",
    "shows_result", "stated", "step", "sums_of_others", "with_config", "write_all",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'fairgauge.plugins' has no attribute {name!r}")
    value = getattr(import_module(f"fairgauge.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
