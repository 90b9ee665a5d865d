"""What to do next, and who does it: only an analyst needs to know a command."""

from __future__ import annotations

from functools import partial

from fairgauge.results.brief import Sentence


def _step(actor: str, text: str, sources: tuple[str, ...] = ()) -> Sentence:
    """Return a step, which begins with its verb, after who takes it.

    >>> print(_step("Analyst", "compare them again."))
    Analyst: compare them again.
    """
    return Sentence(f"{actor}: {text}", sources)


analyst = partial(_step, "Analyst")
owner = partial(_step, "Those responsible")
supplier = partial(_step, "Those who supply the data")
reader = partial(_step, "Those who know the cases")
