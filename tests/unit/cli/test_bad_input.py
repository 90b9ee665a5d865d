"""Bad input: one clear message and exit code 2, or an estimate with a status and a reason."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.needs import NOT_ROOT, POSIX

from fairgauge.cli import main

ROWS = "y,p,sex,race\n1,1,F,Black\n0,1,F,White\n1,0,M,White\n0,0,M,Black\n"
FLAGS = ("--label", "y", "--prediction", "p", "--sensitive", "sex")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(ROWS)


@pytest.fixture
def write(tmp_path):
    def call(name, content):
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
        return name

    return call


def audit(*args):
    return CliRunner().invoke(main, ["audit", *args])


def said(*args):
    """Audit what must be refused; return the message."""
    before = sorted(Path().iterdir())
    result = audit(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "Please report it" not in result.stderr
    assert len(result.stderr) < 2_000
    assert sorted(Path().iterdir()) == before
    return result.stderr.removeprefix("Error: ").rstrip("\n")


def estimates(*args):
    result = audit(*args, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return {(e["metric"], e["group"]): e for e in json.loads(result.stdout)["estimates"]}


def test_files_that_are_not_there():
    assert said("no.csv", *FLAGS) == "no file 'no.csv'"
    assert said("no*.csv", *FLAGS) == "no file 'no*.csv'"
    assert said("n" * 5_000 + ".csv", *FLAGS).endswith("File name too long")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.csv", "", "'e.csv' is empty"),
        ("e.jsonl", "", "'e.jsonl' is empty"),
        ("h.csv", "y,p,sex\n", "the data have no rows"),
        ("t.xls", b"\xd0\xcf\x11\xe0\0", "'t.xls' is a workbook, which is not read; "),
        ("t", "y,p,sex\n1,1,F\n", "unknown format of 't'; known: .csv, "),
        ("b.csv", b"y,p,sex\n1,1,\xff\xfe\n", "'b.csv' is not UTF-8 text"),
        ("b.csv", bytes(range(256)) * 40, "'b.csv' "),
        ("b.csv.gz", b"not gzip", "'b.csv.gz' is truncated, or not a gzip file"),
        (
            "c.csv.gz",
            gzip.compress(ROWS.encode() * 99, mtime=0)[:-20],
            "'c.csv.gz' is truncated, or not a gz",
        ),
        ("b.parquet", b"PAR1 nothing", "'b.parquet' is truncated, or not a Parquet file"),
        ("b.arrow", b"ARROW1 nothing", "'b.arrow' is truncated, or not an Arrow file"),
        ("b.json", b"\x00\x01", "'b.json' "),
        ("b.json", "[1, 2]", "'b.json' "),
        ("b.jsonl", '{"y": 1, "p": 1, "sex": "F"}\n{"y": 1, "p"', "cannot read 'b.jsonl': "),
        ("r.csv", "y,p,sex\n1,1,F\n1,1\n", "cannot read 'r.csv': "),
        ("r.csv", "y,p,sex\n1,1,F\n1,1,F,F\n", "cannot read 'r.csv': "),
        ("q.csv", 'y,p,sex\n1,1,"F\n1,1,F\n', "cannot read 'q.csv': "),
        ("d.csv", "y,p,sex,y\n1,1,F,0\n", "'d.csv' has the column 'y' twice"),
    ],
)
def test_files_that_cannot_be_read(write, name, content, message):
    assert said(write(name, content), *FLAGS).startswith(message)


def test_a_cut_off_parquet_file(tmp_path):
    pl.read_csv("t.csv").write_parquet("t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[: len(whole) // 2])
    assert said("t.parquet", *FLAGS) == "'t.parquet' is truncated, or not a Parquet file"


def test_files_that_do_not_fit_together(write):
    write("u.csv", "y,p\n1,1\n")
    assert said("t.csv", "u.csv", *FLAGS) == (
        "the files have different columns: 'u.csv' lacks 'race', 'sex', unlike 't.csv'"
    )
    write("u.jsonl", '{"y": 1}\n')
    assert said("t.csv", "u.jsonl", *FLAGS).startswith("files of different formats cannot be read")


@POSIX
def test_pipes_and_devices(tmp_path):
    os.mkfifo("p.csv")
    assert said("p.csv", *FLAGS) == (
        "'p.csv' is a pipe or a device; pass its rows to standard input and name it -"
    )
    assert said("/dev/null", *FLAGS).startswith("'/dev/null' is a pipe or a device")
    (tmp_path / "link.csv").symlink_to("/dev/zero")
    assert said("link.csv", *FLAGS).startswith("'link.csv' is a pipe or a device")


@NOT_ROOT
def test_files_without_permission(tmp_path):
    (tmp_path / "t.csv").chmod(0)
    assert said("t.csv", *FLAGS) == "cannot read 't.csv': Permission denied"


def test_an_empty_standard_input():
    assert said("-", *FLAGS) == "standard input is empty"


@pytest.mark.parametrize(
    "url", ["postgresql://me:s3cret@host/db", "mysql+pymysql://me:s3cret@host", "s3://me:s3cret@x"]
)
def test_a_password_is_never_shown(url):
    message = said(url, "--label", "nothing", "--sensitive", "sex")
    assert "s3cret" not in message
    assert url.partition(":")[0] in message


def test_names_that_the_data_do_not_have():
    assert said("t.csv", *FLAGS, "--sensitive", "rac") == (
        "sensitive[1]: no column 'rac' in the data. Did you mean 'race'?"
    )
    assert said("t.csv", "--label", "zz", "--sensitive", "sex") == (
        "label: no column 'zz' in the data. It has 'y', 'p', 'sex', 'race'"
    )
    assert said("t.csv", *FLAGS, "--sensitive", "sex,race") == (
        "sensitive[1]: no column 'sex,race' in the data. Name 'sex', 'race' one by one"
    )
    assert said("t.csv", *FLAGS, "--metrics", "DIX") == (
        "metrics[0]: no metric named 'DIX'. Did you mean 'DI'? See: fairgauge metrics"
    )


def test_one_of_several_values_that_the_data_do_not_have_names_the_remedy():
    """Clean tables of HMDA without code 2 stopped the documented command, with no way out named.

    What seems a misspelt value is refused as one.
    """
    remedy = ". If it is right, leave '{0}' out for these data"
    for value in ("2", "7"):
        end = f"column 'y' has no value '{value}'. It has '0', '1'{remedy.format(value)}"
        assert said("t.csv", *FLAGS, "--positive", f"1,{value}") == f"positive: {end}"
        condition = f"y = 0 or 1 or {value}"
        assert said("t.csv", *FLAGS, "--positive", "1", "--where", condition) == f"where.y: {end}"
    for condition in ("race = White or Blak", "race = Blak"):
        refused = said("t.csv", *FLAGS, "--positive", "1", "--where", condition)
        assert "Did you mean 'Black'?" in refused
        assert "leave" not in refused


def test_values_that_the_data_do_not_have():
    assert said("t.csv", *FLAGS, "--positive", "2") == (
        "positive: column 'y' has no value '2'. It has '0', '1'; if nobody has it in these rows, "
        "groups cannot differ: choose rows in which somebody has it"
    )
    assert said("t.csv", *FLAGS, "--positive", "").startswith(
        "positive: column 'y' has no value ''"
    )
    assert said("t.csv", *FLAGS, "--reference", "sex=Mm").startswith(
        "reference: column 'sex' has no value 'Mm'. Did you mean 'M'?"
    )
    assert said("t.csv", *FLAGS, "--sensitive", "race=Blak,White").startswith(
        "sensitive: column 'race' has no value 'Blak'. Did you mean 'Black'?"
    )


def test_three_labels_in_a_binary_audit(write):
    write("t3.csv", "y,p,sex\nhigh,high,F\nlow,mid,M\nmid,low,M\n")
    message = said("t3.csv", *FLAGS, "--task", "binary")
    assert "'high', 'low', 'mid'" in message
    assert "positive" in message
    assert audit("t3.csv", *FLAGS, "--task", "binary", "--positive", "high").exit_code == 0


@pytest.mark.parametrize("score", ["1.5", "-0.1", "87"])
def test_scores_outside_their_range(write, score):
    write("s.csv", f"y,s,sex\n1,0.5,F\n0,{score},M\n")
    message = said("s.csv", "--label", "y", "--score", "s", "--sensitive", "sex")
    assert message == (
        f"column 's' is the score and must lie in [0, 1], but has {score}; "
        "correct the column where it is on another scale, or set the range of all of its values: "
        "score_range=(LOW, HIGH) (--score-range LOW HIGH)"
    )


def test_the_code_of_a_missing_score_is_to_be_listed_as_unknown(write):
    """The error advised another range alone, in which the code is the best score."""
    write("s.csv", "y,s,sex\n1,50,F\n0,999,M\n1,40,M\n0,30,F\n")
    flags = ["--label", "y", "--score", "s", "--sensitive", "sex", "--score-range", "0", "100",
             "--threshold", "50"]  # fmt: skip
    line = "s = {unknown = [999]}"
    message = said("s.csv", *flags)
    assert "but has 999, as codes of missing values are; if it means that the score is" in message
    assert f"list it as unknown: --recode '{line}' (recode); only if it is a score, set" in message
    assert audit("s.csv", *flags, "--recode", line).exit_code == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--threshold", "3"), "threshold: 3 is outside the range of the score, 0 to 1; "),
        (("--threshold", "0.3,1.3"), "threshold: 1.3 is outside the range of the score, 0 to 1; "),
        (
            ("--prediction", "p", "--threshold", "0.3"),
            "threshold: has no effect: the prediction is given by the column 'p'; remove one of",
        ),
        (
            ("--prediction", "p", "--threshold", "median"),
            "threshold: has no effect: the prediction is given by the column 'p'; remove one of",
        ),
    ],
)
def test_thresholds_that_decide_nothing(write, flags, message):
    write("s.csv", "y,p,s,sex\n1,1,0.5,F\n0,0,0.4,M\n")
    question = ("--label", "y", "--score", "s", "--sensitive", "sex")
    refused = said("s.csv", *question, *flags)
    assert refused.startswith(message)
    assert ("--score-range" in refused) is ("range" in message)
    settings = ['label = "y"\nscore = "s"\nsensitive = "sex"\n']
    names = {"--threshold": "threshold", "--prediction": "prediction"}
    for flag, value in zip(flags[::2], flags[1::2], strict=False):
        if flag in names:
            text = value if value[0].isdigit() and "," not in value else f'"{value}"'
            text = f"[{value}]" if "," in value else text
            settings.append(f"{names[flag]} = {text}\n")
    if "--score-range" not in flags:
        assert said("s.csv", "-c", write("audit.toml", "".join(settings))).startswith(message)


def test_a_score_range_reaches_the_threshold(write):
    write("s.csv", "y,s,sex\n1,700,F\n0,400,M\n")
    question = ("--label", "y", "--score", "s", "--sensitive", "sex", "--score-range", "300", "850")
    for threshold in ("600", "median", "300,850"):
        assert audit("s.csv", *question, "--threshold", threshold).exit_code == 0


def test_columns_that_must_hold_numbers(write):
    write("s.csv", "y,s,sex,age\n1,high,F,20\n0,0.1,M,old\n")
    assert said("s.csv", "--label", "y", "--score", "s", "--sensitive", "sex") == (
        "column 's' must hold numbers, but has 'high'; a number that is missing is an empty cell, "
        """or is listed as unknown: --recode 's = {unknown = ["high"]}' (recode)"""
    )
    assert said("s.csv", "--label", "y", "--sensitive", "age:40") == (
        "column 'age' must hold numbers, but has 'old'; a number that is missing is an empty cell, "
        """or is listed as unknown: --recode 'age = {unknown = ["old"]}' (recode)"""
    )


@pytest.mark.parametrize(
    ("values", "flag", "message"),
    [
        ("1,-2", "--count", "column 'n' is the count, but has the negative value -2"),
        ("1,1.5", "--count", "column 'n' is the count and must hold whole numbers, but has '1.5'"),
        ("0,0", "--count", "column 'n' is the count, and every count is 0 or missing"),
        ("1,-0.5", "--weight", "column 'n' is the weight, but has the negative value -0.5"),
        ("0,0", "--weight", "column 'n' is the weight, and the weights sum to 0"),
        ("1,x", "--weight", "column 'n' must hold numbers, but has 'x'"),
    ],
)
def test_counts_and_weights(write, values, flag, message):
    first, second = values.split(",")
    write("n.csv", f"y,sex,n\n1,F,{first}\n0,M,{second}\n")
    assert said("n.csv", "--label", "y", "--sensitive", "sex", flag, "n").startswith(message)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("0.2 <= RD <= 0.1", "rules[0]: is impossible: at least 0.2 and at most 0.1"),
        ("RD >= nan", "rules[0]: cannot read 'RD >= nan'; write 'METRIC >= X', 'METRIC <= X', "),
        ("RD", "rules[0]: cannot read 'RD'; write "),
        ("RDX >= 1", "rules[0].metric: no metric named 'RDX'. Did you mean 'RD'? See: fairgauge m"),
    ],
)
def test_impossible_rules(rule, message):
    assert said("t.csv", *FLAGS, "--rule", rule).startswith(message)


def test_more_groups_than_anybody_reads(write):
    write("g.csv", "y,g\n" + "".join(f"{i % 2},u{i}\n" for i in range(1_001)))
    message = said("g.csv", "--label", "y", "--sensitive", "g")
    assert message.startswith("column 'g' ")
    assert "1,000" in message
    assert message.endswith("raise max_groups (--max-groups)")
    flags = ("--label", "y", "--sensitive", "g", "--metrics", "DPL", "--max-groups", "2000")
    assert len(estimates("g.csv", *flags)) == 1_001


def test_missing_groups_can_be_refused(write):
    write("m.csv", "y,sex\n1,F\n0,\n1,M\n")
    flags = ("m.csv", "--label", "y", "--sensitive", "sex")
    assert "'sex'" in said(*flags, "--missing", "error")
    assert {g for _, g in estimates(*flags, "--missing", "group")} == {"F", "M", "(missing)"}
    assert {g for _, g in estimates(*flags)} == {"F", "M"}


def test_a_single_group_has_nobody_to_be_compared_with(write):
    write("one.csv", "y,p,sex\n1,1,F\n0,1,F\n")
    found = estimates("one.csv", *FLAGS, "--metrics", "RD")
    assert found["RD", "F"]["value"] is None
    assert found["RD", "F"]["status"] == "undefined"
    assert found["RD", "F"]["reason"]


def test_a_group_without_positives(write):
    write("none.csv", "y,p,sex\n1,1,F\n0,1,F\n0,0,M\n0,1,M\n")
    found = estimates("none.csv", *FLAGS, "--metrics", "RD,DPL")
    assert found["RD", "M"]["value"] is None
    assert found["RD", "M"]["status"] == "undefined"
    reason = found["RD", "M"]["reason"]
    assert (reason["code"], reason["side"]) == ("empty_denominator", "group")
    assert reason["message"].endswith("no observed positives (TP + FN = 0)")
    assert found["DPL", "M"]["value"] == 0.5


def test_labels_that_do_not_vary(write):
    write("flat.csv", "y,p,sex\n1,1,F\n1,1,M\n")
    assert audit("flat.csv", *FLAGS, "--positive", "1").exit_code == 0


def test_hostile_names_in_messages(write):
    evil = "a\x1b[31m‮<b>\\" + "c" * 10_000
    message = said("t.csv", "--label", evil, "--sensitive", evil)
    assert "\x1b" not in message
    assert "‮" not in message
    write("evil.csv", f'y,"{evil}"\n1,x\n0,z\n')
    assert audit("evil.csv", "--label", "y", "--sensitive", evil).exit_code == 0


def test_a_null_byte_in_a_value(write):
    write("nul.csv", "y,sex\n1,F\x00\n0,M\n")
    result = audit("nul.csv", "--label", "y", "--sensitive", "sex")
    assert result.exit_code == 0
    assert "\x00" not in result.output
    assert "F\\x00" in result.output
