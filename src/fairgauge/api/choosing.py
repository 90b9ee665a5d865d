"""Choosing metrics: answers to a few questions become a specification file with its reasons."""

# ruff: noqa: E501 - a question is one row, so that the table reads as a table

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from fairgauge.errors import Problem, listing, quote, refuse, suggest
from fairgauge.question.recoding import toml_value
from fairgauge.question.rules import FOUR_FIFTHS
from fairgauge.start.records import dataclass, field
from fairgauge.values import Json


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the answers that it has."""

    name: str
    text: str
    answers: Mapping[str, str]  # what may be answered, with what it means
    # answers to earlier questions, one of which each must have for this one to be asked
    asked_if: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # the answer that holds, and may be given, where outcomes are not recorded for all
    otherwise: str = ""

    def applies(self, given: Mapping[str, str]) -> bool:
        return all(given.get(name) in words for name, words in self.asked_if.items())


# fmt: off
QUESTIONS = (
    Question("model", "What does the model give for each person?", {
        "none": "there is no model yet, only past outcomes, for example training data",
        "decision": "a decision: yes or no, also one that people made (who was hired)",
        "score": "a score, from which yes or no is decided at a threshold",
        "class": "one of several classes",
        "number": "an amount, for example a price or a number of days",
        "ranking": "a place in a list, of which only the top is used",
    }),
    Question("outcomes", "Is the outcome that decides who should be selected recorded (loan repaid, patient ill)?", {
        "all": "yes, for all people, and recorded in the same way for all groups",
        "selected": "only for those who were selected (a refused loan is never repaid)",
        "biased": "by a process that may treat groups differently (arrests, past ratings)",
        "none": "no",
    }, {"model": ("decision", "score", "ranking")}),
    Question("error", "Which error does the audit guard against? The favourable decision is the one people want.", {
        "refused": "a person who should have the favourable decision does not get it",
        "granted": "a person who should not have the favourable decision gets it",
        "both": "both alike",
    }, {"model": ("decision", "score"), "outcomes": ("all",)}),
    Question("parity", "Must groups be selected at similar rates, whatever the outcomes (a law, a policy)?", {
        "yes": "yes", "no": "no",
    }, {"model": ("decision", "score"), "outcomes": ("all",)}, otherwise="yes"),
    Question("probability", "Do people act on the score itself, as a probability?", {
        "yes": "yes, or it is shown to them", "no": "no, only on the decision",
    }, {"model": ("score",), "outcomes": ("all",)}),
)
# fmt: on
"""Every question, in the order in which they are asked."""


def next_question(given: Mapping[str, str]) -> Question | None:
    """Return the first question that the answers leave open, None where all are answered.

    >>> next_question({"model": "decision"}).name
    'outcomes'
    >>> next_question({"model": "number"}) is None
    True
    """
    return next((q for q in QUESTIONS if q.name not in given and q.applies(given)), None)


def check(given: Mapping[str, str]) -> None:
    """Check that every question that applies is answered, with one of its answers.

    Raises SpecError (an answer is unknown or missing, or answers a question that is not asked).
    """
    problems = []
    for question in QUESTIONS:
        answer = given.get(question.name)
        known = {**given, "outcomes": "all"} if answer == question.otherwise else given
        if answer is None:
            continue
        if answer not in question.answers:
            near = suggest(answer, question.answers)
            choices = listing(question.answers, len(question.answers))
            message = f"no answer {quote(answer)}.{near} Choose one of {choices}"
            problems.append(Problem(question.name, message))
        elif not question.applies(known):
            conditions = " and ".join(
                f"{name} is {' or '.join(words)}" for name, words in question.asked_if.items()
            )
            problems.append(Problem(question.name, f"is asked only where {conditions}"))
    missing = None if problems else next_question(given)
    if missing is not None:
        choices = listing(missing.answers, len(missing.answers))
        problems.append(Problem(missing.name, f"is not answered; choose one of {choices}"))
    refuse(problems)


_OF_TOP = "top_selection_ratio >= 0.8"
TOLERANCE = 0.1
_ERRORS = 1.25


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What suits the answers."""

    answers: Mapping[str, str]
    # the columns that the specification needs: of label, prediction, score
    columns: tuple[str, ...]
    measures: Mapping[str, str]  # metrics to report, each with why
    limits: Mapping[str, str]  # rules to start from, each with where its limit comes from
    cautions: tuple[str, ...]  # what the numbers will not show


def recommend(answers: Mapping[str, str]) -> Recommendation:
    """Recommend metrics and rules for the answer to each question of `QUESTIONS` that applies.

    Raises SpecError (an answer is missing, unknown, or to a question that is not asked).

    >>> found = recommend({"model": "decision", "outcomes": "none"})
    >>> [*found.limits]
    ['selection_rate.ratio >= 0.8']
    """
    check(answers)
    chosen = [*_choose_measures(answers)]  # a limit is at least or at most a number
    return Recommendation(
        answers=dict(answers),
        columns=_outcome_columns(answers),
        measures={asked: why for asked, why in chosen if "=" not in asked},
        limits={asked: why for asked, why in chosen if "=" in asked},
        cautions=tuple(_cautions(answers)),
    )


def _choose_measures(answers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    model = answers["model"]
    if model == "none":
        yield "base_rate", "how often each group has the favourable outcome"
        yield _tolerance_limit("base_rate")
    elif model == "class":
        yield "accuracy", "the share of correct classes in each group"
        yield "true_positive_rate", "the recall of each class; the worst class decides"
        yield _tolerance_limit("accuracy")
        yield _tolerance_limit("true_positive_rate")
    elif model == "number":
        yield "mean_error", "whether predictions are too high or too low for a group"
        yield "mean_absolute_error", "how far off predictions are, in the label's unit"
        because = f"errors at most {_ERRORS:g} times those of all others; has no unit"
        yield f"mean_absolute_error.ratio <= {_ERRORS:g}", because
    elif model == "ranking":
        yield "top_selection_ratio", "how often each group is in the top 100"
        yield "exposure_ratio", "whether the groups are seen at similar places of the list"
        yield _OF_TOP, "the four-fifths rule of thumb, at the top of the list"
    else:
        yield from _measures_of_decisions(answers)


def _measures_of_decisions(answers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    known = answers["outcomes"] == "all"
    yield "selection_rate", "how often each group gets the favourable decision"
    if answers["outcomes"] in ("all", "selected"):
        yield "positive_predictive_value", "how many of those selected had the outcome"
    if not known or answers["parity"] == "yes":
        yield str(FOUR_FIFTHS), "the four-fifths rule of thumb (29 CFR 1607.4 D)"
    if not known:
        return
    yield "true_positive_rate", "of those who should be selected, how many are"
    yield "false_positive_rate", "of those who should not be selected, how many are"
    if answers["error"] in ("refused", "both"):
        yield _tolerance_limit("true_positive_rate")
    if answers["error"] in ("granted", "both"):
        yield _tolerance_limit("false_positive_rate")
    if answers.get("probability") == "yes":
        yield "calibration_gap", "whether scores are too high or too low in a group"
        yield "expected_calibration_error", "the same over ten ranges of the score"
        because = "mean score and observed share at most 5 percentage points apart in every group"
        yield "-0.05 <= calibration_gap <= 0.05", because


def _tolerance_limit(rate: str) -> tuple[str, str]:
    rule = f"-{TOLERANCE:g} <= {rate}.difference <= {TOLERANCE:g}"
    return rule, "at most 10 percentage points apart: set your own limit, and state why"


def _outcome_columns(answers: Mapping[str, str]) -> tuple[str, ...]:
    model = answers["model"]
    label = () if answers.get("outcomes") in ("biased", "none") else ("label",)
    if model == "none":
        return ("label",)
    return (*label, "score" if model in ("score", "ranking") else "prediction")


def _cautions(answers: Mapping[str, str]) -> Iterator[str]:
    model, outcomes = answers["model"], answers.get("outcomes")
    wanted = answers.get("parity") == "yes" or answers.get("probability") == "yes"
    # fmt: off
    cautions = (
        (model == "none", "Past outcomes show who had the favourable one, not who deserved it."),
        (outcomes == "selected", "Outcomes of people who were not selected are unknown, so recall and false positive rates are not computed. A group selected by a stricter standard shows a higher positive predictive value."),
        (outcomes == "biased", "Error rates against biased records repeat the bias of the records, so the specification leaves the label out."),
        (outcomes == "none", "Without outcomes the audit cannot show whether the right people are selected."),
        (wanted, "Where groups have different base rates, equal selection rates, equal error rates and calibrated scores cannot in general hold together."),
        (model in ("none", "decision", "score"), "An audit compares the groups of each feature. Subgroups of several features, such as older women in one region, are searched by `fairgauge find`."),
        (True, "A limit is a decision of policy or law: those below are starting points."),
    )
    # fmt: on
    return (text for holds, text in cautions if holds)


_WIDTH, _FILL_IN = 88, "  # fill in the name of your column"
DECIDING = ("none", "decision", "score")
PLACEHOLDERS = {
    "label": "label",
    "prediction": "prediction",
    "score": "score",
    "sensitive": "group",
}
"""The names of columns that are not known yet, by their roles."""


def specification(found: Recommendation, asked: Mapping[str, Json] | None = None) -> str:
    """Return the text of a specification file, with the keys that are known already (``asked``).

    A column without a name gets that of its role.

    >>> specification(recommend({"model": "none"}), {"label": "repaid"}).splitlines()[-2].strip()
    '"-0.1 <= base_rate.difference <= 0.1",'
    """
    keys: dict[str, Json] = {name: PLACEHOLDERS[name] for name in found.columns}
    if "probabilities" not in (asked or {}):
        keys["sensitive"] = [PLACEHOLDERS["sensitive"]]
    # of groups known by probabilities alone no group is known to have the highest rate
    recorded = "sensitive" in keys or "sensitive" in (asked or {})
    if recorded and {str(FOUR_FIFTHS), _OF_TOP} & found.limits.keys():
        keys |= {"reference": FOUR_FIFTHS.reference, "min_share": FOUR_FIFTHS.min_share}
    if found.answers["model"] == "score":  # the middle of the scores is where to start
        between = cast("tuple[float, float]", (asked or {}).get("score_range") or (0.0, 1.0))
        keys["threshold"] = sum(between) / 2
    keys |= asked or {}
    about_rows = "How many rows the rules need: `fairgauge plan --rate RATE --share SHARE`."
    if keys.get("probabilities"):
        about_rows = (
            "No number of rows makes a rule pass on groups that are known by probabilities alone: "
            "name the column of people's own answers (known)."
        )
    unnamed = dict.fromkeys(PLACEHOLDERS.keys() - (asked or {}).keys(), _FILL_IN)
    if "threshold" not in (asked or {}):
        unnamed["threshold"] = "  # fill in your threshold"
    answers = [(q, found.answers[q.name]) for q in QUESTIONS if found.answers.get(q.name)]
    lines = [
        "# A specification for `fairgauge audit`, written by `fairgauge choose`.",
        "#",
        "# Answers:",
        *_comments([f"{q.name} = {answer}: {q.answers[answer]}" for q, answer in answers], "- "),
        "#",
        *_comments([about_rows]),
        "#",
        "# What the numbers will not show:",
        *_comments(found.cautions, "- "),
        "",
        *(f"{key} = {toml_value(value)}{unnamed.get(key, '')}" for key, value in keys.items()),
        *(_both_outcomes(keys) if found.answers["model"] in DECIDING else ()),
        "",
        "metrics = [",
        *(f"  # {why}\n  {toml_value(each)}," for each, why in found.measures.items()),
        "]",
        "rules = [",
        *(f"  # {why}\n  {toml_value(each)}," for each, why in found.limits.items()),
        "]",
    ]
    return "\n".join(lines) + "\n"


def _both_outcomes(keys: Mapping[str, Json]) -> Iterator[str]:
    if "negative" not in keys:
        yield "# Where the outcome has more than two values, state both: any other is undecided."
        yield from (f'# {e} = ["VALUE"]' for e in ("positive", "negative") if e not in keys)


def _comments(texts: Iterable[str], mark: str = "") -> Iterator[str]:
    wrapper = textwrap.TextWrapper(
        _WIDTH, f"# {mark}", f"# {' ' * len(mark)}", break_on_hyphens=False
    )
    for text in texts:
        yield from wrapper.wrap(text)
