"""The registry of formats: names, suffixes, options and errors, and what derives from it."""

import re

import pytest
from click.testing import CliRunner
from tests.selected_groups import selected

import compared_reports
import fairgauge as fg
import sample_reports
from fairgauge.cli.commands.saved import render_command
from fairgauge.cli.commands.verbs import VERBS, command_of
from fairgauge.errors import DataError, MissingExtra
from fairgauge.render import formats, names, render, save, streams, suffixes
from fairgauge.render.streams import layouts, table_of
from fairgauge.results import shown_result
from fairgauge.results.shown_result import ResultKind, ShownResult, made_now
from fairgauge.start.records import dataclass

SHOWN_BY_TITLE = ("text", "markdown", "html")


@pytest.fixture(scope="module")
def small():
    return sample_reports.small()


def test_the_command_line_offers_the_formats_of_the_registry():
    for command, *of in (
        (command_of("audit", VERBS["audit"]), "report"),
        (command_of("compare", VERBS["compare"]), "comparison"),
        (render_command,),
    ):
        asked, output = (p for p in command.params if p.name in ("format", "files"))
        assert tuple(asked.type.choices) == names(*of, files=True)
        assert all(suffix in output.help for suffix in suffixes(*of))


def test_one_row_and_one_file_add_a_format(small, tmp_path, monkeypatch):
    """A format that is added to the table can be rendered, saved, and is named in errors."""
    added = formats.Format("plain", "render.formats:write_json", (".plain",), of=("report",))
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, added))
    assert "plain" in names("report")
    save(small, tmp_path / "report.plain")
    assert (tmp_path / "report.plain").read_text(encoding="utf-8") == render(small, "json")
    with pytest.raises(DataError, match=r"use \.txt.*\.plain"):
        save(small, tmp_path / "report.unknown")
    assert [each.name for each in tmp_path.iterdir()] == ["report.plain"]


@pytest.mark.parametrize("format_", names("report"))
@pytest.mark.parametrize("sample", ["small", "several", "berkeley", "crossed"])
def test_every_format_shows_every_report_with_and_without_intervals(format_, sample):
    report = getattr(sample_reports, sample)()
    for shown in (report, sample_reports.sure(report)):
        text = render(shown, format_)
        assert text.endswith("\n")
        assert "None" not in text
        assert "nan" not in re.sub(r"(?s)<script>.*", "", text).casefold().split()


def test_a_kind_of_result_without_a_page_shows_its_title_in_every_format(tmp_path, monkeypatch):
    monkeypatch.setattr(shown_result, "_REGISTRY", {**shown_result._REGISTRY})

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Tally(ShownResult):
        KIND = ResultKind(name="tally", schema="tally/1", title="Tally of people", called="a tally")
        people: int

    tally = Tally(**made_now(), people=3)
    assert tally.says() == ("Tally of people",)
    assert repr(tally) == "<Tally; print() shows it>"
    for shown in (str(tally), tally._repr_html_(), *(render(tally, of) for of in SHOWN_BY_TITLE)):
        assert "Tally of people" in shown
    path = tmp_path / "tally.json"
    tally.save(path)
    assert fg.load(path) == tally
    assert "Tally of people" in CliRunner().invoke(render_command, [str(path)]).output
    for nothing in (lambda: render(tally, "csv"), tally.to_polars, tally.plot):
        with pytest.raises(DataError, match=r"tally has no (table of numbers|chart to plot)"):
            nothing()


@pytest.mark.parametrize(
    ("show", "message"),
    [
        (lambda of: render(of, "htm"), r"no format 'htm' of a report\. Did you mean 'html'\?"),
        (lambda of: render(of, "json", width=80), "format json has no option 'width'; it takes no"),
        (lambda of: render(of, "xlsx"), "format xlsx is no text; save it to a file"),
        (lambda of: render(of, "text", lang="dee"), r"no language .dee.*de"),
        (lambda of: of.to_pandas("group"), r"no table 'group'\. Did you mean 'groups'\?"),
    ],
)
def test_what_cannot_be_shown_is_named_with_what_can(small, show, message):
    with pytest.raises(DataError, match=message):
        show(small)


def test_a_format_that_cannot_show_a_comparison_is_refused(tmp_path):
    months = fg.compare(*compared_reports.months())
    with pytest.raises(DataError, match="no format 'junit' of a comparison") as raised:
        render(months, "junit")
    offered = str(raised.value).partition("Allowed: ")[2]
    assert offered == "text, json, csv, markdown, html"  # those of the command line
    with pytest.raises(DataError, match="names no format of a comparison"):
        save(months, tmp_path / "diff.xml")


@pytest.mark.parametrize("table", layouts()["csv"]["report"])
def test_every_table_has_its_columns_in_csv_and_frames(table):
    report = sample_reports.hostile() if table == "pairs" else sample_reports.several()
    if table == "adverse_impact":
        report = fg.audit(selected({"F": (33, 100), "M": (34, 100)}), preset="ugesp")
    found = table_of(report, table)
    lines = render(report, "csv", table=table).splitlines()
    assert lines[0] == ",".join(found.columns)
    for frame in (report.to_pandas(table), report.to_polars(table)):
        assert tuple(frame.columns) == found.columns
        assert len(frame) == len(found.rows) == len(lines) - 1 > 0


@pytest.mark.parametrize("to_frame", [streams.to_pandas, streams.to_polars])
def test_columns_of_frames_have_fixed_types(to_frame):
    full, empty = to_frame(sample_reports.several()), to_frame(sample_reports.berkeley())
    assert list(full.dtypes) == list(empty.dtypes)
    assert full["value"].to_list()[0] == sample_reports.several().estimates[0].value


def test_rates_of_groups_and_overall_are_frames():
    report = sample_reports.several()
    rates = report.by_group()
    assert rates.loc[("race", "Black"), "selection_rate"] == pytest.approx(70 / 200)
    assert rates.loc[("race", "White"), "n"] == 800
    assert report.overall().loc["race", "selection_rate"].item() == pytest.approx(430 / 1005)
    others = (360 + 0) / (800 + 5)
    difference = report.difference().loc[("race", "Black"), "selection_rate"]
    assert difference == pytest.approx(70 / 200 - others)
    ratio = report.ratio().loc[("race", "Black"), "selection_rate"]
    assert ratio == pytest.approx(70 / 200 / others)


def test_differences_of_a_vendors_metrics_are_refused():
    counts = fg.confusion("g", {"a": {"tp": 3, "fn": 1}, "b": {"tp": 1, "fn": 3}})
    with pytest.raises(DataError, match="no native differences"):
        fg.audit(counts, metrics="clarify").difference()


def test_frames_need_their_library(small, monkeypatch):
    def refuse(name):
        raise ImportError(name)

    monkeypatch.setattr(streams, "import_module", refuse)
    with pytest.raises(MissingExtra, match=r"pip install 'fairgauge\[pandas\]'"):
        streams.to_pandas(small)
    with pytest.raises(MissingExtra, match=r"pip install 'fairgauge\[polars\]'"):
        streams.to_polars(small)


@pytest.mark.parametrize(
    "each",
    [f for f in formats.FORMATS if f.suffixes and "report" in f.of and not f.binary],
    ids=lambda f: f.name,
)
def test_a_file_holds_the_whole_report(tmp_path, each):
    report = sample_reports.several()
    path = tmp_path / f"report{each.suffixes[0].upper()}"
    report.save(path)
    whole = {"full": True} if "full" in each.options else {}
    assert path.read_text(encoding="utf-8") == render(report, each.name, **whole)
    if whole:
        assert path.read_text(encoding="utf-8") != render(report, each.name)
        save(report, path, full=False)
        assert path.read_text(encoding="utf-8") == render(report, each.name)
