"""Brief: what a report states first, in sentences that a reader without statistics understands."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairgauge.results.definitions import NOT_SAVED

_HEADINGS = ("What was looked at", "How certain this is", "What it does not show", "What next")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and where its numbers stand in the report.

    Attributes
    ----------
    text : the sentence.
    sources : the paths in the JSON of the report of what it states: ``estimates[3].interval``.
    """

    text: str
    sources: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The first page of a report, the same sentences in every format.

    ``print`` shows it, with the questions that its parts answer.

    Attributes
    ----------
    headline : who fares worse in what, where a difference stands; what was found otherwise.
    verdict : what the rules come to; empty without rules.
    looked_at : which rows, decisions and groups were compared.
    found : what was found: of an audit, who is worse off, and by how much.
    certainty : how certain that is, and what is undecided.
    limits : what the report does not show.
    steps : what to do next.
    question : what ``found`` answers, as a heading.
    language : in which all this is.
    headings : what the other parts answer, as headings.
    """

    headline: Sentence
    verdict: tuple[Sentence, ...] = ()
    looked_at: tuple[Sentence, ...] = ()
    found: tuple[Sentence, ...] = ()
    certainty: tuple[Sentence, ...] = ()
    limits: tuple[Sentence, ...] = ()
    steps: tuple[Sentence, ...] = ()
    question: str = "What was found"
    language: str = field(default="en", metadata=NOT_SAVED)
    headings: tuple[str, ...] = field(default=_HEADINGS, metadata=NOT_SAVED)

    @property
    def answers(self) -> tuple[tuple[str, tuple[Sentence, ...]], ...]:
        """Return the questions that have an answer, each with its sentences."""
        looked, certain, limits, following = self.headings
        parts = (
            (looked, self.looked_at),
            (self.question, self.found),
            (certain, self.certainty),
            (limits, self.limits),
            (following, self.steps),
        )
        return tuple((question, sentences) for question, sentences in parts if sentences)

    def __str__(self) -> str:
        lines = [str(self.headline), *(str(each) for each in self.verdict)]
        for question, sentences in self.answers:
            lines += ["", question, *(f"  {each}" for each in sentences)]
        return "\n".join(lines)
