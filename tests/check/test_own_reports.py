"""A report of fairgauge is read again: its tables to publish, with their names and ratios."""

import re
from functools import partial, reduce

import pytest

import fairgauge as fg
from fairgauge.cube.cube import Cube
from fairgauge.render import render

HIRED = {("F", "A"): (80, 31), ("F", "B"): (100, 20), ("M", "A"): (100, 40), ("M", "B"): (13, 4)}
ROWS = [
    {"sex": sex, "race": race, "hired": int(i < hired)}
    for (sex, race), (n, hired) in HIRED.items()
    for i in range(n)
]
FRAME = {name: [row[name] for row in ROWS] for name in ROWS[0]}


@pytest.mark.parametrize("suffix", ["md", "html"])
@pytest.mark.parametrize("preset", ["nyc-ll144", "ugesp", "us-lending"])
def test_weighted_reports_keep_their_tables(tmp_path, preset, suffix):
    """Rates of weights are not those of a number of selected people, which stands nowhere."""
    polars = pytest.importorskip("polars")
    report = fg.audit(
        polars.DataFrame(FRAME).with_columns(w=polars.int_range(polars.len()) % 3 + 1),
        preset=preset, prediction="hired", positive=1, sensitive="sex", weight="w",
        **({"reference": "best"} if preset == "us-lending" else {}),
    )  # fmt: skip
    path = tmp_path / f"audit.{suffix}"
    report.save(path)
    found = fg.check(path)
    (table,) = found.tables
    assert found.errors == 0
    assert {group.name: (group.n, group.selected) for group in table.groups} == {
        "F": (180, None),
        "M": (113, None),
    }
    assert all(group.interval is None for group in table.groups)
    rates = {group.group: group.rates["selection_rate"].value for group in report.groups}
    assert {group.name: group.rate for group in table.groups} == pytest.approx(rates, abs=5e-4)


EXCLUDED = {"exclude_groups": ["A"], "where": "hired < 2"}
NAMED = {"sex": "M", "race": "B"}
REFERENCES = [{"reference": each} for each in ("best", NAMED, "others", "overall")]


@pytest.mark.parametrize("asked", [{}, EXCLUDED, *REFERENCES], ids=str)
@pytest.mark.parametrize("preset", ["nyc-ll144", "ugesp", "us-lending"])
def test_no_table_of_a_preset_has_an_error(tmp_path, preset, asked):
    """Of decisions and categories that are missing, and of a category without any decision.

    0 of 0 has no rate, and no reference needs the highest rate.
    """
    polars = pytest.importorskip("polars")
    others = {"sex": "X", "race": "C"}
    rows = [others | {"hired": hired} for hired in [1, 0, 0] * 40 + [None] * 9]
    rows += [{"sex": "F", "race": "D", "hired": None}] * 2
    frame = polars.concat([polars.DataFrame(FRAME), polars.DataFrame(rows)])
    report = fg.audit(
        frame, preset=preset, prediction="hired", positive=1, sensitive=["sex", "race"], **asked
    )
    for suffix in ("md", "html") if asked in ({}, EXCLUDED) else ("md",):
        report.save(tmp_path / f"audit.{suffix}")
        found = fg.check(tmp_path / f"audit.{suffix}")
        assert found.errors == 0, str(found)
        assert found.numbers_checked


def test_a_reference_of_one_feature_leaves_no_other_without_that_of_the_preset():
    asked = {"prediction": "hired", "positive": 1, "sensitive": ["sex", "race"]}
    with pytest.raises(fg.SpecError, match=r"names no group of 'race'.*preset 'ugesp' \(best\)"):
        fg.audit(FRAME, **asked, preset="ugesp", reference={"sex": "M"})


def test_a_filing_by_probabilities_is_named_where_nothing_follows_from_its_numbers(tmp_path):
    polars = pytest.importorskip("polars")
    chances = [0.1 + 0.8 * (i % 7) / 6 for i in range(700)]
    rows = {"A": chances, "B": [1 - each for each in chances], "ok": [i % 3 for i in range(700)]}
    report = fg.audit(
        polars.DataFrame(rows), preset="nydfs-cl7-2024", prediction="ok", positive=1,
        probabilities=[{"name": "race", "probabilities": {"A": "A", "B": "B"}}],
        reference={"race": "A"},
    )  # fmt: skip
    report.save(tmp_path / "to-file.md")
    found = fg.check(tmp_path / "to-file.md")
    assert (found.exit_code, found.errors) == (3, 0)
    assert "to-file.md" in str(found)


def test_an_interval_for_one_ratio_is_not_shown_as_that_of_a_report(tmp_path):
    """The report prints intervals for all its comparisons together; those of a check are named."""
    asked = {"preset": "nyc-ll144", "prediction": "hired", "positive": 1, "sensitive": ["sex"]}
    report = fg.audit(FRAME, **asked, intersections=[["sex", "race"]])
    report.save(tmp_path / "audit.md")
    printed = next(each for each in report.estimates if each.group == "F & B")
    for rule, held in ((None, "for this ratio alone"), (">= 0.8", "for all pairs of large cat")):
        found = fg.check(tmp_path / "audit.md", rules=rule and f"selection_rate.ratio {rule}")
        group = next(each for each in found.tables[1].groups if each.name == "F & B")
        shown = group.interval
        assert (shown.low, shown.high) != (printed.simultaneous.low, printed.simultaneous.high)
        text = " ".join(render(found, "text", full=True).split())
        assert f"intervals {held}" in text
        assert f"(95% CI, {held}" in text


@pytest.mark.parametrize("title", [{}, {"document": {"title": "Hiring 2026"}}])
@pytest.mark.parametrize("suffix", ["md", "html", "xlsx", "csv"])
def test_a_report_without_tables_to_publish_is_refused_with_what_to_do(tmp_path, suffix, title):
    """The CSV of the estimates was a table with errors, its text one without known columns."""
    asked = {"prediction": "hired", "positive": 1, "sensitive": ["sex", "race"]}
    report = fg.audit(FRAME, **asked, **title)
    path = tmp_path / f"audit.{suffix}"
    report.save(path)
    sources = [path] if suffix == "xlsx" else [path, path.read_text(encoding="utf-8")]
    for source in sources:
        what = "as a workbook" if suffix == "xlsx" else "without its tables to publish"
        with pytest.raises(fg.DataError, match=f"report of fairgauge {what}") as e:
            fg.check(source)
        assert "audit with a preset (--preset NAME)" in str(e.value)


@pytest.mark.each_value
@pytest.mark.parametrize("limit", [0.5, 0.65, 0.8, 0.95])
@pytest.mark.parametrize("unknown", [0.0, 0.01, 0.05, 0.2])
def test_a_check_of_an_own_table_never_contradicts_the_audit(tmp_path, unknown, limit):
    """People of unknown category may be in any: the check decides nothing that the audit does not.

    Of their decisions the table states nothing, so that it may decide less.
    """
    numpy, polars = pytest.importorskip("numpy"), pytest.importorskip("polars")
    rng, n = numpy.random.default_rng(int(1000 * unknown)), 9_000
    race = rng.choice(["a", "b", "c", "d", "e"], n, p=[0.45, 0.25, 0.2, 0.085, 0.015])
    rates = {"a": 0.5, "b": 0.46, "c": 0.36, "d": 0.2, "e": 0.5}
    hired = rng.random(n) < numpy.vectorize(rates.get)(race)
    asked = {"preset": "nyc-ll144", "prediction": "hired", "positive": 1, "sensitive": "race"}
    rule = f"selection_rate.ratio >= {limit}"
    known = numpy.where(rng.random(n) < unknown, None, race).tolist()
    frame = polars.DataFrame({"race": known, "hired": hired.astype(int)})
    report = fg.audit(frame, **asked, rules=rule)
    report.save(tmp_path / "audit.md")
    found = fg.check(tmp_path / "audit.md", rules=rule)
    audited = {verdict.group: verdict for verdict in report.verdicts}
    decided = 0
    for group in found.tables[0].groups:
        if group.is_reference:
            continue
        own = audited[group.name]
        if group.decision in ("pass", "fail"):
            decided += 1
            assert own.outcome == group.decision
        elif group.decision == "not_evaluated" and own.reason.code == "small_group":
            assert group.verdict.reason["minimum"] == own.reason["minimum"]
        elif unknown == 0:
            assert own.outcome == "inconclusive"
    assert found.errors == 0
    assert decided or unknown


NAMES = ["race2", "q1", "sex*", "U.S. race: all", "race 2", "in sex, 7", "_group_", "race ",
         " of  the race, or * "]  # fmt: skip


@pytest.mark.each_value
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_a_report_is_right_whatever_its_columns_are_called(tmp_path, suffix, name):
    """Blanks at the end of a name made none of 112 people, an error of an own report."""
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(FRAME).rename(columns={"race": name})
    rows.loc[::9, name] = None
    rows.loc[::31, "sex"] = None
    asked = {"preset": "nyc-ll144", "prediction": "hired", "positive": 1}
    path = tmp_path / f"audit.{suffix}"
    fg.audit(rows, **asked, sensitive=["sex", name]).save(path)
    found = fg.check(path)
    assert [fault.message for table in found.tables for fault in table.errors] == []
    names = [" ".join(re.sub("[“”]", "", each.name).split()) for each in found.tables]
    assert names == [" ".join(f"Groups of {each}".split()) for each in ("sex", name, f"sex*{name}")]
    lacking = [rows[each].isna().any(axis=1).sum() for each in (["sex"], [name], ["sex", name])]
    assert [table.unknown for table in found.tables] == lacking


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_a_comparison_is_no_published_table(tmp_path, suffix):
    """Its shares of all rows were read as selection rates, and the publisher was blamed."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(FRAME)
    asked = {"prediction": "hired", "positive": 1, "sensitive": ["sex", "race"]}
    reports = [fg.audit(part, **asked) for part in (frame[::2], frame[1::2])]
    (tmp_path / "folder").mkdir()
    fg.compare(*reports).save(tmp_path / "folder" / f"both.{suffix}")
    with pytest.raises(fg.DataError, match="report of fairgauge without its tables to publish"):
        fg.check(tmp_path / "folder")


@pytest.mark.parametrize("sites", [1, 3])
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_tables_of_protected_counts_are_not_checked_as_exact_ones(tmp_path, suffix, sites):
    """A ratio that the report left open passed in a check of its rounded numbers."""
    asked = {"prediction": "hired", "positive": 1, "sensitive": "sex", "reference": {"sex": "M"}}
    counts = fg.count(FRAME, **asked)
    path = tmp_path / f"safe.{suffix}"
    first, *others = (fg.protect(counts, min_cell=10) for _ in range(sites))
    safe = reduce(partial(Cube.add, allow_duplicates=True), others, first)
    fg.audit(safe, **asked, preset="us-lending").save(path)
    with pytest.raises(fg.DataError, match="protected counts, which are rounded at random"):
        fg.check(path)


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_a_report_is_held_to_its_preset_without_being_told(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    counts = {"Pacific Islander": (15, 10), "White": (300, 120), "Black": (200, 70)}
    rows = [(race, int(i < x)) for race, (n, x) in counts.items() for i in range(n)]
    frame = pandas.DataFrame(rows, columns=["race", "hired"])
    asked = {"prediction": "hired", "positive": 1, "sensitive": "race"}
    path = tmp_path / f"audit.{suffix}"
    fg.audit(frame, preset="nyc-ll144", **asked).save(path)
    found = fg.check(path)
    assert (found.tables[0].reference, found.errors) == ("Pacific Islander", 0)
    assert (found.min_n, found.limit) == (1, None)
    assert fg.check(path, preset="ugesp").tables[0].reference == "White"
    fg.audit(frame, preset="ugesp", **asked).save(path)
    assert fg.check(path).limit == 0.8


def test_reports_of_several_presets_are_refused(tmp_path):
    for name in ("nyc-ll144", "ugesp"):
        asked = {"prediction": "hired", "positive": 1, "sensitive": "sex"}
        fg.audit(FRAME, preset=name, **asked).save(tmp_path / f"{name}.md")
    with pytest.raises(fg.SpecError, match="of 'nyc-ll144', 'ugesp'; check each file by itself"):
        fg.check(tmp_path)
    assert fg.check(tmp_path, preset="ugesp").limit == 0.8


HIRING = {
    "prediction": "hired", "positive": 1, "sensitive": "sex", "reference": {"sex": "M"},
}  # fmt: skip
PAY = {"label": "pay", "sensitive": "sex", "reference": {"sex": "M"}, "strata": "race"}


@pytest.fixture(scope="module")
def filings(tmp_path_factory):
    polars = pytest.importorskip("polars")
    folder = tmp_path_factory.mktemp("filings")
    frame = polars.DataFrame(FRAME).with_columns(
        pay=3000 + 40 * polars.int_range(polars.len()) % 700, good=polars.col("hired")
    )
    n = polars.int_range(polars.len())
    frame = frame.with_columns(
        age=polars.Series([None, "old", "young", "old", "young"][i % 5] for i in range(len(frame))),
        race=polars.when(n != 5).then("race"),
    )
    for name, preset, asked in (
        (
            "lending",
            "us-lending",
            HIRING
            | {
                "sensitive": ["sex", "age"],
                "strata": "race",
                "reference": {"sex": "M", "age": "old"},
            },
        ),
        ("insurer", "nydfs-cl7-2024", HIRING),
        ("pay", "eu-pay-transparency", PAY),
        ("validity", "hti-1-dsi", HIRING | {"label": "good", "favourable": "positive"}),
    ):
        report = fg.audit(frame, preset=preset, **asked)
        for suffix in ("md", "html"):
            report.save(folder / f"{name}.{suffix}")
    return folder


BESIDE = "the tables outside its document to file: not checked"


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_what_a_check_does_not_compute_is_named_and_leaves_a_filing_undecided(filings, suffix):
    for name, what in (
        ("pay", "'Gap of F'"),
        ("pay", "'Who is in each quarter, by sex'"),
        ("validity", "'Comparisons of groups'"),
        ("lending", "'Groups of sex, adjusted for race (2 strata)'"),
        ("lending", "'Groups of age', column 'odds ratio'"),
        ("insurer", "'Selections beside those to expect at equal rates'"),
    ):
        found = fg.check(filings / f"{name}.{suffix}")
        assert (found.errors, found.exit_code) == (0, 3)
        assert any(what in each.reason and each.counts for each in found.unread)
        assert "not checked" in str(found.brief().headline)
        (beside,) = (each for each in found.unread if not each.counts)  # repeats what is to file
        assert beside.reason == BESIDE
        assert BESIDE in " ".join(render(found, "text").split())


@pytest.mark.parametrize("name", ["lending", "insurer", "pay", "validity"])
@pytest.mark.parametrize("withheld", [False, True])
def test_no_table_of_a_filing_vanishes(filings, tmp_path, name, withheld):
    """Each is checked or named: of numbers of people alone, and of differences alone, too."""
    text = (filings / f"{name}.md").read_text()
    if withheld:
        text = re.sub(r"\d+\.\d \(n = ", "- (n = ", text)
        text = re.sub(r"^\| [\w ]+ ratio \| F \|.*\n", "", text, flags=re.MULTILINE)
    path = tmp_path / "filing.md"
    path.write_text(text)
    found = fg.check(path)
    named = [table.name for table in found.tables]
    named += [each.reason.partition("'")[2] for each in found.unread]
    filed = text[text.index("## To file") : text.index("**Sign-off**")]
    captions = re.findall(r"^\*\*(.*)\*\*\n\n\|", filed, re.MULTILINE)
    assert captions
    for caption in captions:
        assert any(each.startswith(caption[:15]) for each in named), caption


@pytest.mark.parametrize("reference", [None, "others", {"sex": "M"}], ids=str)
@pytest.mark.parametrize("preset", ["us-lending", "california-crd-2025", "hti-1-dsi"])
def test_no_filing_has_an_error_whatever_its_rows(tmp_path, preset, reference):
    numpy, polars = pytest.importorskip("numpy"), pytest.importorskip("polars")
    for n, weight in ((60, "w"), (60, None), (400, "w")):
        rng = numpy.random.default_rng(n)
        rows = polars.DataFrame({
            "sex": rng.choice(["F", "M", "X", None], n, p=[0.4, 0.4, 0.1, 0.1]).tolist(),
            "branch": rng.choice(["a", "b", "c", None], n, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
            "ok": rng.integers(0, 2, n), "good": rng.integers(0, 2, n),
            "w": rng.integers(1, 4, n),
        })  # fmt: skip
        asked = {"prediction": "ok", "positive": 1, "favourable": "positive", "sensitive": "sex",
                 "strata": "branch", "weight": weight}  # fmt: skip
        asked |= {"label": "good"} if preset == "hti-1-dsi" else {}
        asked |= {"reference": reference} if reference else {}
        report = fg.audit(rows, preset=preset, **asked)
        report.save(tmp_path / "filing.md")
        found = fg.check(tmp_path / "filing.md")
        assert found.errors == 0, str(found)
