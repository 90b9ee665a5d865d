"""The runner: what verbs have in common that are a function from counts to a result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from fairgauge.api.audit import counted, repeated_rows
from fairgauge.checks.open_doubts import with_accepted, withhold
from fairgauge.checks.rows import likely_mistakes
from fairgauge.question.options import Options
from fairgauge.question.specification import Spec, refuse_candidates
from fairgauge.resolve.excluded_rows import excluded_rows, exclusion_notes
from fairgauge.resolve.outcomes import decide_task
from fairgauge.resolve.question_checks import check_known
from fairgauge.results.counted import CountedData, CountedResult
from fairgauge.results.shown_result import made_now

Result = TypeVar("Result", bound=CountedResult)


def answered(
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
    refuse_candidates(options)
    cube, source, spec = counted(data, (), options)
    if check is not None:
        check(spec)
    check_known(cube, spec)
    common: dict[str, Any] = {
        **made_now(),
        "data": CountedData(source.name if source else "counts", cube.read),
    }
    result = answer(cube, spec, **common)
    mistakes = [
        *likely_mistakes(cube, spec, decide_task(cube, spec)),
        *repeated_rows(data, source, spec, cube, verb),
    ]
    stated = {(note.code, note.feature) for note in result.diagnostics}  # in its own words
    notes = (
        *exclusion_notes(excluded_rows(cube, spec), spec),
        *with_accepted([n for n in mistakes if (n.code, n.feature) not in stated], spec),
        *with_accepted(result.diagnostics, spec),
    )
    result = replace(result, diagnostics=notes, spec=spec.to_dict())
    return withhold([result], notes, cube, spec)[0]
