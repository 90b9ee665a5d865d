"""``fairgauge choose``: questions in the terminal or by flags, and a specification file."""

import contextlib
import csv
import io
import shlex
import tomllib

import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.cli._demo_data import admissions

ANSWERS = ["--model", "decision", "--outcomes", "all", "--error", "refused", "--parity", "no"]
COLUMNS = ["--label", "repaid", "--prediction", "approved", "--sensitive", "sex"]


def run(*arguments, typed=""):
    return CliRunner().invoke(main, ["choose", *arguments], input=typed)


def test_flags_answer_without_a_question():
    result = run(*ANSWERS, *COLUMNS, "--positive", "yes", "--sensitive", "age:40:left")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    read = tomllib.loads(result.stdout)
    assert read["label"] == "repaid"
    assert read["positive"] == ["yes"]
    assert read["sensitive"] == ["sex", {"column": "age", "cuts": [40.0], "closed": "left"}]
    assert read["rules"] == ["-0.1 <= true_positive_rate.difference <= 0.1"]


def specification(result):
    """Return what is written, without the answers, which the runner of older clicks writes too."""
    return result.stdout[result.stdout.index("# A specification") :]


def test_questions_are_asked_on_standard_error_and_take_words_or_numbers():
    result = run(*COLUMNS, "--positive", "yes", typed="decision\n1\nnonsense\n1\nno\n")
    assert result.exit_code == 0, result.stderr
    assert specification(result) == run(*ANSWERS, *COLUMNS, "--positive", "yes").stdout
    assert "Which error does the audit guard against?" in result.stderr
    assert "is not one of 'refused', 'granted', 'both'" in result.stderr


def test_without_a_terminal_the_missing_flag_is_named():
    result = run("--model", "decision")
    assert result.exit_code == 2
    assert "answer --outcomes with one of all, selected, biased, none" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "number", "--error", "both"], "is asked only where"),
        (["--model", "none", "--sensitive", "age:x"], "sensitive"),
        (["--model", "none", "-o", "audit.yaml"], "name a .toml file"),
        (["--model", "none", "-o", "nowhere/audit.toml"], "cannot write"),
    ],
)
def test_mistakes_are_explained(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_the_file_that_is_written_can_be_audited(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = ["sex,repaid,approved"] + ["F,1,1", "F,0,0", "M,1,1", "M,0,0", "M,1,0", "F,1,0"] * 200
    (tmp_path / "loans.csv").write_text("\n".join(rows) + "\n")
    written = run(*ANSWERS, *COLUMNS, "-o", "audit.toml")
    assert written.exit_code == 0, written.stderr
    assert "fairgauge audit DATA -c audit.toml" in written.stdout
    audited = CliRunner().invoke(main, ["audit", "loans.csv", "-c", "audit.toml", "--quiet"])
    assert audited.exit_code == 0, audited.stderr  # of both, half of those who repaid are approved


OF_TRADES = {  # what is answered: of the model, the columns by name or number, and each value
    "hiring": ("decision none 3 sex 1 2 3", ["hired", "refused", "interview open"]),
    "schools": ("none 3 2 2 1", ["suspended", "in class"]),
    "health": ("decision biased 3 sex negative positive", ["0", "1"]),
}


@pytest.mark.parametrize("trade", OF_TRADES)
def test_columns_and_values_of_a_table_are_offered(trade, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers, values = OF_TRADES[trade]
    rows = [f"{i},{'FM'[i % 3 > 0]},{values[i % 7 % len(values)]}" for i in range(700)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,sex,outcome", *rows]))
    written = run("rows.csv", "-o", "audit.toml", typed=answers.replace(" ", "\n") + "\n")
    assert written.exit_code == 0, written.stderr
    assert "sex       M, F" in written.stderr or "sex      F, M" in written.stderr
    assert "fairgauge audit rows.csv -c audit.toml" in written.stdout
    asked = tomllib.loads((tmp_path / "audit.toml").read_text())
    column = asked.get("label", asked.get("prediction"))
    assert (column, asked["sensitive"]) == ("outcome", "sex")
    meant = [each for each in values if each != "interview open"]
    stated = asked["positive"]["outcome"] + asked["negative"]["outcome"]
    assert {*map(str, stated)} == {*meant}
    audited = CliRunner().invoke(
        main, ["audit", "rows.csv", "-c", "audit.toml", "--format", "json"]
    )
    assert audited.exit_code in (0, 1, 3), audited.stderr


@pytest.mark.parametrize(("typed", "answered"), [
    ("decision all both no repaid approved sex positive negative positive negative", 0),
    ("number days guess sex", 0),
    ("decision none approved sex negative negative", 2),
    ("decision none approved sex undecided undecided", 2),
    ("decision none approved sex positive", 2),
])  # fmt: skip
def test_what_choose_writes_of_a_table_can_be_audited(typed, answered, tmp_path, monkeypatch):
    """Words of label and decision were one list, and whole days were classes."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{'FM'[i % 2]},{'yn'[i % 3 > 0]},{'ad'[i % 5 > 2]},{i % 12},{i % 11}" for i in range(600)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["sex,repaid,approved,days,guess", *rows]))
    written = run("rows.csv", "-o", "audit.toml", typed=typed.replace(" ", "\n") + "\n")
    assert written.exit_code == answered, written.stderr
    assert (tmp_path / "audit.toml").exists() is (answered == 0)
    if answered == 0:
        again = CliRunner().invoke(main, ["audit", "rows.csv", "-c", "audit.toml", "-q"])
        assert again.exit_code in (0, 1, 3), again.stderr


def test_a_table_that_lacks_what_is_asked_is_refused_before_a_file_is_written(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("sex,hired\nF,1\nM,0\n")
    result = run("rows.csv", *ANSWERS, *COLUMNS, "--positive", "yes", "-o", "audit.toml")
    assert result.exit_code == 2
    assert "no column 'repaid'" in result.stderr.replace("there is ", "")
    assert not (tmp_path / "audit.toml").exists()
    result = run("rows.csv", "--model", "none", "-o", "audit.toml")
    assert "answer --label with one of sex, hired" in result.stderr


# ---- fairgauge demo: two audits worth reading
@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """Return what the command prints, and the folder in which it ran."""
    folder = tmp_path_factory.mktemp("demo")
    with contextlib.chdir(folder):
        return CliRunner().invoke(main, ["demo", "-o", "out/demo"]), folder


def test_it_prints_two_audits_and_writes_reports(demo):
    result, folder = demo
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line for line in result.stdout.splitlines() if "file://" not in line]
    assert max(map(len, lines)) <= 100
    written = {path.name for path in (folder / "out/demo").iterdir()}
    assert written == {f"{n}.{s}" for n in ("berkeley", "loans") for s in ("csv", *SUFFIXES)}
    assert "women are admitted less often" in result.stdout
    for name in written:
        if name.endswith(".html"):
            assert (folder / "out/demo" / name).as_uri() in result.stdout


def test_its_files_are_in_the_language_that_is_asked_for(run, tmp_path, monkeypatch):
    """They were English, whatever was asked for."""
    monkeypatch.chdir(tmp_path)
    run("demo", "--lang", "de")
    assert '<html lang="de">' in (tmp_path / "fairgauge-demo/loans.html").read_text("utf-8")


SUFFIXES = ("html", "json", "md")


def test_how_to_go_on_works(demo, monkeypatch):
    result, folder = demo
    monkeypatch.chdir(folder)
    text = result.stdout
    command = text[text.index("fairgauge audit") : text.index("An audit of your own")]
    command = command.replace("\\\n", " ")
    program, *args = shlex.split(command)
    assert program == "fairgauge"
    again = CliRunner().invoke(main, [*args, "--format", "json"])
    assert again.exit_code == 1  # its rule of four fifths fails
    assert fg.load("out/demo/loans.json").estimates
    assert "FAIL: 2 of 2 rules" in text


def test_berkeley_is_the_published_table(shared):
    published = shared.data("ucb_admissions.csv").read_text(encoding="utf-8")
    rows = [sorted(csv.reader(io.StringIO(text))) for text in (admissions(), published)]
    assert rows[0] == rows[1]
