"""``fairgauge check``: exit codes, formats and errors."""

import csv
import json

import pytest
from click.testing import CliRunner

from fairgauge.cli import main

CLEAN = "group,n,selected,impact ratio\nA,1000,500,1.00\nB,1000,480,0.96\n"
CONTROL = "group,n,selected,AIR\nA,1000,800,1.60\nB,1000,500,1.00\nC,1000,500,1.00\n"


def run(*args):
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
    found = run(f"{tmp_path}/table.csv", *args)
    assert found.exit_code == code, found.output
    assert "Traceback" not in found.output


def test_formats_agree(tmp_path):
    path = tmp_path / "audit.csv"
    path.write_text(CLEAN.replace("0.96", "0.69"), encoding="utf-8")
    names = [tmp_path / f"check.{suffix}" for suffix in ("json", "csv", "md", "html", "txt")]
    found = run(
        str(path),
        "--rule",
        "selection_rate.ratio >= 0.8",
        *(a for n in names for a in ("-o", str(n))),
    )
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
    run(f"{tmp_path}/t.csv", "-o", f"{tmp_path}/check.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "check.xlsx")["Faults"]
    assert [row[5] for row in sheet.values if row[2] == "error"] == [f"G{i}" for i in range(5)]


def test_the_rule_of_a_preset_decides_given_or_in_a_shared_file(tmp_path):
    """A file that audits share was passed over: a ratio of 0.6 had no verdict."""
    (tmp_path / "t.csv").write_text("sex,n,selected\nMale,800,400\nFemale,800,240\n")
    (tmp_path / "audit.toml").write_text('preset = "ugesp"\nsensitive = "sex"\nprediction = "y"\n')
    table = f"{tmp_path}/t.csv"
    for options in (["--preset", "ugesp"], ["-c", f"{tmp_path}/audit.toml"]):
        result = run(table, *options, "-q")
        assert (result.exit_code, result.stdout.startswith("FAIL")) == (1, True)
    assert run(table, "--preset", "nyc-ll144", "-q").exit_code == 3  # which has no rule
    other = run(table, "--preset", "eu-pay-transparency")
    assert other.exit_code == 2
    assert "'eu-pay-transparency' has no ratios of selection rates; use " in other.output
