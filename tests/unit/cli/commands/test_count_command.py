"""fairgauge count, merge, and cubes as DATA."""

from __future__ import annotations

import json

import pytest
from loan_cases import CELLS, SEX, table

import fairgauge as fg


@pytest.fixture
def shards(loans, tmp_path):
    cells = list(CELLS.items())
    for name, part in (("a", cells[::2]), ("b", cells[1::2])):
        (tmp_path / f"{name}.csv").write_text(table(dict(part)))
    return loans


def estimates(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["estimates"]


def test_counts_are_audited_as_the_rows_are(run, loans):
    assert run("count", loans, *SEX, "-o", "day.cube.json").stdout == ""
    rows = estimates(run("audit", loans, *SEX, "--format", "json"))
    assert estimates(run("audit", "day.cube.json", "--format", "json")) == rows
    assert fg.load("day.cube.json").rows == 40


def test_shards_add_up(run, shards):
    for name in "ab":
        assert run("count", f"{name}.csv", *SEX, "-o", f"{name}.cube.json").exit_code == 0
    merged = run("merge", "a.cube.json", "b.cube.json", "-o", "all.cube.json")
    assert (merged.exit_code, merged.stdout, merged.stderr) == (0, "", "")
    rows = estimates(run("audit", shards, *SEX, "--format", "json"))
    assert estimates(run("audit", "all.cube.json", "--format", "json")) == rows
    assert estimates(run("audit", "a.cube.json", "b.cube.json", "--format", "json")) == rows
    assert estimates(run("audit", "?.cube.json", "--format", "json")) == rows
    assert run("merge", "?.cube.json").stdout.strip() == (fg.load("all.cube.json").to_json())


@pytest.mark.parametrize(
    "again",
    ["day.cube.json", "./day.cube.json", "link.cube.json", "hard.cube.json", "d*.cube.json"],
)
@pytest.mark.parametrize("command", ["merge", "audit"])
def test_a_cube_that_is_named_twice(run, fails, loans, tmp_path, command, again):
    run("count", loans, *SEX, "-o", "day.cube.json")
    (tmp_path / "link.cube.json").symlink_to("day.cube.json")
    (tmp_path / "hard.cube.json").hardlink_to("day.cube.json")
    said = fails(command, "day.cube.json", again)
    assert said.startswith("the cube ")
    assert "is named twice" in said
    assert said.endswith("its rows would count twice")


def test_cubes_of_the_same_counts_are_warned_of(run, loans, tmp_path):
    for name in ("mon", "tue"):
        run("count", loans, *SEX, "-o", f"{name}.cube.json")
    warning = (
        "Warning: 'mon.cube.json' and 'tue.cube.json' hold the same counts of 40 rows; if they are "
        "the same rows, these now count twice (fairgauge merge --allow-duplicates adds them "
        "without this warning)\n"
    )
    merged = run("merge", "mon.cube.json", "tue.cube.json", "-o", "all.cube.json")
    assert (merged.exit_code, merged.stderr) == (0, warning)
    assert fg.load("all.cube.json").rows == 80
    assert run("audit", "mon.cube.json", "tue.cube.json").stderr == warning
    allowed = run("merge", "mon.cube.json", "tue.cube.json", "--allow-duplicates")
    assert (allowed.exit_code, allowed.stderr) == (0, "")


def test_a_question_that_the_cubes_do_not_share_is_not_lost_in_silence(run, shards):
    run("count", "a.csv", *SEX, "--rule", "DI >= 0.8", "-o", "a.cube.json")
    run("count", "b.csv", *SEX, "--confidence", "0.9", "-o", "b.cube.json")
    merged = run("merge", "a.cube.json", "b.cube.json")
    assert merged.exit_code == 0
    assert merged.stderr == (
        "Warning: 'b.cube.json' was counted for another question than the cubes before it; the "
        "sum has the defaults of confidence, rules\n"
    )


def test_counts_on_standard_output(run, loans, tmp_path):
    (tmp_path / "x.cube.json").write_text(run("count", loans, *SEX).stdout)
    assert fg.load("x.cube.json").rows == 40


def test_what_a_cube_does_not_hold(run, fails, loans):
    run("count", loans, *SEX, "-o", "day.cube.json")
    assert "these counts do not hold the feature 'region'" in fails(
        "audit", "day.cube.json", "--sensitive", "region"
    )
    said = fails("audit", "day.cube.json", "--sensitive", "region:a", "--metrics", "XX")
    assert "sensitive[0]: the cut points after 'region:' must be numbers" in said
    assert "metrics[0]: no metric named 'XX'" in said


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ("merge", "day.cube.json", "other.cube.json"),
            "cannot add 'other.cube.json' to the cubes before it: the cubes count different",
        ),
        (("merge", "no.cube.json"), "no file 'no.cube.json'"),
        (("merge", "no*.cube.json"), "no file 'no*.cube.json'"),
        (("merge", "day.cube.json", "-o", "day.cube.json"), "the output 'day.cube.json' is also"),
        (
            ("merge", "day.cube.json", "-o", "x.json"),
            "counts are saved as FILE.cube.json; 'x.json' ends",
        ),
        (
            ("count", "loans.csv", *SEX, "-o", "x"),
            "counts are saved as FILE.cube.json; 'x' ends otherw",
        ),
        (("merge", "report.json"), "'report.json' is no cube of counts; fairgauge count makes one"),
        (("merge", "loans.csv"), "'loans.csv' is no saved result of fairgauge, or is truncated"),
        (("audit", "day.cube.json", "loans.csv"), "counts (.cube.json) and rows cannot be audited"),
    ],
)
def test_refusals(run, fails, loans, args, said):
    run("count", loans, *SEX, "-o", "day.cube.json")
    run("count", loans, *SEX[:-1], "region", "-o", "other.cube.json")
    run("audit", loans, *SEX, "-o", "report.json")
    assert fails(*args).startswith(said)


def test_a_cut_off_or_changed_cube(run, fails, loans, tmp_path):
    run("count", loans, *SEX, "-o", "day.cube.json")
    text = (tmp_path / "day.cube.json").read_text()
    (tmp_path / "cut.cube.json").write_text(text[: len(text) // 2])
    (tmp_path / "changed.cube.json").write_text(text.replace('"rows":40', '"rows":41'))
    assert fails("audit", "cut.cube.json").startswith("'cut.cube.json' is no saved result")
    assert "were changed or damaged" in fails("audit", "changed.cube.json")


def test_counts_from_standard_input_are_audited(run, fails, loans):
    counts = run("count", loans, *SEX).stdout
    rows = estimates(run("audit", loans, *SEX, "--format", "json"))
    assert estimates(run("audit", "-", "--format", "json", stdin=counts)) == rows
    assert run("validate", "-", stdin=counts).exit_code == 0
    assert "'standard input': these counts were changed or damaged" in fails(
        "audit", "-", stdin=counts.replace('"rows":40', '"rows":41')
    )
    assert fails("audit", "-", loans, stdin=counts) == (
        "standard input holds counts, not rows; audit it alone, or merge it with other counts "
        "(fairgauge merge)"
    )


def test_what_is_saved_is_no_table_of_rows(run, fails, loans, tmp_path):
    run("count", loans, *SEX, "-o", "day.cube.json")
    (tmp_path / "day.json").write_text((tmp_path / "day.cube.json").read_text())
    counts = "'day.json' holds counts, not rows; fairgauge.load reads it, and the name of its file "
    assert fails("audit", "day.json", *SEX).startswith(counts)
    with pytest.raises(
        fg.DataError, match=r"'day\.cube\.json' holds counts, not rows; fairgauge\."
    ):
        fg.audit("day.cube.json", label="approved", sensitive="sex")
    run("audit", loans, *SEX, "-o", "report.json")
    report = (tmp_path / "report.json").read_text()
    for args, stdin in ((("report.json",), None), (("-",), report), (("-", loans), report)):
        assert "holds a report, not rows; fairgauge render" in fails("audit", *args, stdin=stdin)


@pytest.mark.parametrize(
    "rows", [["yes,no,F"], ["yes,yes,F", "no,no,M"], ["a,b,F", "b,c,M", "c,a,F"]]
)
def test_a_shard_of_few_rows_is_not_warned_of(run, tmp_path, rows):
    (tmp_path / "t.csv").write_text("\n".join(["approved,predicted,sex", *rows]))
    flags = ("--label", "approved", "--prediction", "predicted", "--sensitive", "sex")
    counted = run("count", str(tmp_path / "t.csv"), *flags)
    assert counted.exit_code == 0
    assert "Warning" not in counted.stderr


def test_rows_alone_in_a_cell_are_counted_once(run, tmp_path):
    rows = [f"{i % 2},{(i // 2) % 2},{'FM'[i % 3 == 0]},{i / 600}" for i in range(600)]
    (tmp_path / "t.csv").write_text("\n".join(["y,p,sex,score", *rows]))
    flags = ("--label", "y", "--sensitive", "sex", "--score", "score")
    assert run("count", f"{tmp_path}/t.csv", *flags).stderr == (
        "Note: 600 rows are alone in a cell of the counts: people who know the group of such a "
        "person can read the outcome (the exact value of 'score' too); share these counts as you "
        "would share the rows. They cannot be protected as they are: they hold the scores 'score'; "
        "count decisions (prediction, --prediction) in place of scores\n"
    )


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (["--person", "who", "--where", "who != 3"], True),
        (["--person", "who", "--recode", 'who = {3 = ["4"]}'], True),
        (["--person", "who", "--recode", 'who = {unknown = ["5"]}'], True),
        (["--person", "who", "--recode", 'who = {unknown = ["N/A", "9999"]}'], False),
        (["--cluster", "who"], False),
    ],
)
def test_identifiers_that_a_question_names_are_noted_and_not_protected(run, tmp_path, flags, names):
    rows = [f"{i // 2 if i else 'N/A'},{i % 4 // 3},{'FM'[i // 2 % 2]}" for i in range(80)]
    (tmp_path / "t.csv").write_text("\n".join(["who,p,sex", *rows]))
    asked = ["--prediction", "p", "--positive", "1", "--sensitive", "sex", *flags]
    cube = str(tmp_path / "t.cube.json")
    done = run("count", f"{tmp_path}/t.csv", *asked, "-o", cube)
    assert done.exit_code == 0, done.stderr
    assert ("Note: the question names 1 identifier" in done.stderr) is names
    refused = run("protect", cube, "--min-cell", "5", "-o", str(tmp_path / "safe.cube.json"))
    assert refused.exit_code == (2 if names or "--cluster" in flags else 0)
    assert ("their question names identifiers (where, recode)" in refused.stderr) is names


@pytest.mark.parametrize(
    ("added", "weights", "note"),
    [
        ("", "", ""),
        ("1,1,M,1,1\n", "", "Note: 1 case is alone in a cell of the counts: "),
        ("1,1,M,2,0.5\n", "--weight", ""),
    ],
    ids=["many people a row", "one person", "weights are not people"],
)
def test_cases_alone_in_a_cell_are_those_of_the_count_column(run, tmp_path, added, weights, note):
    rows = "y,p,sex,n,w\n1,1,F,300,1\n0,0,F,600,1\n1,0,M,400,1\n0,1,M,500,1\n"
    (tmp_path / "t.csv").write_text(rows + added)
    flags = ("--label", "y", "--prediction", "p", "--sensitive", "sex", "--count", "n")
    weighted = (weights, "w") if weights else ()
    shown = run("count", f"{tmp_path}/t.csv", *flags, *weighted).stderr
    assert shown.partition("alone")[0] == note.partition("alone")[0]


def test_counting_warns_of_what_counts_alone_would_show_too_late(run, loans, tmp_path):
    rows = "".join(f"{i // 2},{'FM'[i % 2]},{i % 3 == 0:d},{i / 400}\n" for i in range(200))
    reversed_rows = "".join(f"{i // 2},{'FM'[i % 2]},{i < 60:d},{i / 400}\n" for i in range(200))
    asked = ("--label", "repaid", "--score", "score", "--sensitive", "sex", "-o", "a.cube.json")
    for data, person, expected in (
        (rows, "row", []),
        (rows, "person_id", ["person_id: column 'person_id' has 100 distinct values"]),
        (reversed_rows, "row", ["'score' ranks positives below negatives"]),
    ):
        (tmp_path / "a.csv").write_text(f"{person},sex,repaid,score\n{data}")
        result = run("count", "a.csv", *asked)
        assert result.exit_code == 0
        lines = [each for each in result.stderr.splitlines() if each.startswith("Warning: ")]
        assert len(lines) == len(expected)
        assert all(text in line for text, line in zip(expected, lines, strict=True))
