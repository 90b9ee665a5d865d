"""Brief: what a report states first, in sentences that a reader without statistics understands."""

from __future__ import annotations

from dataclasses import dataclass, fields


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
    worse_off : who is worse off, and by how much.
    certainty : how certain that is, and what is undecided.
    limits : what the report does not show.
    steps : what to do next.
    """

    headline: Sentence
    verdict: tuple[Sentence, ...]
    looked_at: tuple[Sentence, ...]
    worse_off: tuple[Sentence, ...]
    certainty: tuple[Sentence, ...]
    limits: tuple[Sentence, ...]
    steps: tuple[Sentence, ...]

    @property
    def answers(self) -> tuple[tuple[str, tuple[Sentence, ...]], ...]:
        """Return the questions that have an answer, each with its sentences."""
        parts = ((QUESTIONS[each.name], getattr(self, each.name)) for each in fields(self)[2:])
        return tuple((question, sentences) for question, sentences in parts if sentences)

    def __str__(self) -> str:
        lines = [str(self.headline), *(str(each) for each in self.verdict)]
        for question, sentences in self.answers:
            lines += ["", question, *(f"  {each}" for each in sentences)]
        return "\n".join(lines)


QUESTIONS = {
    "looked_at": "What was looked at",
    "worse_off": "Who is worse off, and by how much",
    "certainty": "How certain this is",
    "limits": "What it does not show",
    "steps": "What next",
}
"""The questions that a brief answers, by the names of its parts."""
