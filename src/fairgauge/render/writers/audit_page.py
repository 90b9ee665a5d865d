"""The page of `fairgauge.page`: an audit in one offline file, which asks nothing of any other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from fairgauge.question import category_words
from fairgauge.question.presets import preset
from fairgauge.render.grammar import LANGUAGES
from fairgauge.render.script_texts import script_texts
from fairgauge.render.writers.explore_page import escaped
from fairgauge.render.writers.html import css, environment, policy, scripts
from fairgauge.version import __version__

KEYS = (
    "label", "prediction", "positive", "sensitive", "intersections", "count", "metrics", "rules",
    "reference", "favourable", "recode", "unknown", "words", "preset", "min_n", "min_share",
    "confidence", "document", "accept",
)  # fmt: skip
"""Keys of a specification that the page can answer."""
_WORDS = ("not_known", "not_told", "undecided", "adverse_elsewhere")
_PATTERNS = ("declined_offer", "withdrew", "adverse", "harm")
_TEXTS = (
    "headline", "nothing_tested", "other_differences", "none_differs", "undecided",
    "nothing_shown", "rules", "no_limit", "rule", "not_asked", "counted", "rows", "question",
    "taken_as_better", "not_favourable", "differs", "better_off", "they_are_better_off",
    "unjudged", "more", "none_beyond_variation", "interval", "open_because", "inconclusive",
    "caveat", "why_not", "outcome_known", "other_groups",
)  # fmt: skip
"""Codes of the statements that the page can make."""
_SCRIPTS = (
    "cells.js", "kernels.js", "intervals.js", "page_reader.js", "page_words.js", "page_audit.js",
    "page_grammar.js", "page_statements.js", "page_save.js",
)  # fmt: skip


def script_of(computed: Mapping[str, Any], language: str = "en", *, form: bool = True) -> str:
    """Return the script that reads a table and answers the question; with ``form``, its form.

    ``computed`` is what the page takes of the package's numbers: rates, presets, a table to check.
    """
    body = scripts(*_SCRIPTS, *(["page_form.js"] if form else []))
    shown = {*re.findall(r"\bUI\.(\w+)", body), "check_failed"}  # the others stand in the page
    words = LANGUAGES[language]({}).table["ask"]
    data = {
        **computed,
        "language": language,
        "ui": {key: text for key, text in words.items() if key in shown},
        "keys": KEYS,
        "patterns": category_words.sources(_WORDS, _PATTERNS),
        "markers": sorted(category_words.MISSING_MARKERS),
    }
    texts = script_texts(language, _TEXTS).replace("</", "<\\/")
    head = f"const data={escaped(data)},RATES=data.rates,TEXTS={{{language}:{texts}}};\n"
    return f"(()=>{{'use strict';\n{head}{body}\n}})();"


def audit_page(computed: Mapping[str, Any], language: str = "en") -> str:
    """Return the page; ``computed`` is as in `script_of`, with what is answered already."""
    style = css("first_page.css", screen=True) + css("audit_page.css")
    script, named = script_of(computed, language), computed["given"].get("preset")
    return environment().get_template("audit_page.html.j2").render(
        ui=LANGUAGES[language]({}).table["ask"],
        language=language,
        version=__version__,
        title=preset(named).title if named else "",
        style=Markup(style),  # noqa: S704 - our own files
        script=Markup(script),  # noqa: S704 - our own files; angle brackets of data are escaped
        policy=policy(style, script) + "; worker-src blob:",
    ) + "\n"  # fmt: skip
