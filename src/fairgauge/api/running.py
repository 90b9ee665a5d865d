"""The runner: what verbs have in common, whatever each computes from the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from fairgauge.api._first_rows import notes_of_files
from fairgauge.api.audit import count_data, counted_people
from fairgauge.checks import rows as data_checks
from fairgauge.cube.cube import Cube
from fairgauge.question.options import Options
from fairgauge.question.specification import Spec, refuse_beyond_audits, refuse_candidates
from fairgauge.resolve.counted_values import Counted
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import check_known
from fairgauge.resolve.resolution import excluded_rows, exclusion_notes
from fairgauge.results.scopes import Diagnostic
from fairgauge.results.shown_result import CountedData, CountedResult, made_now
from fairgauge.scan.source import Source
from fairgauge.start.records import replace

Result = TypeVar("Result", bound=CountedResult)


@dataclass(frozen=True, eq=False)
class Run:
    """A call of a verb: the counts, the rows that they are of, if any, and the question."""

    verb: str
    data: object
    cube: Cube
    source: Source | None
    spec: Spec

    @property
    def name(self) -> str:
        return self.source.name if self.source else "counts"

    def stated(self, rows: int) -> dict[str, Any]:
        """Return what a result states of any verb: when it was made, and of how many rows."""
        data = CountedData(self.name, rows)
        return {**made_now(), "data": data, "tally": Counted(self.cube, self.spec)}

    def mistakes(
        self,
        more: Iterable[Diagnostic] = (),
        checks: tuple[data_checks.DataCheck, ...] = data_checks.CHECKS,
    ) -> tuple[Diagnostic, ...]:
        """Return what checks find in the counts, and more; what the user accepts is closed."""
        one = replace(self.spec, candidate=(), margins=())
        found = data_checks.likely_mistakes(
            self.cube, self.spec, decide_task(self.cube, one), checks
        )
        return data_checks.with_accepted([*found, *more], self.spec)

    def row_notes(self) -> tuple[Diagnostic, ...]:
        """Return what the rows show that counts alone do not."""
        of_files = notes_of_files(self.data, self.spec)
        return data_checks.with_accepted(
            [*counted_people(self.cube, self.spec), *of_files], self.spec
        )

    def withhold(
        self, decided: Iterable[data_checks.Decided], notes: Iterable[Diagnostic]
    ) -> tuple[data_checks.Decided, ...]:
        """Return what was decided, of which no pass stands on a doubt that the notes leave open."""
        return data_checks.withhold(decided, notes, self.cube, self.spec)


def start_run(verb: str, data: object, options: Options, *, models: bool = False) -> Run:
    """Open the data, ask and count; candidates are refused unless ``models``."""
    if not models:
        refuse_candidates(options)
    run = Run(verb, data, *count_data(data, options))
    refuse_beyond_audits(run.spec, verb)
    return run


def run_verb(
    verb: str,
    data: object,
    options: Options,
    answer: Callable[..., Result],
    *,
    check: Callable[[Spec], None] | None = None,
) -> Result:
    """Open the data, ask, refuse, count and check; return what a verb makes of the counts.

    Parameters
    ----------
    verb : str
        The name of the command, for warnings.
    data, options
        As of `fairgauge.audit`, a specification file among the options.
    answer : callable
        Takes the counts, the question, and by name what every `CountedResult` states; returns the
        result, of which ``withheld`` leaves no pass that stands on a doubt that is open.
    check : callable
        Refuses, by a `SpecError`, a question that the verb has no answer to.
    """
    run = start_run(verb, data, options)
    cube, spec = run.cube, run.spec
    if check is not None:
        check(spec)
    check_known(cube, spec)
    result = answer(cube, spec, **run.stated(cube.read))
    stated = {(note.code, note.feature) for note in result.diagnostics}  # in its own words
    mistakes = (*run.mistakes(), *run.row_notes())
    notes = (
        *exclusion_notes(excluded_rows(cube, spec), spec),
        *(note for note in mistakes if (note.code, note.feature) not in stated),
        *data_checks.with_accepted(result.diagnostics, spec),
    )
    result = replace(result, diagnostics=notes, spec=spec.to_dict())
    return run.withhold([result], notes)[0]
