"""Offline pages: `page` audits a table in a browser, `explore` shows every view of counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from itertools import product
from pathlib import Path
from typing import Any, Unpack

from fairgauge.api.audit import Run, audit, count, start_run
from fairgauge.catalogue.directions import adverse_sign, better_of, favours_the_least, has_direction
from fairgauge.catalogue.lookup import find_rate
from fairgauge.catalogue.statistics import Rate
from fairgauge.enums import Better, DiagnosticCode, Favourable, Uncounted
from fairgauge.errors import CubeError, Problem, listing, quote, refuse
from fairgauge.measure.exploration import explored, rates_data
from fairgauge.question.kits import Kit, find_kit, kit_names
from fairgauge.question.options import Options, with_options
from fairgauge.question.rules import FOUR_FIFTHS
from fairgauge.question.specification import Config, Spec, ask, read_options, with_config
from fairgauge.render.words import in_language
from fairgauge.results.report import Report
from fairgauge.statements.compared import measure

_OF_ROWS = (
    DiagnosticCode.COPIED_FILES, DiagnosticCode.ROWS_THAT_REPEAT_PEOPLE,
    DiagnosticCode.ALIKE_IDENTIFIERS, DiagnosticCode.PLACEHOLDER_IDENTIFIER,
    DiagnosticCode.PEOPLE, DiagnosticCode.PEOPLE_UNCLEAR,
)  # fmt: skip
"""What a report states of its rows, as counts alone do not show it."""
_RATES = (
    "selection_rate", "true_positive_rate", "false_positive_rate", "positive_predictive_value",
)  # fmt: skip
_EXPLORED = (*_RATES, "accuracy")


class _OfflinePage:
    """One file that asks nothing of any other; a notebook shows it where it stands."""

    def __init__(self, html: str, about: str) -> None:
        self.html, self._about = html, about

    def save(self, path: str | Path) -> None:
        """Write the page, whole or not at all."""
        from fairgauge.atomic_files import write_whole

        write_whole(path, self.html)

    def _repr_html_(self) -> str:
        frame = f'sandbox="allow-scripts allow-downloads" title="{type(self).__name__}"'
        size = 'width="100%" height="900"'
        return f'<iframe {frame} {size} frameborder="0" srcdoc="{escape(self.html)}"></iframe>'

    def __str__(self) -> str:
        return self._about

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._about}; .save('page.html') keeps it>"


class AuditPage(_OfflinePage):
    """A page that audits a table which is dragged onto it."""


class Exploration(_OfflinePage):
    """A page that computes every view of its counts.

    Its ``warnings`` are texts of what the data suggest was not meant, as an audit warns of it;
    ``exact`` is True where the page holds counts of fewer than ten persons.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        from fairgauge.render.writers.audit_page import explore_page

        rates, places = len(data["rates"]), len(data["thresholds"])
        at = f" at {places} thresholds" if places > 1 else ""
        about = f"{data['rows']:,} rows; {rates} rate{'s' if rates > 1 else ''}{at}"
        super().__init__(explore_page(data), about)
        self._data = data
        self.warnings: tuple[str, ...] = tuple(data["warnings"])
        self.exact = bool(data["exact"])


@with_options
def explore(
    data: object = None, *, config: Config = None, exact: bool = False, **options: Unpack[Options]
) -> Exploration:
    """Make one page in which rates, references, thresholds, filters and groups can be chosen.

    The page holds the counts and no row, works without a network, and computes the confidence
    intervals of every view as `audit` does. Decisions of candidate models are shown beside those of
    the model in use. Protected counts give bounds and intervals that include them.

    Parameters
    ----------
    data : frame, path, glob, list of paths, or Cube
        As for `audit`. To cross columns, or to filter by one while another makes the groups, ask
        for their intersection.
    {config}
    exact : bool
        Whether the page may hold counts of fewer than ten persons, which people who have the file
        can read.
    {options}

    Returns
    -------
    Exploration
        ``.save("explore.html")`` writes the page.

    {errors}

    Examples
    --------
    >>> import fairgauge as fg
    >>> counts = fg.confusion("sex", {
    ...     "Female": {"tp": 20, "fp": 12, "fn": 17, "tn": 18},
    ...     "Male": {"tp": 65, "fp": 10, "fn": 15, "tn": 20},
    ... })
    >>> fg.explore(counts)
    <Exploration: 177 rows; 6 rates; .save('page.html') keeps it>
    """
    options = with_config(config, options, judges=True)
    run = start_run("explore", data, options, models=True)
    found = (*run.row_notes(), *run.mistakes())
    return Exploration(explored(run.cube, run.spec, row_notes=found, exact=exact))


def explore_report(report: Report, *, exact: bool = False) -> Exploration:
    """Make the page of the counts that a report was made of, with the question of the report."""
    cube = report.counts
    if cube is None:
        raise CubeError(
            "a report that was read from a file holds no counts; explore them (fairgauge.explore)"
        )
    spec = ask(base=cube.asked, **{k: v for k, v in report.spec.items() if v not in ([], {})})
    row_notes = [each for each in report.diagnostics if each.code in _OF_ROWS]
    row_notes += Run("explore", cube, cube, None, spec).mistakes()
    return Exploration(explored(cube, spec, row_notes=row_notes, exact=exact))


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
    <AuditPage: preset answered; .save('page.html') keeps it>
    """
    from fairgauge.render.writers.audit_page import KEYS, audit_page

    with in_language(lang):  # refuses languages that there are not
        keys = {} if config is None else config
        given = dict(read_options(keys) if isinstance(keys, (str, Path)) else keys)
    if preset is not None:
        given["preset"] = find_kit(preset).name
    known = f"but {listing(KEYS)}; use fairgauge audit for it"
    odd = [key for key in given if key not in KEYS]
    problems = [Problem(key, f"a page cannot answer {quote(key)}, {known}") for key in odd]
    named, presets = given.get("preset"), [kit.name for kit in _page_kits()]
    if named not in (None, *presets):
        known = f"the presets that a page can ask ({listing(presets)})"
        message = f"{quote(named)} is not among {known}; use fairgauge audit --preset {named}"
        problems.append(Problem("preset", message))
    refuse(problems)
    html = audit_page(page_data() | {"given": given}, lang)
    return AuditPage(html, f"{', '.join(given) or 'nothing'} answered")


def _page_kits() -> list[Kit]:
    # the presets whose every option the page can answer
    return [kit for kit in map(find_kit, kit_names()) if kit.page]


def page_data() -> dict[str, Any]:
    """Return what a page takes of the package's numbers: rates, presets, a table to check."""
    example = {"g": ["a", "b"], "d": ["x", "y"]}
    saved: Any = count(example, prediction="d", positive="x", sensitive="g").to_dict()
    question = json.dumps(saved["question"])
    return {
        "schema": saved["schema"],
        "question": json.loads(question, parse_float=lambda text: {"float": float(text)}),
        "asked": list(saved["plan"]["asked"]),
        "no_count": str(Uncounted.NO_COUNT),
        "same_person": str(Uncounted.SAME_PERSON),
        "rates": list(_rates()),
        "presets": {
            kit.name: {"title": kit.title, "words": dict(kit.words), "no_limit": kit.no_limit,
                       "options": dict(kit.options), "crossed": kit.intersect}
            for kit in _page_kits()
        },
        "fifths": [str(FOUR_FIFTHS), FOUR_FIFTHS.reference, FOUR_FIFTHS.min_share],
        "check": _check(),
    }  # fmt: skip


def _rates() -> Iterator[dict[str, object]]:
    rows = [row for row in map(find_rate, _EXPLORED) if isinstance(row, Rate)]
    for row, made in zip(rows, rates_data(rows), strict=True):
        made |= {"says": "", "needs": len(row.needs)}
        if row.name in _RATES:
            of = measure(Spec(prediction="d", label="y"), row)
            assert of.event is not None
            made["event"] = [of.event.kind, of.event.positive]
            made["among"] = of.among and [of.among.kind, of.among.positive]
            made["directions"] = {str(each): _direction(row, each) for each in Favourable}
        yield made


def _direction(row: Any, favourable: Favourable) -> dict[str, object]:
    # which sign of a difference harms, and which one is searched for first
    adverse = adverse_sign(row, favourable)
    return {
        "adverse": adverse,
        "least": favours_the_least(row, favourable),
        "sign": adverse or (1 if favours_the_least(row, favourable) else -1),
        "directed": adverse != 0 or has_direction(row, favourable),
        "known": adverse != 0 or better_of(row, favourable) is not Better.NEITHER,
    }


_EXAMPLE = {"Female": (20, 12, 37, 38), "Male": (65, 10, 15, 40), "Other": (9, 6, 12, 11)}
"""Counts by sex of who was approved and repaid, approved only, repaid only, and neither."""


def _check() -> dict[str, object]:
    # a small table with the numbers of Python, which the page computes on opening
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
    keys = ("feature", "group", "low", "high")
    listed = [[e["metric"], e["value"], *map(e.get, keys)] for e in report["estimates"]]
    verdicts = [[v["rule"], v["outcome"], *map(v.get, keys)] for v in report["verdicts"]]
    lines = [",".join(columns), *(",".join(map(str, row.values())) for row in rows)]
    return {
        "text": "\n".join(lines),
        "question": question,
        "fingerprint": report["data"]["fingerprint"],
        "rows": [*(e for e in listed if e[0] in question["metrics"]), *verdicts],
    }
