"""What holds of every option of every command: help from one table, nothing given twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from loan_cases import SEX

from fairgauge.cli import main
from fairgauge.question.options import BY_NAME, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator


def leaves(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(leaves(main))
SINGLE = [
    (name, option.opts[0])
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option) and not option.multiple
]


def values_for(option: click.Option) -> list[str]:
    """Return texts that may follow a flag."""
    if option.is_flag:
        return []
    if isinstance(option.type, click.Choice):
        return [option.type.choices[0]]
    return ["1"] * option.nargs


@pytest.mark.parametrize(("name", "flag"), SINGLE)
def test_an_option_of_one_value_that_is_given_twice_is_an_error(name, flag):
    command = COMMANDS[name]
    (option,) = (each for each in command.params if flag in each.opts)
    with pytest.raises(click.UsageError, match="is given twice, and holds one value"):
        command.make_context(name, [flag, *values_for(option)] * 2)


def test_the_message_names_the_option(fails, loans):
    message = fails("audit", loans, *SEX, "--count", "age", "--count", "region")
    assert message == "--count is given twice, and holds one value"
    message = fails("compare", "a.json", "b.json", "--same-rows", "--different-rows")
    assert message == "--same-rows or --different-rows is given twice, and holds one value"
    message = fails("monitor", "status", "history", "--at", "2026-01-01", "--at", "2026-01-02")
    assert message == "--at is given twice, and holds one value"


@pytest.mark.parametrize(
    ("flag", "texts"),
    [
        ("--margin", ("accuracy=0.01", "accuracy=0.02")),
        ("--min-group", ("30", "40")),
        ("--min-group", ("1%", "2%")),
        ("--reference", ("sex=F", "sex=M")),
        ("--reference", ("best", "largest")),
        ("--population", ("sex:F=0.5", "sex:F=0.6")),
        ("--population", ("sex:F=0.5,F=0.6", "race:A=0.6")),
    ],
)
def test_a_key_of_a_repeatable_option_that_is_given_twice_is_an_error(fails, loans, flag, texts):
    message = fails("audit", loans, *SEX, flag, texts[0], flag, texts[1])
    assert "is given twice; give it once" in message or "; give either one word, or " in message


OTHERS = {
    ("clarify", "--profile"),  # its default is that of the service
    ("clarify-monitor", "--metrics"),  # a file
    ("compare", "--candidate"),  # hidden, and refused
    ("find", "--features"),  # those that are searched
    ("find", "--missing"),  # of those, a value by default
    ("find", "--multiplicity"),  # of all subgroups
    ("find", "--reference"),
    ("check", "--reference"),  # a category of a table that has no columns of rows
    ("monitor import", "--period"),  # of the history
    ("monitor run", "--period"),
    ("why", "--margin"),  # within strata
    *(("pairs", flag) for flag in ("--sensitive", "--score", "--reference", "--margin")),
}
"""Flags that name something else than the option of an audit."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_flag_that_the_table_of_options_has_is_described_by_it(name):
    """``--replicates`` draws as many samples in every command, and its help names the default."""
    by_flag = {flag: option for option in reversed(OPTIONS) for flag in option.flags}
    for option in COMMANDS[name].params:
        for flag in set(getattr(option, "opts", ())) & by_flag.keys():
            if (name, flag) not in OTHERS:
                assert option.help == by_flag[flag].help(flag), flag
    assert "default 2000" in BY_NAME["replicates"].help("--replicates")


PRINTS_LINES = ["join", "seal", "validate", "verify"]
PRINTS_A_DOCUMENT = {
    "choose", "clarify", "clarify-job", "clarify-monitor", "demo", "merge", "metrics",
    "monitor import", "presets", "protect", "schema", "vertex",
}  # fmt: skip


def test_every_command_that_prints_a_result_takes_quiet():
    """A command has a summary, and all of it, or a few lines; the others print what they make."""
    flags = {
        name: {flag for option in command.params for flag in option.opts}
        for name, command in COMMANDS.items()
    }
    assert {name for name, having in flags.items() if "-q" not in having} == PRINTS_A_DOCUMENT
    summaries = {name for name, having in flags.items() if {"-q", "-o"} <= having}
    assert {n for n in summaries if "--full" not in flags[n]} == {"count", "join", "seal"}


@pytest.mark.parametrize("name", PRINTS_LINES)
def test_quiet_is_one_line_and_no_note(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(
        "id,sex,hired\n" + "".join(f"{i},{'FM'[i % 2]},{i % 3 % 2}\n" for i in range(40))
    )
    (tmp_path / "later.csv").write_text("id,label\n1,0\n1,0\n2,1\n")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex"]
    run("count", "t.csv", *asked, "-o", "t.cube.json")
    run("audit", "t.cube.json", "-o", "t.json", "-q")
    run("seal", "t.json", "-o", "sealed.fairgauge")
    args = {
        "join": ["t.csv", "later.csv", "--on", "id", "-o", "joined.csv"],
        "seal": ["t.json", "-o", "t.fairgauge"],
        "validate": ["t.csv", *asked],
        "verify": ["sealed.fairgauge"],
    }[name]
    whole, line = run(name, *args), run(name, *args, "-q")
    assert whole.exit_code == line.exit_code == 0
    assert line.stdout == whole.stdout.split("\n")[0] + "\n"
    assert (line.stderr, len(whole.stdout.split("\n")) > 2 or bool(whole.stderr)) == ("", True)


@pytest.mark.parametrize("flag", ["--full", "--output"])
def test_what_every_command_prints_has_one_name_in_its_help(flag):
    texts = {
        option.help.split(";")[0]
        for command in COMMANDS.values()
        if any("--full" in each.opts for each in command.params)
        for option in command.params
        if flag in option.opts
    }
    assert len(texts) == 1
    assert "result" in texts.pop()
