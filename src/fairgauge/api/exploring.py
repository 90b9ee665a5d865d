"""`explore`: one page in which every view of the counts is computed again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, Never, Unpack

from fairgauge.api.audit import counted, counted_people, judged, repeated_rows
from fairgauge.api.loading import load
from fairgauge.checks.open_doubts import with_accepted
from fairgauge.checks.rows import likely_mistakes
from fairgauge.cube.cube import Cube
from fairgauge.enums import DiagnosticCode
from fairgauge.errors import CubeError
from fairgauge.measure.exploration import explored
from fairgauge.question.option_docs import with_options
from fairgauge.question.options import Options
from fairgauge.question.spec_file import Config, with_config
from fairgauge.question.specification import ask
from fairgauge.resolve.outcomes import decide_task
from fairgauge.results.report import Report

_HEIGHT = 900
_OF_ROWS = (
    DiagnosticCode.COPIED_FILES, DiagnosticCode.DOUBLED_ROWS, DiagnosticCode.REPEATED_ID,
    DiagnosticCode.ALIKE_IDENTIFIERS, DiagnosticCode.PLACEHOLDER_IDENTIFIER,
    DiagnosticCode.PEOPLE, DiagnosticCode.PEOPLE_UNCLEAR,
)  # fmt: skip
"""What a report states of its rows, as counts alone do not show it."""


class Exploration:
    """A page that computes every view of its counts; in a notebook it is shown where it stands.

    Parameters
    ----------
    data : mapping
        The counts, the formulas and the critical values, as plain values.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the data suggest was not meant, as an audit of the same counts warns of it."""
        return tuple(self._data["warnings"])

    @property
    def html(self) -> str:
        """The page: one file that asks nothing of any other."""
        from fairgauge.render.writers.explore_page import explore_page

        return explore_page(self._data)

    def save(self, path: str | Path) -> None:
        """Write the page, whole or not at all."""
        from fairgauge.atomic_files import write_whole

        write_whole(path, self.html)

    @property
    def exact(self) -> bool:
        """Whether the page holds counts of fewer than ten persons."""
        return bool(self._data["exact"])

    @property
    def alone(self) -> int:
        """The rows that are alone in a count of the page, of its table with most of them."""
        return int(self._data["alone"])

    def __str__(self) -> str:
        rates, places = len(self._data["rates"]), len(self._data["thresholds"])
        at = f" at {places} thresholds" if places > 1 else ""
        return (
            f"{self._data['rows']:,} rows; {rates} rate{'s' if rates > 1 else ''}{at}; at most "
            f"{self._data['together']['count']:,} intervals can be shown"
        )

    def _repr_html_(self) -> str:
        frame = 'sandbox="allow-scripts allow-downloads" title="fairgauge explore"'
        size = f'width="100%" height="{_HEIGHT}"'
        return f'<iframe {frame} {size} frameborder="0" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"<Exploration of {self._data['rows']:,} rows; .save('explore.html') keeps it>"


@with_options
def explore(
    data: object = None,
    *arrays: Never,
    config: Config = None,
    exact: bool = False,
    **options: Unpack[Options],
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
    *arrays
        None: arrays are given by name.
    {config}
    exact : bool
        Whether the page may hold counts of fewer than ten persons, which people who have the file
        can read.
    {options}

    Returns
    -------
    Exploration
        ``.save("explore.html")`` writes the page.

    Raises
    ------
    SpecError
        The question is wrong, or has no rate that a page can compute.
    DataError
        The data cannot be read, or do not hold what is asked.
    CubeError
        Counts of fewer than ten persons were not allowed; or the counts are weighted, clustered, or
        too many.

    Examples
    --------
    >>> import fairgauge as fg
    >>> counts = fg.confusion("sex", {
    ...     "Female": {"tp": 20, "fp": 12, "fn": 17, "tn": 18},
    ...     "Male": {"tp": 65, "fp": 10, "fn": 15, "tn": 20},
    ... })
    >>> fg.explore(counts)
    <Exploration of 177 rows; .save('explore.html') keeps it>
    """
    options = with_config(config, options, judges=True)
    cube, source, spec = counted(data, arrays, options)
    alone = replace(spec, candidate=(), margins=())
    mistakes = likely_mistakes(cube, spec, decide_task(cube, alone))
    repeated = repeated_rows(data, source, spec, cube, "explore")
    found = with_accepted([*counted_people(cube, spec), *repeated, *mistakes], spec)
    verdicts = judged(cube, source, alone, found)[1] if spec.rules else ()
    return Exploration(explored(cube, spec, verdicts=verdicts, of_rows=found, exact=exact))


def explore_report(
    report: Report, counts: Cube | str | Path | None = None, *, exact: bool = False
) -> Exploration:
    """Make the page of the counts that a report was made of, with the question of the report.

    Raises
    ------
    CubeError
        These are no counts, or others.
    """
    given = report.counts if counts is None else counts
    cube = load(given) if isinstance(given, (str, Path)) else given
    if not isinstance(cube, Cube):
        raise CubeError(
            "a report that was read from a file holds no counts; give them: a Cube, or the path of "
            "a .cube.json (report.explore('people.cube.json'))"
        )
    if cube.digest != report.data.fingerprint:
        raise CubeError(
            f"the report was made of the counts {report.data.fingerprint}, and these are "
            f"{cube.digest}; give the counts that it was made of"
        )
    spec = ask(base=cube.asked, **{k: v for k, v in report.spec.items() if v not in ([], {})})
    of_rows = [each for each in report.diagnostics if each.code in _OF_ROWS]
    of_rows += with_accepted(likely_mistakes(cube, spec, report.task), spec)
    return Exploration(explored(cube, spec, verdicts=report.verdicts, of_rows=of_rows, exact=exact))
