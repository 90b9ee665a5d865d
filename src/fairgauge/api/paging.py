"""`page`: an audit in one offline file, for people who cannot install anything."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

from fairgauge.api.audit import audit, count
from fairgauge.catalogue.lookup import find_rate
from fairgauge.enums import Better, Favourable, Uncounted
from fairgauge.errors import Problem, listing, quote, refuse
from fairgauge.measure.exploration import compared, rate_data
from fairgauge.question.presets import preset as preset_of
from fairgauge.question.presets import presets
from fairgauge.question.spec_file import Config, read_options
from fairgauge.render.language import in_language
from fairgauge.results.disadvantage import (
    adverse_sign,
    better_of,
    favours_the_least,
    has_direction,
)
from fairgauge.statements.compared import measure

_HEIGHT = 900


_RATES = ("selection_rate", "true_positive_rate")
_FAVOURABLE = (Favourable.POSITIVE, Favourable.NEGATIVE, Favourable.NEITHER)


class AuditPage:
    """A page that audits a table which is dragged onto it; a notebook shows it in its place.

    Parameters
    ----------
    given : mapping
        What is answered already, as the keys of a specification.
    lang : str
        The language of the page.
    """

    def __init__(self, given: Mapping[str, Any], lang: str = "en") -> None:
        self._given, self._lang = dict(given), lang

    @property
    def html(self) -> str:
        """The page: one file that asks nothing of any other."""
        from fairgauge.render.writers.audit_page import audit_page

        return audit_page(page_data() | {"given": self._given}, self._lang)

    def save(self, path: str | Path) -> None:
        """Write the page, whole or not at all."""
        from fairgauge.atomic_files import write_whole

        write_whole(path, self.html)

    def _repr_html_(self) -> str:
        frame = 'sandbox="allow-scripts allow-downloads" title="fairgauge page"'
        size = f'width="100%" height="{_HEIGHT}"'
        return f'<iframe {frame} {size} frameborder="0" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        asked = ", ".join(self._given) or "nothing yet"
        return f"<AuditPage with {asked} answered; .save('audit.html') keeps it>"


def page(*, preset: str | None = None, config: Config = None, lang: str = "en") -> AuditPage:
    """Make one page that audits a table in a browser, without an installation.

    It is for people who cannot install anything, and may not upload the data: it asks six
    questions, works without a network, and no data leave the computer. `audit` gives the same
    numbers from the question, or the counts, that the page saves.

    Parameters
    ----------
    preset : str, optional
        What a regulation asks for, such as ``nyc-ll144``: the page then asks for no rule.
    config : path or mapping, optional
        A specification of which the page asks what is open alone.
    lang : {"en", "de"}
        The language of the page.

    Returns
    -------
    AuditPage
        ``.save("audit.html")`` writes the page.

    Raises
    ------
    SpecError
        The page cannot answer what the specification asks.
    DataError
        There is no such language.

    Examples
    --------
    >>> import fairgauge as fg
    >>> fg.page(preset="nyc-ll144")
    <AuditPage with preset answered; .save('audit.html') keeps it>
    """
    from fairgauge.render.writers.audit_page import KEYS

    with in_language(lang):  # refuses languages that there are not
        keys = {} if config is None else config
        given = dict(read_options(keys) if isinstance(keys, (str, Path)) else keys)
    if preset is not None:
        given["preset"] = preset_of(preset).name
    known = f"but {listing(KEYS)}; use fairgauge audit for it"
    odd = [key for key in given if key not in KEYS]
    problems = [Problem(key, f"a page cannot answer {quote(key)}, {known}") for key in odd]
    named = given.get("preset")
    if named not in (None, *page_presets()):
        message = (
            f"{quote(named)} is not among the presets that a page can ask "
            f"({listing(page_presets())}); use fairgauge audit --preset {named}"
        )
        problems.append(Problem("preset", message))
    refuse(problems)
    return AuditPage(given, lang)


def page_presets() -> tuple[str, ...]:
    """Return the presets whose every option the page can answer."""
    return tuple(each.name for each in presets() if each.page)


def page_data() -> dict[str, Any]:
    """Return what a page takes of the package's numbers: rates, presets, a table to check."""
    example = {"g": ["a", "b"], "d": ["x", "y"]}
    saved: Any = count(example, prediction="d", positive="x", sensitive="g").to_dict()
    return {
        "schema": saved["schema"],
        "question": _with_floats(saved["question"]),
        "asked": list(saved["plan"]["asked"]),
        "no_count": str(Uncounted.NO_COUNT),
        "rates": list(map(_rate, _RATES)),
        "presets": {name: _preset(name) for name in page_presets()},
        "check": _check(),
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
    made = preset_of(name)
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


_EXAMPLE = {"Female": (20, 12, 37, 38), "Male": (65, 10, 15, 40), "Other": (9, 6, 12, 11)}
"""Counts by sex of who was approved and repaid, approved only, repaid only, and neither."""


def _check() -> dict[str, Any]:
    """Return a small table with the numbers of Python, which the page computes on opening."""
    rows = [
        {"sex": sex, "approved": a, "repaid": r, "n": n}
        for sex, of in _EXAMPLE.items()
        for (a, r), n in zip(product(("yes", "no"), repeat=2), of, strict=True)
    ]
    question: dict[str, Any] = {
        "label": "repaid", "prediction": "approved", "positive": ["yes"], "sensitive": ["sex"],
        "count": "n", "favourable": "positive", "rules": ["selection_rate.ratio >= 0.8"],
        "metrics": [f"{rate}.{by}" for rate in _RATES for by in ("difference", "ratio")],
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
