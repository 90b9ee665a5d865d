"""The page of `fairgauge.explore`: one file with the counts, that asks nothing of any other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from fairgauge.render.brief.explore_words import in_words
from fairgauge.render.words.display_names import printable
from fairgauge.render.words.numbers import listing
from fairgauge.render.writers.html import css, environment, policy, scripts
from fairgauge.version import __version__

_OPENS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_SCRIPTS = ("kernels.js", "counts.js", "intervals.js", "explore.js")


def explore_page(data: Mapping[str, Any]) -> str:
    """Return the page that computes every view of the counts, in the words of its question."""
    data = in_words(data)
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
        counts=Markup(_escaped(data)),  # noqa: S704 - its angle brackets are escaped
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        policy=policy(style, script),
        version=__version__,
        digest=data["digest"],
    ) + "\n"  # fmt: skip


def _escaped(value: object) -> str:
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
