"""A folder of published tables: how many ratios are decided, faults by kind, what is not read."""

import csv
import json

import pytest
from click.testing import CliRunner
from stated_headers import check

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render import render

DECIDED = "group,n,hired,ratio\nA,5000,2500,1.00\nB,4000,1800,0.90\nC,1000,300,0.60\nD,60,24,0.80\n"
OPEN = "group,n,hired,ratio\nA,100,40,1.00\nB,90,31,0.86\nC,15,5,0.83\n"
WRONG = "group,n,hired,ratio\nA,1000,500,1.00\nB,1000,480,0.69\nC,900,400,0.98\n"
RATES = "group,rate,ratio\nA,50%,1.00\nB,40%,0.80\n"


@pytest.fixture
def folder(tmp_path):
    texts = {"decided": DECIDED, "open": OPEN, "wrong": WRONG, "rates": RATES, "who": "a,b\nx,1\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    (tmp_path / "README.md").write_text("# Sources\n", encoding="utf-8")
    return tmp_path


FLAGS = ["--n", "n", "--selected", "hired", "--rate", "rate", "--ratio", "ratio"]


def run(*arguments):
    return CliRunner().invoke(main, ["check", *map(str, arguments), *FLAGS])


def test_every_ratio_has_one_decision(folder):
    found = check(folder, rules="selection_rate.ratio >= 0.8")
    by_name = {
        table.source: [str(g.decision) for g in table.groups if g.decision]
        for table in found.tables
    }
    assert by_name["decided.csv"] == ["pass", "fail", "not_evaluated"]
    assert by_name["open.csv"][1] == "not_evaluated"
    assert by_name["rates.csv"] == ["not_computed"]
    assert sum(found.decisions.values()) == sum(map(len, by_name.values()))
    assert not any(check(folder).decisions.values())


def test_what_cannot_be_read_is_named_with_the_flag_and_the_others_are_checked(folder):
    found = check(folder)
    assert [table.source for table in found.tables] == [
        "decided.csv", "open.csv", "rates.csv", "wrong.csv",
    ]  # fmt: skip
    (table,) = [each for each in found.unread if each.counts]
    assert table.source == "who.csv"
    flags = "--n HEADER --selected HEADER"
    assert flags in table.reason
    with pytest.raises(fg.DataError, match=flags):
        check(folder / "who.csv")  # a file that is named itself


def test_a_file_that_cannot_be_read_is_undecided_and_one_without_a_table_is_not(tmp_path):
    (tmp_path / "one.csv").write_text("group,n,hired\nA,1000,500\nB,1000,490\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("Sources\n", encoding="utf-8")
    assert run(tmp_path, "--rule", "selection_rate.ratio >= 0.8").exit_code == 0
    (tmp_path / "broken.xlsx").write_bytes(b"PK no workbook")
    assert run(tmp_path, "--rule", "selection_rate.ratio >= 0.8").exit_code == 3


def test_a_folder_without_any_table_is_an_error(tmp_path):
    (tmp_path / "README.md").write_text("# Sources\n", encoding="utf-8")
    with pytest.raises(fg.DataError, match=r"no table can be read: README\.md"):
        check(tmp_path)


def test_files_of_one_name_in_two_folders_are_apart(tmp_path):
    """Tables of different files are never held against each other."""
    text = "Sex,n,hired\nMale,100,50\nFemale,100,40\n"
    crossed = "Sex,Race,n,hired\nMale,A,70,30\nMale,B,20,5\nFemale,A,50,20\nFemale,B,60,30\n"
    for name, content in (("one", text), ("two", crossed)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "audit.csv").write_text(content, encoding="utf-8")
    assert check([tmp_path / "one", tmp_path / "two"]).errors == 0
    both = f"{text}\n{crossed}"
    assert check(both).errors > 0


def test_a_limit_is_stated_who_is_not_judged_and_what_a_check_does_not_show():
    table = "group,n,hired\nA,1000,500\nB,1000,400\nC,30,10\n"
    made = check(table, rules="selection_rate.ratio >= 0.8")
    text = " ".join(render(made, "text", full=True).split())
    assert "has insufficient data: n = 30 in the group, below the minimum of 41" in text
    assert "Categories of less than 2% of the people, or fewer than 20, are not judged." in text
    assert "The limit is 0.8. The 95% confidence intervals" in text
    assert "What it does not show" in text
    assert "Whether an audit meets a law." in text


def test_folders_in_a_folder_are_read_and_documents_in_it_are_named(tmp_path):
    table = "g,n,hired,rate\nA,80,48,60%\nB,40,20,{}\n"
    (tmp_path / "2024" / "old").mkdir(parents=True)
    (tmp_path / "right.csv").write_text(table.format("50%"))
    (tmp_path / "2024" / "old" / "wrong.csv").write_text(table.format("60%"))
    (tmp_path / "2024" / ".hidden").write_text("")
    (tmp_path / "audit.json").write_text("{}")
    found = check(tmp_path)
    assert (len(found.tables), found.errors, found.exit_code) == (2, 1, 1)
    assert [(each.source, each.counts) for each in found.unread] == [("audit.json", False)]
    (tmp_path / "2024" / "old" / "wrong.csv").unlink()
    assert check(tmp_path).exit_code == 0
    (tmp_path / "2024" / "audit.pdf").write_bytes(b"%PDF")
    found = check(tmp_path, rules="selection_rate.ratio >= 0.8")
    assert [(each.source, each.counts) for each in found.unread] == [
        ("audit.pdf", True),
        ("audit.json", False),
    ]
    assert found.exit_code == 3


# ---- ``fairgauge check``: exit codes, formats and errors
CLEAN = "group,n,selected,impact ratio\nA,1000,500,1.00\nB,1000,480,0.96\n"
CONTROL = "group,n,selected,AIR\nA,1000,800,1.60\nB,1000,500,1.00\nC,1000,500,1.00\n"


def run_command(*args):
    return CliRunner().invoke(main, ["check", *args])


@pytest.mark.parametrize(
    ("text", "args", "code"),
    [
        (CLEAN, (), 0),
        (CLEAN, ("--rule", "selection_rate.ratio >= 0.8"), 0),
        (CLEAN.replace("0.96", "0.69"), (), 1),
        (CLEAN.replace("480,0.96", "300,0.60"), ("--rule", "selection_rate.ratio >= 0.8"), 1),
        (
            CLEAN.replace("1000,480,0.96", "100,41,0.82"),
            ("--rule", "selection_rate.ratio >= 0.8"),
            3,
        ),
        (CLEAN, ("--rule", "selection_rate.ratio >= 8"), 2),
        (CLEAN, ("--n", "nobody"), 2),
        (CLEAN, ("--n", "n", "--columns", "told.toml"), 2),
        (CLEAN, ("--selected", "selected", "--n", "n", "--group", "group"), 3),
        ("", (), 2),
        (CONTROL, ("--preset", "ugesp"), 1),
        (CONTROL, ("--preset", "nyc-ll144"), 1),
        (CONTROL, ("--reference", "B", "--rule", "selection_rate.ratio >= 0.8"), 0),
        (CONTROL, ("--preset", "ugesp", "--reference", "B"), 0),
        (CONTROL, (), 1),
    ],
)
def test_exit_codes(tmp_path, text, args, code):
    (tmp_path / "table.csv").write_text(text)
    found = run_command(f"{tmp_path}/table.csv", *args)
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output


def test_formats_agree(tmp_path):
    path = tmp_path / "audit.csv"
    path.write_text(CLEAN.replace("0.96", "0.69"), encoding="utf-8")
    names = [tmp_path / f"check.{suffix}" for suffix in ("json", "csv", "md", "html", "txt")]
    found = run_command(
        str(path), "--rule", "selection_rate.ratio >= 0.8",
        *(a for n in names for a in ("-o", str(n))),
    )  # fmt: skip
    assert found.exit_code == 1
    plain = json.loads(names[0].read_text(encoding="utf-8"))
    assert plain["errors"] == 1
    assert plain["verdict"] == "inconclusive"  # nothing passes in a table with an error
    rows = csv.DictReader(names[1].read_text(encoding="utf-8").splitlines())
    (row,) = [each for each in rows if each["name"] == "B"]
    group = plain["tables"][0]["groups"][1]
    assert float(row["low"]) == group["low"]
    fault = plain["tables"][0]["faults"][0]
    assert (fault["code"], fault["parameters"]["printed"]) == ("ratio_mismatch", "0.69")
    for name in names[2:]:
        text = " ".join(name.read_text(encoding="utf-8").split())
        assert "0.69" in text
        assert "1 error in 1 table" in text


def test_a_workbook_of_a_check_holds_every_error(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    rows = "".join(f"G{i},1000,480,0.69\n" for i in range(5))
    (tmp_path / "t.csv").write_text(CLEAN + rows, encoding="utf-8")
    run_command(f"{tmp_path}/t.csv", "-o", f"{tmp_path}/check.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "check.xlsx")["Faults"]
    assert [row[5] for row in sheet.values if row[2] == "error"] == [f"G{i}" for i in range(5)]


def test_the_rule_of_a_preset_decides_given_or_in_a_shared_file(tmp_path):
    """A file that audits share was passed over: a ratio of 0.6 had no verdict."""
    (tmp_path / "t.csv").write_text("sex,n,selected\nMale,800,400\nFemale,800,240\n")
    (tmp_path / "audit.toml").write_text('preset = "ugesp"\nsensitive = "sex"\nprediction = "y"\n')
    table = f"{tmp_path}/t.csv"
    for options in (["--preset", "ugesp"], ["-c", f"{tmp_path}/audit.toml"]):
        result = run_command(table, *options, "-q")
        assert (result.exit_code, result.stdout.startswith("FAIL")) == (1, True)
    assert run_command(table, "--preset", "nyc-ll144", "-q").exit_code == 3  # which has no rule
    other = run_command(table, "--preset", "eu-pay-transparency")
    assert other.exit_code == 2
    assert "'eu-pay-transparency' has no ratios of selection rates; use " in other.output
