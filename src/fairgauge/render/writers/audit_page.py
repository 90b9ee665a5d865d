"""The offline pages of `fairgauge.page` and `fairgauge.explore`, which load no other file."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from fairgauge.question import category_words
from fairgauge.question.kits import find_kit
from fairgauge.render.grammar import LANGUAGES, Grammar
from fairgauge.render.script_texts import script_texts
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.numbers import listing
from fairgauge.render.writers.html import css, environment, policy, scripts
from fairgauge.statements.compared import words_of
from fairgauge.version import __version__

KEYS = (
    "label", "prediction", "positive", "sensitive", "intersections", "count", "metrics", "rules",
    "reference", "favourable", "recode", "unknown", "words", "preset", "min_n", "min_share",
    "confidence", "document", "accept", "person",
)  # fmt: skip
"""Keys of a specification that the page can answer."""
_WORDS = (
    "not_known", "not_told", "undecided", "stage", "favourable", "adverse_elsewhere", "total",
)  # fmt: skip
_PATTERNS = ("marker", "age", "declined_offer", "withdrew", "adverse", "harm", "favourable_part")
_TEXTS = (
    "headline", "nothing_tested", "other_differences", "none_differs", "undecided",
    "nothing_shown", "rules", "no_limit", "rule", "not_asked", "counted", "rows", "question",
    "taken_as_better", "not_favourable", "differs", "better_off", "they_are_better_off",
    "more", "none_beyond_variation", "interval", "open_because", "inconclusive",
    "caveat", "why_not", "outcome_known", "other_groups",
)  # fmt: skip
"""Codes of the statements that the page can make."""
_SCRIPTS = (
    "cells.js", "kernels.js", "intervals.js", "page_reader.js", "page_words.js", "page_audit.js",
    "page_grammar.js", "page_statements.js", "page_save.js", "explore.js",
)  # fmt: skip


def script_of(computed: Mapping[str, Any], language: str = "en", *, form: bool = True) -> str:
    """Return the script that reads a table and answers the question; with ``form``, its form.

    ``computed`` is what the page takes of the package's numbers: rates, presets, a table to check.
    """
    body = scripts(*_SCRIPTS, *(["page_form.js"] if form else []))
    shown = {*re.findall(r"\bUI\.(\w+)", body), "check_failed"}  # the others stand in the page
    table = LANGUAGES[language]({}).table
    words, titles = table["ask"], table["terms"].get("titles", {})
    called = table["explored"]["called"]
    data = {
        **computed,
        "rates": [
            each | {"title": titles.get(each["title"], each["title"])} for each in computed["rates"]
        ],
        "called": {key: list(of.values()) for key, of in called.items()},
        "language": language,
        "ui": {key: text for key, text in words.items() if key in shown},
        "keys": KEYS,
        "patterns": category_words.sources(_WORDS, _PATTERNS),
        "of_all_people": category_words.OF_ALL_PEOPLE.pattern,
    }
    texts = script_texts(language, _TEXTS).replace("</", "<\\/")
    head = f"const data={escaped(data)},TEXTS={{{language}:{texts}}};\n"
    return f"(()=>{{'use strict';\n{head}{body}\n}})();"


def audit_page(computed: Mapping[str, Any], language: str = "en") -> str:
    """Return the page; ``computed`` is as in `script_of`, with what is answered already."""
    style = css("first_page.css", screen=True) + css("audit_page.css") + css("explore.css")
    unpack = scripts("unpack.js")
    script, named = script_of(computed, language), computed["given"].get("preset")
    packed = base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()
    return environment().get_template("audit_page.html.j2").render(
        ui=LANGUAGES[language]({}).table["ask"],
        language=language,
        version=__version__,
        title=find_kit(named).title if named else "",
        style=Markup(style),  # noqa: S704 - our own files
        packed=packed,
        unpack=Markup(unpack),  # noqa: S704 - our own file
        policy=policy(style, unpack, script) + "; worker-src blob:",
    ) + "\n"  # fmt: skip


_OPENS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_EXPLORE_SCRIPTS = (
    "explore_data.js", "cells.js", "kernels.js", "intervals.js", "explore.js", "explore_start.js",
)  # fmt: skip


def explore_page(data: Mapping[str, Any]) -> str:
    """Return the page that computes every view of the counts, in the words of its question."""
    data = _word_data(data)
    names = [printable(each["name"]) for each in data["columns"]]
    style = css("audit_page.css") + css("explore.css")
    script = scripts(*_EXPLORE_SCRIPTS)
    words = LANGUAGES["en"]({}).table["ask"]
    data["ui"] = {key: words[key] for key in set(re.findall(r"\bUI\.(\w+)", script))}
    return environment().get_template("explore.html.j2").render(
        title=printable(f"Explore {data['decision'] or data['label']}"),
        lead=words["view"]["counted_by"].format(
            rows=f"{data['rows']:,}", names=listing(names, most=len(names))
        ),
        warnings=list(map(printable, data["warnings"])),
        ui=words,
        counts=Markup(escaped(data)),  # noqa: S704 - its angle brackets are escaped
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=policy(style, script),
        version=__version__,
        data=data,
    ) + "\n"  # fmt: skip


def _word_data(data: Mapping[str, Any]) -> dict[str, Any]:
    language, words = Grammar(words_of(data["spec"])), data["spec"].get("words") or {}
    columns = [
        {
            **each,
            "groups": _call_groups(each["groups"], (words.get("groups") or {}).get(each["name"])),
        }
        for each in data["columns"]
    ]
    called = language.table["explored"]["called"]
    return {
        **{key: value for key, value in data.items() if key != "spec"},
        "columns": columns,
        "called": {
            key: [
                language.words.get(word) or language.say("explored", word) or default
                for word, default in of.items()
            ]
            for key, of in called.items()
        },
    }


def _call_groups(groups: Sequence[str], names: object) -> list[str]:
    # the names of groups that the user gave; theirs where two would be called the same
    given = names if isinstance(names, Mapping) else {}
    called = [given.get(group, group) for group in groups]
    return called if len(set(called)) == len(called) else list(groups)


def escaped(value: object) -> str:
    """Return a value as JSON that is safe inside a page."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "".join(_OPENS.get(character, character) for character in text)
