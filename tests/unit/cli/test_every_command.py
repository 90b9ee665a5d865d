"""What holds of every option of every command: help from one table, nothing given twice."""

import json
import re
import shutil
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from loan_cases import SEX
from tests.needs import POSIX

from fairgauge.cli import main
from fairgauge.question.options import BY_NAME, OPTIONS


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


def values_for(option: click.Option) -> list[str]:
    """Return texts that may follow a flag."""
    if option.is_flag:
        return []
    if isinstance(option.type, click.Choice):
        return [option.type.choices[0]]
    return ["1"] * option.nargs


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_of_one_value_that_is_given_twice_is_an_error(name):
    command = COMMANDS[name]
    for option in command.params:
        if isinstance(option, click.Option) and not option.multiple:
            with pytest.raises(click.UsageError, match="is given twice, and holds one value"):
                command.make_context(name, [option.opts[0], *values_for(option)] * 2)


def test_the_message_names_the_option(fails, loans):
    message = fails("audit", loans, *SEX, "--count", "age", "--count", "region")
    assert message == "--count is given twice, and holds one value"
    message = fails("compare", "a.json", "b.json", "--same-rows", "--different-rows")
    assert message == "--same-rows or --different-rows is given twice, and holds one value"
    message = fails("monitor", "status", "history", "--at", "2026-01-01", "--at", "2026-01-02")
    assert message == "--at is given twice, and holds one value"


def flags_in(text):
    text = re.split(r"^\w+:$", text, maxsplit=1, flags=re.MULTILINE)[1]
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)


def test_help_of_an_audit_begins_with_the_usual_options_under_headings(run):
    shown = run("audit", "--help").output
    titles = ["Question", "Groups", "Uncertainty", "Rules", "Output"]
    assert re.findall(r"^(\w+):$", shown, re.MULTILINE) == titles
    assert len(flags_in(shown)) == 10 + len(["--help"])
    assert shown.endswith("Every option: fairgauge audit --help --all\n")
    assert "\nData:\n" in run("audit", "--all", "-h").output
    for name in ("why", "find", "alternatives", "pairs"):
        for more in ([], ["--all"]):
            assert "\nOptions:\n" not in run(name, "--help", *more).output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_with_all_lists_every_option_once(name, run):
    command = COMMANDS[name]
    shown = flags_in(run(*name.split(), "--help", "--all").output)
    every = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    assert sorted(shown) == sorted(["--help", *(max(each.opts, key=len) for each in every)])


OTHERS = {
    ("clarify-monitor", "--metrics"),  # a file
    ("compare", "--candidate"),  # hidden, and refused
    ("find", "--metrics"),  # one, a share of rows
    ("find", "--sensitive"),
    ("find", "--missing"),  # of those, a value by default
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
    by_flag = {option.flag: option for option in reversed(OPTIONS)}
    for option in COMMANDS[name].params:
        for flag in set(getattr(option, "opts", ())) & by_flag.keys():
            if (name, flag) not in OTHERS:
                assert option.help == by_flag[flag].help(flag=True), flag
    assert "default 2000" in BY_NAME["replicates"].help(flag=True)


QUESTION = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex"]
CLARIFY = {
    "version": "1.0", "dataset_type": "text/csv", "dataset_uri": "numbers.csv", "label": "hired",
    "label_values_or_threshold": [1],
    "facet": [{"name_or_index": "sex", "value_or_threshold": [0]}],
    "methods": {"pre_training_bias": {"methods": "all"}},
}  # fmt: skip
VERTEX = {
    "target_field_name": "hired",
    "bias_configs": [{"biasSlices": {"configs": {"sex": {"value": {"stringValue": "F"}}}},
                      "labels": ["1"]}],
    "predictions_gcs_source": "predictions.jsonl",
}  # fmt: skip
MONITOR = """prediction = "hired"
positive = 1
sensitive = "sex"
monitor.rules = ["selection_rate.ratio >= 0.1"]
"""
EXAMPLES = {
    "alternatives": ["t.csv", *QUESTION, "--label", "label", "--candidate", "other"],
    "audit": ["t.csv", *QUESTION], "check": ["table.csv"],
    "choose": ["--model", "decision", "--outcomes", "none"],
    "clarify": ["clarify.json", "-o", "made"],
    "clarify-monitor": ["2026-01-01/analysis.json", "--baseline", "2026-01-01/analysis.json"],
    "compare": ["t.json", "t.json"],
    "compare-models": ["t.csv", *QUESTION, "--label", "label", "--candidate", "other"],
    "count": ["t.csv", *QUESTION], "demo": [],
    "explore": ["t.csv", *QUESTION, "--exact", "-o", "explore.html"],
    "find": ["t.csv", "--prediction", "hired", "--positive", "1", "--sensitive", "sex",
             "--metrics", "selection_rate"],
    "merge": ["t.cube.json", "other.cube.json"], "metrics": ["DI"], "monitor doctor": ["history"],
    "monitor import": ["history", "2026-01-04.cube.json"],
    "monitor run": ["history", "t.csv", "--period", "2026-01-01", "-c", "monitor.toml"],
    "monitor status": ["history"], "page": ["-o", "audit.html"],
    "pairs": ["swaps.csv", "--item", "item", "--variant", "name", "--sensitive", "sex",
              "--score", "answer"],
    "plan": ["--rate", "0.3"], "presets": ["ugesp"], "protect": ["t.cube.json", "--min-cell", "5"],
    "render": ["t.json"], "schema": ["report"],
    "seal": ["t.json", "t.cube.json", "-o", "t.fairgauge"],
    "thresholds": ["t.csv", "--score", "score", "--threshold", "0.5", "--label", "hired",
                   "--positive", "1", "--sensitive", "sex", "--rule", "DI >= 0.1"],
    "validate": ["t.csv", *QUESTION], "verify": ["sealed.fairgauge"], "vertex": ["vertex.json"],
    "why": ["t.csv", *QUESTION, "--strata", "label"],
}  # fmt: skip
"""A run of every command, on the files that `written` writes."""
DOCUMENTS = {"choose", "count", "merge", "metrics", "presets", "protect", "schema", "vertex"}
"""Commands whose standard output is a document, of which ``-q`` takes nothing."""


SUFFIXES = {
    **dict.fromkeys(("count", "merge", "protect"), ".cube.json"), "choose": ".toml",
    "seal": ".fairgauge", **dict.fromkeys(("explore", "page"), ".html"),
    **dict.fromkeys(("clarify", "clarify-monitor", "demo", "vertex"), "/folder"),
}  # fmt: skip
"""How the outputs of commands end that have another than ``.json``."""
WRITING = [
    *(name for name, c in COMMANDS.items() if any("-o" in each.opts for each in c.params)),
    "monitor import",
]


@pytest.fixture
def written(prepared, tmp_path, monkeypatch):
    """Go to a copy of what the examples read."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Write what the examples read."""
    tmp_path = tmp_path_factory.mktemp("examples")
    rows = [(i, "FM"[i % 2], i % 3 % 2, i % 5 % 2, i % 7 / 7) for i in range(120)]

    def text(header, lines):
        return "\n".join([header, *(",".join(map(str, line)) for line in lines)]) + "\n"

    (tmp_path / "t.csv").write_text(
        text("id,sex,hired,label,score,other", [(*row, row[2]) for row in rows])
    )
    (tmp_path / "numbers.csv").write_text(
        text("sex,hired", [(i % 2, hired) for i, _, hired, *_ in rows])
    )
    (tmp_path / "swaps.csv").write_text(
        text(
            "item,name,sex,answer",
            [(i // 4, f"name{i % 4}", "FM"[i % 2], i % 7) for i in range(120)],
        )
    )
    (tmp_path / "table.csv").write_text("sex,n,selected,AIR\nM,80,48,1\nF,40,12,0.5\n")
    (tmp_path / "monitor.toml").write_text(MONITOR)
    for path in ("clarify.json", "job/processing/input/config/analysis_config.json"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(json.dumps(CLARIFY))
    data = tmp_path / "job/processing/input/data/numbers.csv"
    data.parent.mkdir()
    data.write_bytes((tmp_path / "numbers.csv").read_bytes())
    lines = [
        {"instance": {"sex": sex, "hired": str(label)},
         "prediction": {"classes": ["0", "1"], "scores": [1 - score, score]}}
        for _, sex, _, label, score in rows
    ]  # fmt: skip
    (tmp_path / "predictions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "vertex.json").write_text(json.dumps(VERTEX))
    (tmp_path / "half.csv").write_text("\n".join((tmp_path / "t.csv").read_text().split()[:60]))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        for args in (
            ("count", "t.csv", *QUESTION, "-o", "t.cube.json"),
            ("count", "half.csv", *QUESTION, "-o", "other.cube.json"),
            ("count", "half.csv", "-c", "monitor.toml", "-o", "2026-01-04.cube.json"),
            ("audit", "t.cube.json", "-o", "t.json"),
            ("seal", "t.json", "t.cube.json", "-o", "sealed.fairgauge"),
            ("clarify", "clarify.json", "-o", "2026-01-01"),
            ("monitor", "run", "history", "half.csv", "--period", "2026-01-02",
             "-c", "monitor.toml"),
        ):  # fmt: skip
            done = CliRunner().invoke(main, args)
            assert done.exit_code in (0, 1, 3), done.output
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes | None]:
    """Return what a folder holds: files with their content, and folders."""
    found = folder.rglob("*")
    return {p.relative_to(folder): p.read_bytes() if p.is_file() else None for p in found}


@POSIX
@pytest.mark.parametrize("name", WRITING)
def test_no_output_follows_a_link(run, prepared, tmp_path, monkeypatch, name):
    """What a command writes, or a folder that holds it, is a link to what is there or is not."""
    asked = [*name.split(), *takewhile("-o".__ne__, EXAMPLES[name])]
    if name != "monitor import":
        asked += ["-o", f"out/made{SUFFIXES.get(name, '.json')}"]

    def start(name: str) -> Path:
        monkeypatch.chdir(shutil.copytree(prepared, tmp_path / name))
        Path("out").mkdir()
        return tmp_path / name

    first = start("first")
    before = contents(first)
    done = run(*asked)
    assert done.exit_code in (0, 1, 3), done.output
    made = [path for path, text in contents(first).items() if before.get(path) != text]
    for link in {each for path in made for each in (path, *[*path.parents][:-1])}:
        away = start(f"of {link.name}") / "away"
        away.mkdir()
        link.parent.mkdir(parents=True, exist_ok=True)
        if link.exists():
            link.rename(away / "there")
        elif (first / link).is_dir():
            (away / "there").mkdir()
        else:
            (away / "there").write_text("theirs")
        for target in ("there", "absent"):
            link.symlink_to(away / target)
            kept = contents(away)
            done = run(*asked)
            assert done.exit_code == 2, link
            assert re.search("is a link|there is a file", done.stderr), (link, done.output)
            assert contents(away) == kept
            link.unlink()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_quiet_where_it_is_asked_to_be(run, written, name):
    """One line, one for each rule that does not pass, or the document that it makes; no note."""
    line = run(*name.split(), *EXAMPLES[name], "-q")
    assert line.exit_code in (0, 1, 3), line.output
    assert line.stderr == ""
    if name == "demo":
        of_reports = [each for each in line.stdout.splitlines() if not each.startswith(" ")]
        assert len(of_reports) == 2  # one of each report
    elif name not in DOCUMENTS:
        verdict, *reasons = line.stdout.splitlines()
        assert not verdict.startswith(" ")
        assert all(re.match(r"  \S.*: [A-Z ]+ \(.*\): ", each) for each in reasons), reasons
    else:
        whole = run(*name.split(), *EXAMPLES[name])
        assert line.stdout == whole.stdout or name == "protect"  # which draws at random
