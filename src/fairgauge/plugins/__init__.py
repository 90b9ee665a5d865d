"""What a plug-in may import besides the names of `fairgauge` and the errors of `fairgauge.errors`.

A plug-in is a package that names its commands in the entry points ``fairgauge.commands`` and its
kinds of results in ``fairgauge.results``. Each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairgauge.api.running import answered
    from fairgauge.atomic_files import write_all
    from fairgauge.cli._command_group import Command, add_options
    from fairgauge.cli._output import (
        Output,
        check_outputs,
        made_folder,
        prints_report,
        shows_result,
    )
    from fairgauge.cli._spec_flags import Texts, config_option, flags_for, given_options, question
    from fairgauge.cli._streams import print_message, print_result
    from fairgauge.cli.commands.verbs import Verb, command_of
    from fairgauge.cube.build import Counted, build
    from fairgauge.cube.plan import plan
    from fairgauge.enums import IntervalMethod, Outcome, ReferenceRule
    from fairgauge.measure.decide import interval_reached
    from fairgauge.object_stores import local_path, read_limited
    from fairgauge.plugins._counts import MetricValues, count_codes
    from fairgauge.question.category_words import is_total, is_unknown
    from fairgauge.question.features import Feature
    from fairgauge.question.file_formats import Unreadable, loads
    from fairgauge.question.options import Options
    from fairgauge.question.presets import preset, preset_names
    from fairgauge.question.rules import Rule
    from fairgauge.question.spec_file import Config, with_config
    from fairgauge.question.specification import Spec, read_part
    from fairgauge.reasons import FEWEST_ROWS, Parameter, Reason, ReasonCode
    from fairgauge.render import _document_tree as document_tree
    from fairgauge.render import render
    from fairgauge.render.documents.document_parts import TONES
    from fairgauge.render.grammar import describe_reason, plain
    from fairgauge.render.page import stated
    from fairgauge.render.streams import flat
    from fairgauge.render.words.display_names import called
    from fairgauge.render.words.metric_words import published_range
    from fairgauge.render.words.numbers import numbered
    from fairgauge.render.words.verdict_sentences import outcome_word
    from fairgauge.results.brief import Brief, Sentence
    from fairgauge.results.codec import (
        Finite,
        Form,
        Inline,
        Key,
        Nullable,
        Plain,
        Share,
        Version,
        read_parameters,
        write_parameters,
    )
    from fairgauge.results.counted import CountedResult
    from fairgauge.results.estimates import Estimate, WorstCase
    from fairgauge.results.report import Report
    from fairgauge.results.scopes import Interval
    from fairgauge.results.shown_result import ResultKind, ShownResult, made_now
    from fairgauge.results.statement import Page, Range, Side, Statement
    from fairgauge.results.verdicts import Verdict, open_at_any_size, overall
    from fairgauge.statements.compared import page, step
    from fairgauge.stats.arrays import quotient
    from fairgauge.stats.neighbours import Neighbours
    from fairgauge.stats.significance import fisher
    from fairgauge.stats.unknown_people import pair_bounds, ratio_bounds
    from fairgauge.values import Json, Saved, canonical, matches, name_of

_MODULES = {
    "api.running": "answered",
    "atomic_files": "write_all",
    "cli._command_group": "Command add_options",
    "cli._output": "Output check_outputs made_folder prints_report shows_result",
    "cli._spec_flags": "Texts config_option flags_for given_options question",
    "cli._streams": "print_message print_result",
    "cli.commands.verbs": "Verb command_of",
    "cube.build": "Counted build",
    "cube.plan": "plan",
    "enums": "IntervalMethod Outcome ReferenceRule",
    "measure.decide": "interval_reached",
    "object_stores": "local_path read_limited",
    "plugins._counts": "MetricValues count_codes",
    "question.category_words": "is_total is_unknown",
    "question.features": "Feature",
    "question.file_formats": "Unreadable loads",
    "question.options": "Options",
    "question.presets": "preset preset_names",
    "question.rules": "Rule",
    "question.spec_file": "Config with_config",
    "question.specification": "Spec read_part",
    "reasons": "FEWEST_ROWS Parameter Reason ReasonCode",
    "render": "render",
    "render.documents.document_parts": "TONES",
    "render.page": "stated",
    "render.streams": "flat",
    "render.grammar": "describe_reason plain",
    "render.words.display_names": "called",
    "render.words.metric_words": "published_range",
    "render.words.numbers": "numbered",
    "render.words.verdict_sentences": "outcome_word",
    "results.brief": "Brief Sentence",
    "results.codec": "Finite Form Inline Key Nullable Plain Share Version "
    "read_parameters write_parameters",
    "results.counted": "CountedResult",
    "results.estimates": "Estimate WorstCase",
    "results.report": "Report",
    "results.scopes": "Interval",
    "results.shown_result": "ResultKind ShownResult made_now",
    "results.statement": "Page Range Side Statement",
    "results.verdicts": "Verdict open_at_any_size overall",
    "statements.compared": "page step",
    "stats.arrays": "quotient",
    "stats.neighbours": "Neighbours",
    "stats.significance": "fisher",
    "stats.unknown_people": "pair_bounds ratio_bounds",
    "values": "Json Saved canonical matches name_of",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "FEWEST_ROWS", "TONES", "Brief", "Command", "Config", "Counted", "CountedResult",
    "Estimate", "Feature", "Finite", "Form", "Inline", "Interval", "IntervalMethod", "Json",
    "Key", "MetricValues", "Neighbours", "Nullable", "Options", "Outcome", "Output", "Page",
    "Parameter", "Plain", "Range", "Reason", "ReasonCode", "ReferenceRule", "Report",
    "ResultKind", "Rule", "Saved", "Sentence", "Share", "ShownResult", "Side", "Spec",
    "Statement", "Texts", "Unreadable", "Verb", "Verdict", "Version", "WorstCase",
    "add_options", "answered", "build", "called", "canonical", "check_outputs", "command_of",
    "config_option", "count_codes", "describe_reason", "document_tree", "fisher", "flags_for",
    "flat", "given_options", "interval_reached", "is_total", "is_unknown", "loads",
    "local_path", "made_folder", "made_now", "matches", "name_of", "numbered",
    "open_at_any_size", "outcome_word", "overall", "page", "pair_bounds", "plain", "plan",
    "preset", "preset_names", "print_message", "print_result", "prints_report",
    "published_range", "question", "quotient", "ratio_bounds", "read_limited",
    "read_parameters", "read_part", "render", "shows_result", "stated", "step", "with_config",
    "write_all", "write_parameters",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "document_tree":
        return import_module("fairgauge.render._document_tree")
    if name not in _HOME:
        raise AttributeError(f"module 'fairgauge.plugins' has no attribute {name!r}")
    value = getattr(import_module(f"fairgauge.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
