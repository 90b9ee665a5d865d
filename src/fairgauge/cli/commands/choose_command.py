"""``fairgauge choose``: from a few questions to a specification."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from fairgauge.choosing.recommendation import QUESTIONS, Question, Recommendation, next_question
from fairgauge.cli._command_group import Command, add_options
from fairgauge.cli._spec_flags import Texts, asked, flags_for
from fairgauge.cli._streams import print_result
from fairgauge.errors import SpecError
from fairgauge.question.options import BY_NAME
from fairgauge.values import Json

_COLUMNS = (
    "label", "prediction", "score", "score_of", "threshold", "positive", "sensitive",
    "probabilities", "strata", "count", "weight", "cluster",
)  # fmt: skip
_EXPECTED = {
    "rate": "Expected rate of the groups, for the rows needed (default 0.5).",
    "share": "Share of the smallest group in all rows (default 0.1).",
    "base-rate": "Share of rows with the favourable outcome (default 0.5).",
}


@click.command("choose", cls=Command)
@add_options(
    *(click.option(f"--{q.name}", type=click.Choice([*q.answers]), help=q.text) for q in QUESTIONS),
    *(click.option(f"--{name}", type=float, help=text) for name, text in _EXPECTED.items()),
)
@flags_for(*_COLUMNS)
@click.option("-o", "--output", "path", metavar="FILE", help="File to write (.toml).")
def command(path: str | None, **flags: Any) -> None:
    """Choose metrics by a few questions, and write a specification that can be run.

    Questions that no flag answers are asked in the terminal, and then the columns of the data. The
    specification holds the metrics, rules to start from, the rows that they need, and what the
    numbers will not show.

    \b
    fairgauge choose -o audit.toml
    fairgauge choose --model decision --outcomes none --prediction approved --sensitive sex
    fairgauge choose --model none --probabilities 'race: Black=p_black, White=p_white'
    fairgauge audit loans.csv -c audit.toml
    """  # noqa: D301 - the paragraph mark of click
    if path is not None and not path.casefold().endswith(".toml"):
        raise click.UsageError(f"a specification is written as TOML; name a .toml file, not {path}")
    _options(flags)  # mistakes in flags are named before anything is asked
    given = {q.name: word for q in QUESTIONS if (word := flags.pop(q.name)) is not None}
    numbers = {name: flags.pop(name) for name in ("rate", "share", "base_rate")}
    in_terminal = next_question(given) is not None
    while (question := next_question(given)) is not None:
        given[question.name] = _ask(question)

    from fairgauge.choosing.recommendation import Expected, recommend, specification

    expected = Expected(**{name: value for name, value in numbers.items() if value is not None})
    found = recommend(given, expected)
    if in_terminal:
        flags |= _ask_columns(found, flags)
    options = _options(flags)
    text = specification(found, options)
    if path is None:
        print_result(text)
        return
    from fairgauge.atomic_files import write_whole

    write_whole(path, text)
    print_result(f"Written: {path}. Next: fairgauge audit DATA -c {path}")


def _options(flags: Mapping[str, Texts]) -> dict[str, Json]:
    what = asked(None, flags)
    if what.problems:
        raise SpecError(what.problems)
    return {name: BY_NAME[name].type.plain(value) for name, value in what.options.items()}


def _ask(question: Question) -> str:
    """Ask a question in the terminal; an answer is its word or its number."""
    words = list(question.answers)
    click.echo(f"\n{question.text}", err=True)
    for number, (word, meaning) in enumerate(question.answers.items(), 1):
        click.echo(f"  {number}  {word.ljust(max(map(len, words)))}  {meaning}", err=True)

    def read(text: str) -> str:
        numbers = {str(number): word for number, word in enumerate(words, 1)}
        answer = numbers.get(text.strip(), text.strip())
        if answer not in words:
            raise click.BadParameter(f"choose one of {', '.join(words)}")
        return answer

    try:
        answer: str = click.prompt("Answer", value_proc=read, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise  # interrupted; otherwise there is nobody to ask
        message = f"answer --{question.name} with one of {', '.join(words)}"
        raise click.UsageError(message) from None
    return answer


def _ask_columns(found: Recommendation, flags: Mapping[str, Texts]) -> dict[str, Texts]:
    """Ask for the columns that no flag names; Enter leaves the name of the role in its place."""
    from fairgauge.choosing.recommendation import PLACEHOLDERS

    click.echo("", err=True)
    answers: dict[str, Texts] = {}
    for role in found.columns:
        if flags[role] is None:
            answers[role] = _ask_text(BY_NAME[role].description, PLACEHOLDERS[role])
    if "label" in found.columns and not flags["positive"] and found.binary:
        text = _ask_text("Favourable label values, separated by commas", "1")
        answers["positive"] = (text,)
    positive = flags["positive"] or answers.get("positive", ())
    if "score" in found.columns and positive and not flags["score_of"]:
        answers["score_of"] = _ask_score_of(positive)
    if not flags["sensitive"] and not flags["probabilities"]:
        text = f"{BY_NAME['sensitive'].description}, separated by spaces"
        answers["sensitive"] = tuple(_ask_text(text, PLACEHOLDERS["sensitive"]).split())
    return answers


def _ask_score_of(positive: Sequence[str]) -> str | None:
    """Ask which label value the score is the probability of; a risk is that of the other one."""
    values = [value for text in positive for value in text.split(",")]
    text = "Label value whose probability the score gives (of a risk score, the unfavourable one)"
    one = len(values) == 1 and not values[0].lstrip().startswith(">")
    return _ask_text(text, values[0] if one else "") or None


def _ask_text(text: str, usual: str) -> str:
    """Ask for a text; without a terminal it is the usual one."""
    try:
        answer: str = click.prompt(text, default=usual, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        return usual
    return answer
