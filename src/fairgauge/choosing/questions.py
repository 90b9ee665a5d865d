"""The questions whose answers decide which metrics suit an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairgauge.errors import Problem, SpecError, listing, nearest, quote

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the answers that it has.

    Attributes
    ----------
    name : the name of its flag and of its answer.
    text : the question.
    answers : what may be answered, with what it means.
    asked_if : answers to earlier questions, one of which each must have for this one to be asked.
    """

    name: str
    text: str
    answers: Mapping[str, str]
    asked_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def applies(self, given: Mapping[str, str]) -> bool:
        """Return whether earlier answers make this question apply."""
        return all(given.get(name) in words for name, words in self.asked_if.items())


QUESTIONS = (
    Question(
        "model",
        "What does the model give for each person?",
        {
            "none": "there is no model yet, only past outcomes, for example training data",
            "decision": "a decision: yes or no",
            "score": "a score, from which yes or no is decided at a threshold",
            "class": "one of several classes",
            "number": "an amount, for example a price or a number of days",
            "ranking": "a place in a list, of which only the top is used",
        },
    ),
    Question(
        "outcomes",
        "Is the outcome that decides who should be selected recorded (loan repaid, patient ill)?",
        {
            "all": "yes, for all people, and recorded in the same way for all groups",
            "selected": "only for those who were selected (a refused loan is never repaid)",
            "biased": "by a process that may treat groups differently (arrests, past ratings)",
            "none": "no",
        },
        {"model": ("decision", "score", "ranking")},
    ),
    Question(
        "error",
        "Which error does the audit guard against? The favourable decision is the one people want.",
        {
            "refused": "a person who should have the favourable decision does not get it",
            "granted": "a person who should not have the favourable decision gets it",
            "both": "both alike",
        },
        {"model": ("decision", "score"), "outcomes": ("all",)},
    ),
    Question(
        "parity",
        "Must groups be selected at similar rates, whatever the outcomes (a law, a policy)?",
        {"yes": "yes", "no": "no"},
        {"model": ("decision", "score"), "outcomes": ("all",)},
    ),
    Question(
        "probability",
        "Do people act on the score itself, as a probability?",
        {"yes": "yes, or it is shown to them", "no": "no, only on the decision"},
        {"model": ("score",), "outcomes": ("all",)},
    ),
)
"""Every question, in the order in which they are asked."""


def next_question(given: Mapping[str, str]) -> Question | None:
    """Return the first question that the answers leave open, None where all are answered.

    Examples
    --------
    >>> next_question({"model": "decision"}).name
    'outcomes'
    >>> next_question({"model": "number"}) is None
    True
    """
    return next((q for q in QUESTIONS if q.name not in given and q.applies(given)), None)


def check(given: Mapping[str, str]) -> None:
    """Check that every question that applies is answered, with one of its answers.

    Raises
    ------
    SpecError
        An answer is unknown or missing, or answers a question that is not asked.
    """
    problems = []
    for question in QUESTIONS:
        answer = given.get(question.name)
        if answer is None:
            continue
        if answer not in question.answers:
            near = nearest(answer, list(question.answers))
            choices = listing(list(question.answers), len(question.answers))
            message = f"no answer {quote(answer)}.{near} Choose one of {choices}"
            problems.append(Problem(question.name, message))
        elif not question.applies(given):
            conditions = " and ".join(
                f"{name} is {' or '.join(words)}" for name, words in question.asked_if.items()
            )
            problems.append(Problem(question.name, f"is asked only where {conditions}"))
    missing = None if problems else next_question(given)
    if missing is not None:
        choices = listing(list(missing.answers), len(missing.answers))
        problems.append(Problem(missing.name, f"is not answered; choose one of {choices}"))
    if problems:
        raise SpecError(problems)
