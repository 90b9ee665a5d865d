"""The page of `fairgauge.page`: an audit in one offline file, which asks nothing of any other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

from markupsafe import Markup

from fairgauge.api.audit import audit, count
from fairgauge.catalogue.lookup import find_rate
from fairgauge.enums import Better, Favourable, Uncounted
from fairgauge.measure.exploration import compared, rate_data
from fairgauge.question import category_words
from fairgauge.question.presets import preset
from fairgauge.render.grammar import LANGUAGES
from fairgauge.render.script_texts import script_texts
from fairgauge.render.writers.explore_page import escaped
from fairgauge.render.writers.html import css, environment, policy, scripts
from fairgauge.results.disadvantage import (
    adverse_sign,
    better_of,
    favours_the_least,
    has_direction,
)
from fairgauge.statements.compared import measure
from fairgauge.version import __version__

RATES = ("selection_rate", "true_positive_rate")
PRESETS = ("nyc-ll144",)
"""Presets whose every option the page can answer."""
KEYS = (
    "label", "prediction", "positive", "sensitive", "intersections", "count", "metrics", "rules",
    "reference", "favourable", "recode", "unknown", "words", "preset", "min_n", "min_share",
    "confidence", "document", "accept",
)  # fmt: skip
"""Keys of a specification that the page can answer."""
_FAVOURABLE = (Favourable.POSITIVE, Favourable.NEGATIVE, Favourable.NEITHER)
_WORDS = ("not_known", "not_told", "undecided", "adverse_elsewhere")
_PATTERNS = ("declined_offer", "withdrew", "adverse", "harm")
_TEXTS = (
    "headline", "nothing_tested", "other_differences", "none_differs", "undecided", "rules",
    "no_limit", "rule", "not_asked", "counted", "rows", "question", "taken_as_better", "differs",
    "better_off", "they_are_better_off", "unjudged", "more", "interval", "open_because",
    "inconclusive", "caveat", "why_not", "outcome_known", "other_groups",
)  # fmt: skip
_SCRIPTS = (
    "cells.js", "kernels.js", "intervals.js", "page_reader.js", "page_words.js", "page_audit.js",
    "page_grammar.js", "page_statements.js", "page_save.js",
)  # fmt: skip


def page_data(language: str = "en") -> dict[str, Any]:
    """Return what the scripts take from the package: rates, patterns of words, presets, texts."""
    example = {"g": ["a", "b"], "d": ["x", "y"]}
    saved = count(example, prediction="d", positive="x", sensitive="g").to_dict()
    return {
        "language": language,
        "keys": KEYS,
        "ui": LANGUAGES[language]({}).table["ask"],
        "schema": saved["schema"],
        "question": _with_floats(saved["question"]),
        "asked": list(saved["plan"]["asked"]),
        "no_count": str(Uncounted.NO_COUNT),
        "rates": list(map(_rate, RATES)),
        "patterns": category_words.sources(_WORDS, _PATTERNS),
        "markers": sorted(category_words.MISSING_MARKERS),
        "presets": {name: _preset(name) for name in PRESETS},
    }


def _rate(name: str) -> dict[str, Any]:
    row = find_rate(name)
    of = measure({"prediction": "d", "label": "y"}, row)
    assert of.event is not None
    events = {
        "event": [of.event.kind, of.event.positive],
        "among": of.among and [of.among.kind, of.among.positive],
    }
    made = rate_data(row, list(compared(row)))
    kept = ("name", "of", "range", "kind", "times", "sums", "rows", "contrasts")
    return {key: made[key] for key in kept} | events | {
        "needs": len(row.needs),
        "directions": {str(favourable): _direction(row, favourable) for favourable in _FAVOURABLE},
    }  # fmt: skip


def _direction(row: Any, favourable: Favourable) -> dict[str, Any]:
    """Return which sign of a difference harms, and which one is searched for first."""
    adverse = adverse_sign(row, favourable)
    return {
        "adverse": adverse,
        "least": favours_the_least(row, favourable),
        "sign": adverse or (1 if favours_the_least(row, favourable) else -1),
        "directed": adverse != 0 or has_direction(row, favourable),
        "known": adverse != 0 or better_of(row, favourable) is not Better.NEITHER,
    }


def _preset(name: str) -> dict[str, Any]:
    made = preset(name)
    return {
        "title": made.title,
        "words": dict(made.words),
        "no_limit": made.no_limit,
        "options": {key: value for key, value in made.options.items() if key != "intersect"},
        "crossed": bool(made.options.get("intersect")),
    }


def _with_floats(value: Any) -> Any:
    """Return plain values whose whole floats stay floats in JavaScript."""
    if isinstance(value, dict):
        return {key: _with_floats(each) for key, each in value.items()}
    if isinstance(value, list):
        return list(map(_with_floats, value))
    return {"float": value} if isinstance(value, float) else value


def script_of(data: Mapping[str, Any], *, form: bool = False) -> str:
    """Return the script that reads a table and answers the question; with ``form``, its form."""
    language = data["language"]
    texts = script_texts(language, _TEXTS).replace("</", "<\\/")
    head = f"const data={escaped(data)},RATES=data.rates,TEXTS={{{language}:{texts}}};\n"
    body = scripts(*_SCRIPTS, *(["page_form.js"] if form else []))
    return f"(()=>{{'use strict';\n{head}{body}\n}})();"


def audit_page(given: Mapping[str, Any], language: str = "en") -> str:
    """Return the page, with what is answered already."""
    data = page_data(language) | {"given": dict(given), "check": _check()}
    style = css("first_page.css", screen=True) + css("audit_page.css")
    script = script_of(data, form=True)
    named = given.get("preset")
    return environment().get_template("audit_page.html.j2").render(
        ui=data["ui"], language=language, version=__version__,
        title=preset(named).title if named else "",
        style=Markup(style),  # noqa: S704 - our own files
        script=Markup(script),  # noqa: S704 - our own files, and data whose angle brackets are escaped
        policy=policy(style, script) + "; worker-src blob:",
    ) + "\n"  # fmt: skip


_EXAMPLE = {"Female": (20, 12, 37, 38), "Male": (65, 10, 15, 40), "Other": (9, 6, 12, 11)}
"""Counts by sex of who was approved and repaid, approved only, repaid only, and neither."""


def _check() -> dict[str, Any]:
    """Return a small table with the numbers of Python, which the page computes on opening."""
    rows = [
        {"sex": sex, "approved": a, "repaid": r, "n": n}
        for sex, of in _EXAMPLE.items()
        for (a, r), n in zip(product(("yes", "no"), repeat=2), of, strict=True)
    ]
    question = {
        "label": "repaid", "prediction": "approved", "positive": ["yes"], "sensitive": ["sex"],
        "count": "n", "favourable": "positive", "rules": ["selection_rate.ratio >= 0.8"],
        "metrics": [f"{rate}.{by}" for rate in RATES for by in ("difference", "ratio")],
    }  # fmt: skip
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    report = audit(columns, **question).to_dict()
    listed = [
        [e[key] for key in ("metric", "feature", "group", "value", "low", "high")]
        for e in report["estimates"]
        if e["metric"] in question["metrics"]
    ]
    verdicts = [
        [v[key] for key in ("rule", "feature", "group", "outcome", "low", "high")]
        for v in report["verdicts"]
    ]
    lines = [",".join(columns), *(",".join(map(str, row.values())) for row in rows)]
    return {
        "text": "\n".join(lines),
        "question": question,
        "fingerprint": report["data"]["fingerprint"],
        "rows": [*listed, *verdicts],
    }
