"""The page of `fairgauge.explore`: one file with the counts, that asks nothing of any other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from fairgauge.catalogue.catalogue import RATES
from fairgauge.render.grammar import Grammar
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.numbers import listing
from fairgauge.render.writers.html import css, environment, policy, scripts
from fairgauge.results.statement import Side, Statement
from fairgauge.statements.compared import measure, words_of
from fairgauge.version import __version__

_OPENS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_SCRIPTS = ("kernels.js", "cells.js", "counts.js", "intervals.js", "explore.js")


def explore_page(data: Mapping[str, Any]) -> str:
    """Return the page that computes every view of the counts, in the words of its question."""
    data = _in_words(data)
    names = [printable(each["name"]) for each in data["columns"]]
    style = css("explore.css")
    script = scripts(*_SCRIPTS)
    return environment().get_template("explore.html.j2").render(
        title=printable(_title(data)),
        lead=f"{data['rows']:,} rows, counted by {listing(names, most=len(names))}.",
        exact=data["exact"],
        protected=data["protected"],
        warnings=list(map(printable, data["warnings"])),
        audited=list(_audited(data)),
        counts=Markup(escaped(data)),  # noqa: S704 - its angle brackets are escaped
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=policy(style, script),
        version=__version__,
        digest=data["digest"],
    ) + "\n"  # fmt: skip


def _in_words(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with rates, groups, outcomes and decisions called as in a report."""
    language, words = Grammar(words_of(data["spec"])), data["spec"].get("words") or {}
    columns = [
        {**each, "groups": _called(each["groups"], (words.get("groups") or {}).get(each["name"]))}
        for each in data["columns"]
    ]
    stated, rows = language.words.get("positive") or language.words.get("label_positive"), {}
    if stated:
        rows = {row.name: row for row in RATES}

    def says(rate: Mapping[str, Any]) -> str:
        row = rows.get(rate["name"])
        of = None if row is None else measure(data["spec"], row)
        if of is None or of.kind not in ("share", "fit", "misfit"):
            return str(rate["says"])
        s = Statement(code="explored", who=Side("rows"), of=of)
        return language.say(s.code, "says", s) or str(rate["says"])

    called = language.table["explored"]["called"]
    return {
        **{key: value for key, value in data.items() if key != "spec"},
        "columns": columns,
        "rates": [{**each, "says": says(each)} for each in data["rates"]],
        "called": {
            key: [
                language.words.get(word) or language.say("explored", word) or default
                for word, default in of.items()
            ]
            for key, of in called.items()
        },
    }


def _called(groups: Sequence[str], names: object) -> list[str]:
    """Return the names of groups that the user gave; theirs where two would be called the same."""
    given = names if isinstance(names, Mapping) else {}
    called = [given.get(group, group) for group in groups]
    return called if len(set(called)) == len(called) else list(groups)


def escaped(value: object) -> str:
    """Return a value as JSON that is safe inside a page."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return "".join(_OPENS.get(character, character) for character in text)


def _title(data: Mapping[str, Any]) -> str:
    decided = data["decision"] or data["label"]
    against = f" and {data['label']}" if data["decision"] and data["label"] else ""
    return f"Explore {decided}{against}"


def _audited(data: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the audited comparisons, for browsers in which no script runs."""
    for model, by, codes, rate, show, value, low, high in data["check"]:
        columns = [data["columns"][i] for i in by]
        group = " & ".join(c["groups"][code] for c, code in zip(columns, codes, strict=True))
        ends = "no confidence interval" if low is None else f"{_text(low)} to {_text(high)}"
        of = f" ({data['models'][model]['name']})" if len(data["models"]) > 1 else ""
        metric = f"{data['rates'][rate]['title']} {show}{of}"
        yield printable(group), printable(metric), f"{_text(value)} ({ends})"


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3f}"
