"""fairgauge validate: everything that can be checked without an audit."""

import json

import polars as pl
from loan_cases import SEX


def test_what_is_right(run, loans, tmp_path):
    (tmp_path / "audit.toml").write_text(
        'label = "approved"\npositive = "yes"\nsensitive = ["sex", "region"]\n'
        'intersections = ["sex*region"]\nmetrics = ["clarify", "DI"]\nprediction = "predicted"\n'
        '[[rules]]\nmetric = "DI"\nat_least = 0.8\n'
    )
    result = run("validate", loans, "-c", "audit.toml")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "The specification is valid and fits the columns of 'loans.csv'.\n"
        "  sensitive  sex, region, sex*region\n"
        "  metrics    clarify, DI\n"
        "  rule       DI >= 0.8\n"
    )
    alone = run("validate", "-c", "audit.toml")
    assert alone.stdout.startswith("The specification is valid.\n")


def test_labels_are_not_read(run, loans):
    """Their values belong to the audit, which names them all."""
    assert run("validate", loans, *SEX[:4], "--positive", "maybe", *SEX[6:]).exit_code == 0


def test_mistakes_in_the_file_and_the_columns_come_together(fails, loans, tmp_path):
    (tmp_path / "audit.toml").write_text(
        'label = "aproved"\npositiv = 1\n[[sensitive]]\ncolumn = "sex"\ncut = [1]\n'
        '[[rules]]\nmetric = "DI"\nat_least = "0.8"\n[[rules]]\nmetric = "XX"\nat_most = 1\n'
    )
    said = fails("validate", loans, "-c", "audit.toml")
    assert said.startswith("5 mistakes in the specification\n")
    for mistake in (
        "positiv: unknown option. Did you mean 'positive'? Allowed: label, prediction, score",
        "sensitive[0].cut: unknown key. Did you mean 'cuts'? Allowed: column, values, cuts, closed",
        "rules[0].at_least: must be a number, not '0.8'",
        "rules[1].metric: no metric named 'XX'. See: fairgauge metrics",
        "label: no column 'aproved' in the data. Did you mean 'approved'?",
    ):
        assert f"\n  {mistake}" in said


def test_types_where_the_schema_tells(fails, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"y": [1, 0], "s": ["a", "b"], "p": ["0.1", "x"], "w": [1, 2]})
    frame.write_parquet("t.parquet")
    frame.write_ipc("t.arrow")
    frame.write_csv("t.csv")
    flags = ("--label", "y", "--sensitive", "s")
    for name in ("t.parquet", "t.arrow"):
        said = fails("validate", name, *flags, "--score", "p")
        assert said.startswith("column 'p' must hold numbers, but has the type ")
        said = fails("validate", name, *flags[:2], "--sensitive", "s:1")
        assert said.startswith("column 's' must hold numbers, but has the type ")
        assert run("validate", name, *flags, "--weight", "w").exit_code == 0
    assert fails("validate", "t.csv", *flags, "--score", "p") == (
        "column 'p' must hold numbers, but has 'x'; write plain numbers with a point for the "
        "decimals, and an empty cell for none, or list it as unknown: "
        """--recode 'p = {unknown = ["x"]}' (recode)"""
    )


def test_nothing_asked(run):
    result = run("validate")
    assert result.exit_code == 2
    assert "Error: name a specification (-c FILE), DATA, or both" in result.stderr


def test_the_schema_is_json(run):
    schema = json.loads(run("schema", "spec").stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "sensitive" in schema["properties"]


def test_counted_lists_what_each_value_counts_as(run, tmp_path):
    rows = "sex,end\n" + "F,Paid\nM,Denied\nF,Counteroffer\nM,\n" * 20
    (tmp_path / "loans.csv").write_text(rows, encoding="utf-8")
    asked = ("--label", "end", "--positive", "Paid", "--negative", "Denied", "--sensitive", "sex")
    found = run("validate", str(tmp_path / "loans.csv"), *asked, "--counted")
    listed = [line.split() for line in found.output.splitlines()]
    assert ["end", "label", "Counteroffer", "undecided", "20"] in listed
    assert ["end", "label", "Denied", "not", "positive", "20"] in listed
    assert run("validate", *asked, "--counted").exit_code == 2
