"""Questions, and what is recommended for the answers, as a specification file with its reasons."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

from fairgauge.errors import Problem, listing, nearest, quote, refuse
from fairgauge.question.spec_file import toml_value
from fairgauge.values import Json

if TYPE_CHECKING:
    from fairgauge.stats.rows_to_decide import Comparison


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
    refuse(problems)


RATIO = 0.8
TOLERANCE = 0.1
_ERRORS = 1.25

Denominator = Literal["all", "positive", "negative"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of the data, for the rows needed.

    Attributes
    ----------
    rate : the rate that the rules compare, of both sides, in (0, 1).
    share : the share of the rows that the smallest group has, in (0, 1).
    base_rate : the share of rows whose outcome is favourable, in (0, 1).
    """

    rate: float = 0.5
    share: float = 0.1
    base_rate: float = 0.5

    def __post_init__(self) -> None:
        problems = [
            Problem(name, f"must be a number between 0 and 1, not {value!r}")
            for name in ("rate", "share", "base_rate")
            if not 0 < (value := getattr(self, name)) < 1
        ]
        refuse(problems)


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric to report, and why."""

    metric: str
    because: str


@dataclass(frozen=True, slots=True)
class Limit:
    """A rule to start from.

    Attributes
    ----------
    rule : the rule as it is written in a specification.
    because : where the limit comes from.
    rows : the rows with which equal rates pass with a power of 80%; None where that cannot be
        computed before a first audit, infinite where no number of rows suffices.
    """

    rule: str
    because: str
    rows: float | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What suits the answers.

    Attributes
    ----------
    answers : the answer to each question that was asked.
    columns : the columns that the specification needs: of label, prediction, score.
    measures, limits : metrics to report, and rules to start from.
    cautions : what the numbers will not show.
    expected : what the rows needed were computed for.
    """

    answers: Mapping[str, str]
    columns: tuple[str, ...]
    measures: tuple[Measure, ...]
    limits: tuple[Limit, ...]
    cautions: tuple[str, ...]
    expected: Expected

    @property
    def binary(self) -> bool:
        """Return whether the audit needs to know which outcome is favourable."""
        return self.answers["model"] not in ("class", "number")

    @property
    def rows(self) -> float | None:
        """Return the rows with which every rule that can be planned passes; None if none can."""
        known = [limit.rows for limit in self.limits if limit.rows is not None]
        return max(known, default=None)


def recommend(answers: Mapping[str, str], expected: Expected | None = None) -> Recommendation:
    """Recommend metrics, rules and the rows they need.

    Parameters
    ----------
    answers : mapping
        The answer to each question of `QUESTIONS` that applies.
    expected : Expected, optional
        What is expected of the data.

    Raises
    ------
    SpecError
        An answer is missing, unknown, or to a question that is not asked.

    Examples
    --------
    >>> found = recommend({"model": "decision", "outcomes": "none"})
    >>> [limit.rule for limit in found.limits], found.rows
    (['selection_rate.ratio >= 0.8'], 2057.0)
    """
    check(answers)
    expected = expected or Expected()
    chosen = [*_chosen(answers, expected)]
    return Recommendation(
        answers=dict(answers),
        columns=_columns(answers),
        measures=tuple(each for each in chosen if isinstance(each, Measure)),
        limits=tuple(each for each in chosen if isinstance(each, Limit)),
        cautions=tuple(_cautions(answers)),
        expected=expected,
    )


def _chosen(answers: Mapping[str, str], expected: Expected) -> Iterator[Measure | Limit]:
    """Yield metrics and rules in the order of importance."""
    model, outcomes = answers["model"], answers.get("outcomes")
    if model == "none":
        yield Measure("base_rate", "how often each group has the favourable outcome")
        yield _within("base_rate", "all", expected)
    elif model == "class":
        yield Measure("accuracy", "the share of correct classes in each group")
        yield Measure("true_positive_rate", "the recall of each class; the worst class decides")
        yield _within("accuracy", "all", expected)
        yield _within("true_positive_rate", "positive", expected)
    elif model == "number":
        yield Measure("mean_error", "whether predictions are too high or too low for a group")
        yield Measure("mean_absolute_error", "how far off predictions are, in the label's unit")
        because = f"errors at most {_ERRORS:g} times those of all others; has no unit"
        yield Limit(f"mean_absolute_error.ratio <= {_ERRORS:g}", because, None)
    elif model == "ranking":
        yield Measure("top_selection_ratio", "how often each group is in the top 100")
        yield Measure("exposure_ratio", "whether the groups are seen at similar places of the list")
        if outcomes == "all":
            yield Measure("precision_at_k", "whether the top of each group is as good")
        because = "the four-fifths rule of thumb, at the top of the list"
        yield Limit(f"top_selection_ratio >= {RATIO:g}", because, None)
    else:
        yield from _of_decisions(answers, expected)


def _of_decisions(answers: Mapping[str, str], expected: Expected) -> Iterator[Measure | Limit]:
    known = answers["outcomes"] == "all"
    yield Measure("selection_rate", "how often each group gets the favourable decision")
    if answers["outcomes"] in ("all", "selected"):
        yield Measure("positive_predictive_value", "how many of those selected had the outcome")
    if not known or answers["parity"] == "yes":
        yield _at_least("selection_rate", expected)
    if not known:
        return
    yield Measure("true_positive_rate", "of those who should be selected, how many are")
    yield Measure("false_positive_rate", "of those who should not be selected, how many are")
    if answers["error"] in ("refused", "both"):
        yield _within("true_positive_rate", "positive", expected)
    if answers["error"] in ("granted", "both"):
        yield _within("false_positive_rate", "negative", expected)
    if answers.get("probability") == "yes":
        yield Measure("calibration_gap", "whether scores are too high or too low in a group")
        yield Measure("expected_calibration_error", "the same over ten ranges of the score")
        because = "mean score and observed share at most 5 percentage points apart in every group"
        yield Limit("-0.05 <= calibration_gap <= 0.05", because, None)


def _at_least(rate: str, expected: Expected) -> Limit:
    rows = _rows(RATIO, math.inf, "ratio", "all", expected)
    return Limit(f"{rate}.ratio >= {RATIO:g}", "the four-fifths rule of thumb", rows)


def _within(rate: str, among: Denominator, expected: Expected) -> Limit:
    rows = _rows(-TOLERANCE, TOLERANCE, "difference", among, expected)
    rule = f"-{TOLERANCE:g} <= {rate}.difference <= {TOLERANCE:g}"
    return Limit(
        rule, "at most 10 percentage points apart: set your own limit, and state why", rows
    )


@cache
def _rows(
    lower: float, upper: float, by: Comparison, among: Denominator, expected: Expected
) -> float:
    from fairgauge.stats.rows_to_decide import rows_for_verdict

    part = {"all": 1.0, "positive": expected.base_rate, "negative": 1 - expected.base_rate}[among]
    rate = expected.rate
    return rows_for_verdict(rate, rate, lower, upper, "pass", by, share=expected.share, among=part)


def _columns(answers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the roles whose columns the specification must name."""
    model, outcomes = answers["model"], answers.get("outcomes")
    label = () if outcomes in ("biased", "none") else ("label",)
    if model == "none":
        return ("label",)
    return (*label, "score" if model in ("score", "ranking") else "prediction")


def _cautions(answers: Mapping[str, str]) -> Iterator[str]:
    outcomes = answers.get("outcomes")
    if answers["model"] == "none":
        yield "Past outcomes show who had the favourable one, not who deserved it."
    if outcomes == "selected":
        yield (
            "Outcomes of people who were not selected are unknown, so recall and false positive "
            "rates are not computed. A group selected by a stricter standard shows a higher "
            "positive predictive value."
        )
    if outcomes == "biased":
        yield (
            "Error rates against biased records repeat the bias of the records, so the "
            "specification leaves the label out."
        )
    if outcomes == "none":
        yield "Without outcomes the audit cannot show whether the right people are selected."
    if answers.get("parity") == "yes" or answers.get("probability") == "yes":
        yield (
            "Where groups have different base rates, equal selection rates, equal error rates and "
            "calibrated scores cannot in general hold together."
        )
    if answers["model"] in ("none", "decision", "score"):
        yield (
            "An audit compares the groups of each feature. Subgroups of several features, such as "
            "older women in one region, are searched by `fairgauge find`."
        )
    yield "A limit is a decision of policy or law: those below are starting points."


_WIDTH = 88
PLACEHOLDERS = {
    "label": "label",
    "prediction": "prediction",
    "score": "score",
    "sensitive": "group",
}
"""The names of columns that are not known yet, by their roles."""


def specification(found: Recommendation, asked: Mapping[str, Json] | None = None) -> str:
    r"""Return the text of a specification file.

    Parameters
    ----------
    found : Recommendation
        What suits the answers.
    asked : mapping, optional
        Keys and values of a specification that are known already, such as the names of columns.
        A column without a name gets that of its role.

    Examples
    --------
    >>> from fairgauge.choosing.recommendation import recommend
    >>> found = recommend({"model": "none"})
    >>> print(specification(found, {"label": "repaid"}).partition("\n\n")[2])
    label = "repaid"
    sensitive = ["group"]
    <BLANKLINE>
    metrics = [
      # how often each group has the favourable outcome
      "base_rate",
    ]
    rules = [
      # at most 10 percentage points apart: set your own limit, and state why
      "-0.1 <= base_rate.difference <= 0.1",
    ]
    <BLANKLINE>
    """
    keys: dict[str, Json] = {name: PLACEHOLDERS[name] for name in found.columns}
    if "probabilities" not in (asked or {}):
        keys["sensitive"] = [PLACEHOLDERS["sensitive"]]
    keys |= asked or {}
    unrecorded = bool(keys.get("probabilities"))
    named = keys.get("sensitive")
    recorded = isinstance(named, list) and any(isinstance(each, str) for each in named)
    lines = [
        "# A specification for `fairgauge audit`, written by `fairgauge choose`.",
        "#",
        *_answers(found),
        "#",
        *(_answers_needed() if unrecorded else ()),
        *(_rows_needed(found) if recorded or not unrecorded else ()),
        "#",
        "# What the numbers will not show:",
        *(line for caution in found.cautions for line in _comment(caution, "# - ", "#   ")),
        "",
        *(f"{key} = {toml_value(value)}" for key, value in keys.items()),
        "",
        "metrics = [",
        *(f"  # {each.because}\n  {toml_value(each.metric)}," for each in found.measures),
        "]",
        "rules = [",
        *(f"  # {each.because}\n  {toml_value(each.rule)}," for each in found.limits),
        "]",
    ]
    return "\n".join(lines) + "\n"


def _answers(found: Recommendation) -> Iterator[str]:
    yield "# Answers:"
    for question in QUESTIONS:
        answer = found.answers.get(question.name)
        if answer is not None:
            text = f"{question.name} = {answer}: {question.answers[answer]}"
            yield from _comment(text, "# - ", "#   ")


def _answers_needed() -> Iterator[str]:
    """Yield what rules on groups from probabilities need to pass, which is no number of rows."""
    yield from _comment(
        "No number of rows makes a rule pass on groups that are known by probabilities alone: name "
        "the column of people's own answers (known)."
    )


def _rows_needed(found: Recommendation) -> Iterator[str]:
    expected = found.expected
    if found.rows is None:
        yield from _comment(
            "The rows needed cannot be planned for these rules before a first table is audited: "
            "`fairgauge audit` reports how many would decide an inconclusive verdict."
        )
        return
    yield from _comment(
        f"Rows needed for each rule to pass with a power of 80% where the groups do not differ "
        f"(rates of {expected.rate:.0%}; smallest group {expected.share:.0%} of the rows; "
        f"favourable outcomes {expected.base_rate:.0%}):"
    )
    for limit in found.limits:
        yield f"# - {limit.rule}: {_rows_of(limit)}"


def _rows_of(limit: Limit) -> str:
    if limit.rows is None:
        return "cannot be planned without a table"
    return "no number of rows" if math.isinf(limit.rows) else f"{limit.rows:,.0f}"


def _comment(text: str, first: str = "# ", later: str = "# ") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )
