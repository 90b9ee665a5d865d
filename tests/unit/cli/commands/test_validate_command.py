"""fairgauge validate: everything that can be checked without an audit."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from loan_cases import SEX, table

import fairgauge as fg
from fairgauge.api.audit import check_groups
from fairgauge.question.specification import ask
from fairgauge.scan import open_source


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


def test_groups_of_references_and_sets_must_exist(fails, loans):
    said = "column 'sex' has no value 'female'. Did you mean 'F'? It has 'F', 'M'"
    assert said in fails("validate", loans, *SEX, "--reference", "sex=female")
    assert said in fails("validate", loans, *SEX[:-1], "sex=female,M")


RULES = """
label = "approved"
prediction = "predicted"
positive = "yes"
sensitive = ["sex", "region"]
unknown = ["Unknown", "s"]
[[rules]]
metric = "DI"
at_least = 0.8
groups = ["f", "M", "x"]
[[rules]]
metric = "RD"
at_most = 0.8
features = "region"
groups = ["F", "n"]
"""


def test_names_that_no_group_has_are_warned_of(run, loans, tmp_path):
    (tmp_path / "audit.toml").write_text(RULES)
    expected = """\
Warning: unknown[0]: no group is 'Unknown' here; there are 'F', 'M', 'n', \
's'
Warning: 'region' has one group, 'n': there is nothing to compare it with, and a rule on a \
difference or ratio is not evaluated
Warning: rules[0].groups[0]: no group is 'f' here; the nearest name is 'F'
Warning: rules[0].groups[2]: no group is 'x' here; there are 'F', 'M', 'n'
Warning: rules[1].groups[0]: no group is 'F' here; there are 'n'
"""
    result = run("validate", loans, "-c", "audit.toml")
    assert (result.exit_code, result.stderr) == (0, expected)
    assert result.stdout.startswith("The specification is valid and fits the columns of 'loans.c")
    piped = run("validate", "-", "-c", "audit.toml", stdin=(tmp_path / loans).read_text())
    assert (piped.exit_code, piped.stderr) == (0, expected)
    run("count", loans, "-c", "audit.toml", "-o", "day.cube.json")
    counted = run("validate", "day.cube.json")
    assert (counted.exit_code, counted.stderr) == (0, expected)
    assert "rule       DI >= 0.8" in counted.stdout


def test_groups_in_the_rules_of_a_monitor_are_checked(run, loans, tmp_path):
    """A misspelt group and the reference itself were found valid, and the monitor refused both."""
    asked = 'label = "approved"\nprediction = "predicted"\npositive = "yes"\nsensitive = "sex"\n'
    rule = 'metric = "DI"\nat_least = 0.8\n'
    (tmp_path / "monitor.toml").write_text(
        f'{asked}reference = {{sex = "M"}}\n[[rules]]\n{rule}groups = ["M", "F"]\n'
        f'[monitor]\n[[monitor.rules]]\n{rule}groups = ["f", "M"]\n'
        '[[monitor.rules]]\nmetric = "selection_rate"\nat_least = 0.1\ngroups = "M"\n'
    )
    result = run("validate", loans, "-c", "monitor.toml")
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: rules[0].groups[0]: 'M' is the reference, which is compared with nothing\n"
        "Warning: monitor.rules[0].groups[0]: no group is 'f' here; the nearest name is 'F'\n"
        "Warning: monitor.rules[0].groups[1]: 'M' is the reference, which is compared with "
        "nothing\n"
    )
    (tmp_path / "audit.toml").write_text(f'{asked}[[rules]]\n{rule}groups = ["x"]\n[monitor]\n')
    twice = run("validate", loans, "-c", "audit.toml").stderr
    assert twice == "Warning: rules[0].groups[0]: no group is 'x' here; there are 'F', 'M'\n"


@given(st.sampled_from(["F", "M", "n", "s", "F & n"]), st.integers(0, 4), st.characters())
def test_a_rule_is_warned_of_exactly_where_it_is_not_evaluated(group, at, letter):
    """Any name of a group, with any letter put into it."""
    name = group[:at] + letter + group[at:]
    for groups in ([group], [name]):
        rule = {"metric": "AD", "at_most": 0.99, "groups": groups}
        asked = {"label": "approved", "prediction": "predicted", "positive": "yes"}
        asked |= {"sensitive": ["sex", "region"], "intersections": ["sex*region"]}
        rows = pl.read_csv(table().encode())
        report = fg.audit(rows, rules=rule, **asked)
        nothing = [v.group for v in report.verdicts if v.reason.code == "no_estimate"]
        warned = check_groups(open_source(rows), ask(rules=rule, **asked))
        assert [each["name"] for each in warned] == nothing


def test_rows_in_a_database_are_not_read(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("t.db")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS y, 'a' AS g")
        connection.commit()
    flags = ("--table", "t", "--label", "y", "--sensitive", "g", "--exclude-groups", "x")
    result = run("validate", "sqlite:///t.db", *flags)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "groups     not read: that would be a query where the rows are" in result.stdout


def test_mistakes_in_the_file_and_the_columns_come_together(fails, loans, tmp_path):
    (tmp_path / "audit.toml").write_text(
        'label = "aproved"\npositiv = 1\n[[sensitive]]\ncolumn = "sex"\ncut = [1]\n'
        '[[rules]]\nmetric = "DI"\nat_least = "0.8"\n[[rules]]\nmetric = "XX"\nat_most = 1\n'
    )
    said = fails("validate", loans, "-c", "audit.toml")
    assert (
        said
        == """\
5 mistakes in the specification
  positiv: unknown option. Did you mean 'positive'? Allowed: label, prediction, score, \
candidate, margins, score_of, score_range, threshold, positive, favourable, sensitive, \
probabilities, recode, where, intersections, strata, count, weight, cluster, person, per_person, \
order, reference, min_n, min_share, unknown, exclude_groups, metrics, preset, features, \
task, confidence, method, multiplicity, seed, replicates, profile, missing, population, \
rules, inconclusive, max_groups, max_classes, document, words
  sensitive[0].cut: unknown key. Did you mean 'cuts'? Allowed: column, values, cuts, closed
  rules[0].at_least: must be a number, not '0.8'
  rules[1].metric: no metric named 'XX'. See: fairgauge metrics
  label: no column 'aproved' in the data. Did you mean 'approved'?"""
    )


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
        "column 'p' must hold numbers, but has 'x'; a number that is missing is an empty cell, "
        """or is listed as unknown: --recode 'p = {unknown = ["x"]}' (recode)"""
    )


def test_a_cube_is_data(run, fails, loans):
    run("count", loans, *SEX, "-o", "day.cube.json")
    assert run("validate", "day.cube.json", "--metrics", "AD").exit_code == 0
    assert fails("validate", "day.cube.json", "--metrics", "XX").startswith("metrics[0]: no metric")


def test_nothing_asked(run):
    result = run("validate")
    assert result.exit_code == 2
    assert "Error: name a specification (-c FILE), DATA, or both" in result.stderr


def test_the_schema_is_json(run):
    schema = json.loads(run("schema", "spec").stdout)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "sensitive" in schema["properties"]


def test_groups_are_those_of_rows_that_meet_the_conditions(run, fails, tmp_path):
    """Values of other years were warned of, with the rows of the whole table."""
    rows = "sex,year,y\nF,2025,1\nM,2025,0\nM ,2024,1\nM,2024,0\n"
    path = tmp_path / "years.csv"
    path.write_text(rows, encoding="utf-8")
    asked = ("validate", str(path), "--prediction", "y", "--sensitive", "sex", "--where")
    assert run(*asked, "year = 2025").stderr == ""
    assert "'M' (1 row) and 'M ' (1 row) of sex" in run(*asked, "year = 2024").stderr
    assert "column 'year' has no value '2023'" in fails(*asked, "year = 2023")
