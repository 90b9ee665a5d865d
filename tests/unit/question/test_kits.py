"""Presets: every file is whole, its example comes out, its filing is made, none is named."""

import ast
import datetime as dt
import html
import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.enums import Outcome
from fairgauge.errors import SpecError
from fairgauge.monitoring.monitor_spec import read_monitor_spec
from fairgauge.question import kits
from fairgauge.question.kits import Kit, find_kit, kit_names
from fairgauge.render import render

KITS = Path(kits.__file__).parents[1] / "kits"


def rows_of(example):
    """Return a row for each group and outcome of an example."""
    *features, _, _ = example["columns"]
    return pl.DataFrame(
        [
            {**dict(zip(features, values, strict=True)), "ok": outcome, "people": count}
            for *values, n, selected in example["rows"]
            for outcome, count in ((1, selected), (0, n - selected))
        ]
    )


@pytest.mark.parametrize("name", ["nyc-ll144", "ugesp"])
def test_the_example_of_the_authority_comes_out_to_its_last_digit(name):
    example = tomllib.loads((KITS / f"{name}.toml").read_text())["example"]
    report = fg.audit(rows_of(example), preset=name, prediction="ok", positive=1, count="people",
                      **example["audit"])  # fmt: skip
    for key, printed in example["expected"].items():
        feature, group = key.split("/")
        value = report["selection_rate.ratio", feature, group].value
        assert f"{value:.{len(printed.partition('.')[2])}f}" == printed


def applicants():
    """Return New York's own example (6 RCNY 5-301), and people who did not state theirs."""
    rows = rows_of(tomllib.loads((KITS / "nyc-ll144.toml").read_text())["example"])
    unknown = {"sex": "Unknown", "race": "Unknown", "ok": 0, "people": 250}
    return pl.concat([rows, pl.DataFrame([unknown])])


def of_new_york(**more):
    options = {"prediction": "ok", "sensitive": ["sex", "race"], "count": "people"}
    return fg.audit(applicants(), preset="nyc-ll144", unknown="Unknown", **options, **more)


def loans():
    return pl.DataFrame({
        "race": ["White"] * 600 + ["Black"] * 300, "ok": [1, 1, 1, 0] * 150 + [1, 0] * 150,
        "good": [1, 1, 0] * 300, "branch": ["North", "South", None, *["West"] * 7] * 90,
    })  # fmt: skip


def filed(name, **more):
    asked = {"prediction": "ok", "positive": 1, "sensitive": "race", "label": "good"} | more
    if kits.open_kit(name).compared_with:
        asked["reference"] = {"race": "White"}
    return fg.audit(loans(), preset=name, **asked)


def section_to_file(report):
    return render(report, "markdown", full=True).split("## To file")[1].split("\n## ")[0]


@pytest.mark.parametrize("name", kit_names())
def test_every_kit_makes_its_filing_with_status_and_date_and_claims_nothing(name):
    stated = {"author": "J. Doe", "audit_date": "2026-11-01", "source": "the ledger",
              "period": "one spring", "notes": "without leavers"}  # fmt: skip
    report = filed(name, document=stated, where={"good": 1})
    text = render(report, "markdown", full=True)
    section = text.split("## To file")[1].split("\n## ")[0]
    assert "Only rows with good = 1 are counted" in section
    assert all(section.count(each) == 1 for each in stated.values())
    found = find_kit(name)
    for part in (section, text.split("\n## ")[0]):
        assert f"{found.status} (as of {found.as_of.isoformat()})" in part.replace("\\", "")
    assert f"| how they were read | {found.read} |" in section
    assert "does not state that the audit" in section
    headings = re.findall(r"^#+ (.+)$", found.filing, flags=re.MULTILINE)
    assert headings
    for heading in headings:
        assert f"### {heading}" in section
    assert "\0" not in text


@pytest.mark.parametrize("name", kit_names())
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_the_check_finds_no_error_in_any_filing_and_names_what_it_cannot_check(
    name, suffix, tmp_path
):
    report = filed(name, **({"strata": "branch"} if suffix == "md" else {}))
    report.save(tmp_path / f"filing.{suffix}")
    found = fg.check(tmp_path / f"filing.{suffix}")
    assert found.errors == 0
    whole = {"nyc-ll144"}  # others have tables or columns that are no people, selections or ratios
    left = [each for each in found.unread if each.counts]
    assert (left == []) is (name in whole)
    # the rule of a preset decides where it is one of ratios
    own = report.exit_code if name == "ugesp" else 0
    assert found.exit_code == (own or (0 if name in whole else 3))


def test_no_code_names_a_kit_or_compares_its_name():
    named, compared = set(), []
    for path in Path(fg.__file__).parent.rglob("*"):
        if path.suffix in (".py", ".js", ".html", ".j2"):
            text = re.sub(r'"""[\s\S]*?"""', "", path.read_text())
            named |= {name for name in kit_names() if re.search(rf"\b{name}\b(?!\.)", text)}
        if path.suffix == ".py":
            compared += [
                f"{path.name}: {ast.unparse(node)}"
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Compare)
                and re.search(r"preset\b|\bcalled$", ast.unparse(node.left))
                and any(isinstance(getattr(each, "value", None), str) for each in node.comparators)
            ]
    assert (named, compared) == (set(), [])


def test_every_key_of_a_kit_is_in_the_page_of_docs():
    page = (Path(__file__).parents[3] / "docs/how-to/a-kit-of-your-own.md").read_text()
    keys = {each.name for each in fields(Kit)} - {"name", "options", "filing"}
    assert {each for each in keys if f"`{each}`" not in page and f"{each} = " not in page} == set()


def test_a_table_that_a_kit_does_not_have_is_refused(tmp_path):
    """Rules at the end of a kit were ignored, and the audit had none."""
    kit = (KITS / "ugesp.toml").read_text("utf-8")
    file = tmp_path / "own.toml"
    file.write_text(kit + '\n[[rules]]\nmetric = "selection_rate.ratio"\nat_least = 0.9\n', "utf-8")
    with pytest.raises(fg.SpecError, match=r"rules: unknown key.* Allowed: kit, audit"):
        fg.audit(
            pl.DataFrame({"y": [1], "g": ["a"]}), prediction="y", sensitive="g", preset=str(file)
        )


def test_the_denials_odds_ratio_is_the_inverse_of_that_of_approvals():
    names = ["denials_odds.ratio", "selection_odds.ratio"]
    for strata, scope in ((None, "overall"), ("good", "pooled")):
        report = filed("nydfs-cl7-2024", metrics=names, strata=strata)
        denied, approved = (
            next(e for e in report.estimates
                 if (e.metric, e.group, e.scope.kind) == (name, "Black", scope)) for name in names
        )  # fmt: skip
        assert denied.value == pytest.approx(1 / approved.value, rel=1e-12)
        assert (denied.low, denied.high) == pytest.approx((1 / approved.high, 1 / approved.low))
    assert report.catalogue.metric("denials odds ratio").name == "denials_odds.ratio"


KIT = '''
[kit]
title = "Bonuses of a company"
jurisdiction = "one company"
status = "a house rule"
as_of = 2026-11-28
read = "official text"
sources = ["House rule 7"]
statements = ["Bonuses go to women and men at like rates."]
publishes = ["bonus rates"]
filing = """
# Bonuses

{{ page() }}

{{ rules() }}
"""

[audit]
metrics = ["selection_rate.ratio"]
reference = "best"
rules = ["selection_rate.ratio >= 0.8"]
'''


@pytest.mark.parametrize("template", [
    "{{ ().__class__ }}", "{{ page.__globals__ }}", "{% include 'a' %}", "{{ 1 + 'a' }}",
    "{{ range(10**9) }}", "{{ report.save('a.json') }}",
])  # fmt: skip
def test_a_template_that_asks_for_what_there_is_not_is_refused_by_its_name(template, tmp_path):
    """What Jinja does not refuse itself was said of the values of the result."""
    (tmp_path / "mine.toml").write_text(KIT.replace("{{ rules() }}", template))
    report = filed(str(tmp_path / "mine.toml"))
    with pytest.raises(fg.SpecError, match="preset mine: filing: "):
        render(report, "markdown", full=True)


def test_a_file_of_ones_own_is_a_preset(tmp_path):
    path = tmp_path / "bonuses.toml"
    path.write_text(KIT)
    report = filed(str(path))
    assert str(report.verdict) == "fail"
    text = render(report, "markdown", full=True)
    assert "House rule 7" in text
    assert "### Bonuses" in text
    turned = "Rules: {{ rules() }}\n{{ page() }}"
    path.write_text(KIT.replace("{{ page() }}\n\n{{ rules() }}", turned))
    kits._kit_of.cache_clear()
    kits.open_kit(str(path))
    near = render(report, "markdown", full=True)  # the same: it states when it was made
    assert "\0" not in near
    assert {line for line in text.split("\n") if line.startswith("|")} <= {*near.split("\n")}


def test_a_folder_with_a_kit_is_a_preset_of_its_name(tmp_path, monkeypatch):
    folder = tmp_path / "bonuses"
    folder.mkdir()
    with pytest.raises(fg.SpecError, match=r"a folder with kit\.toml"):
        filed(str(folder))
    (folder / "kit.toml").write_text(KIT)
    report = filed(str(folder))
    assert "Bonuses of a company" in section_to_file(report)
    shown = CliRunner().invoke(main, ["presets", str(folder)])
    assert "House rule 7" in shown.output
    monkeypatch.setattr(kits, "_opened", {})
    with pytest.raises(fg.SpecError, match="no preset"):  # no saved file can name its path
        kits.kit_or_none(str(folder))
    monkeypatch.setenv(kits.FOLDER_OF_KITS, str(tmp_path))
    assert kits.find_kit("bonuses").status == "a house rule"
    ours = folder.rename(tmp_path / "ugesp")
    with pytest.raises(fg.SpecError, match="has the name of a preset of fairgauge, ugesp"):
        filed(str(ours))


def test_a_file_names_no_preset_that_is_a_file(tmp_path, monkeypatch):
    """The template of a report that somebody sent was opened where it said, and run."""
    path, spec, cube = tmp_path / "bonuses.toml", tmp_path / "a.toml", tmp_path / "a.cube.json"
    path.write_text(KIT)
    asked = {"prediction": "ok", "positive": 1, "sensitive": "race", "preset": str(path)}
    counts = fg.count(loans(), **asked)
    counts.save(cube)
    report, bundle = fg.audit(counts), tmp_path / "a.fairgauge"
    report.save(tmp_path / "a.json")
    fg.seal(report, counts, bundle)
    lines = (f"{key} = {json.dumps(value)}" for key, value in asked.items() if key != "count")
    spec.write_text("\n".join(lines))
    rows = {"ok": [1, 0], "race": ["a", "b"]}
    by_file = [lambda: fg.audit(rows, config=spec), lambda: read_monitor_spec(spec)]
    monkeypatch.setattr(kits, "_opened", {})
    path.write_text(KIT.replace("{{ rules() }}", "# PASSED"))
    kits._kit_of.cache_clear()
    for open_ in by_file:
        with pytest.raises(fg.FairgaugeError, match="which no other file can name"):
            open_()
    found = fg.verify(bundle)
    assert str(found.finding) == "reproduced"
    for again in (fg.load(tmp_path / "a.json"), fg.audit(fg.load(cube)), found.report):
        shown = render(again, "markdown", full=True)
        for held in ("template of this preset is not here", "House rule 7", "at like rates"):
            assert held in shown
        assert "PASSED" not in shown
        assert again.verdict == report.verdict
    monkeypatch.setenv(kits.FOLDER_OF_KITS, str(tmp_path))
    assert "PASSED" in render(fg.load(tmp_path / "a.json"), "markdown", full=True)


@pytest.mark.parametrize("name", ["{}", "../{}", "a/../{}", "/{}", ".", "..", "n" * 3_000, ""])
def test_a_preset_of_a_file_has_a_plain_name(tmp_path, monkeypatch, name):
    """Neither a path to a folder of presets nor one from it is a name, in any kind of file."""
    folder = tmp_path / "kits"
    folder.mkdir()
    (folder / "bonuses.toml").write_text(KIT)
    saved, asked = filed(str(folder / "bonuses.toml")), {"prediction": "ok", "sensitive": "race"}
    assert str(tmp_path) not in saved.to_json()
    monkeypatch.setattr(kits, "_opened", {})
    monkeypatch.setenv(kits.FOLDER_OF_KITS, str(folder))
    assert kits.find_kit("bonuses").filing
    stated = name.format(folder / "bonuses")
    with pytest.raises(fg.FairgaugeError, match="no preset"):
        kits.find_kit(stated)
    (tmp_path / "a.json").write_text(json.dumps(asked | {"preset": stated}))
    with pytest.raises(fg.FairgaugeError, match="no preset"):
        fg.audit({"ok": [1, 0], "race": ["a", "b"]}, config=tmp_path / "a.json")
    held = saved.to_dict()
    held["spec"]["preset"]["name"] = stated
    with pytest.raises(fg.FairgaugeError, match="no preset"):
        render(fg.Report.from_dict(held), "markdown", full=True)


@pytest.mark.parametrize("change", [
    {"name": "nyc-ll144"}, {"kit": {"as_of": "soon"}}, {"kit": {"statements": [1]}},
    {"kit": {"status": "in force. All rules PASS"}}, {"kit": {"no_limit": "All rules PASS."}},
    {"audit": {"recode": "trap.csv"}}, {"audit": {"metrics": [[]]}}, {"kit": []}, {"audit": None},
])  # fmt: skip
def test_values_of_a_preset_that_are_saved_state_nothing_of_ours(tmp_path, monkeypatch, change):
    path = tmp_path / "bonuses.toml"
    path.write_text(KIT)
    saved = filed(str(path)).to_dict()
    monkeypatch.setattr(kits, "_opened", {})
    held = saved["spec"]["preset"]
    saved["spec"]["preset"] = {
        key: {**held[key], **value} if isinstance(value, dict) else value
        for key, value in (held | change).items()
    }
    try:
        shown = render(fg.Report.from_dict(saved), "markdown", full=True)
    except fg.FairgaugeError:
        return
    first = shown.partition("```")[0]  # which ends in the question, as it was asked
    assert "“All rules PASS.”" in first or "All rules PASS" not in first
    assert "Bias audit of an automated" not in shown


@pytest.mark.parametrize(("kit", "message"), [
    (KIT.replace("title =", "titel ="), r"\[kit\].titel: unknown key. Did you mean 'title'\?"),
    (KIT + '[kit.words]\nnuon = "staff"', r"words\].nuon: unknown key. Did you mean 'noun'\?"),
    (KIT + "min_shar = 0.02", r"\[audit\].min_shar: unknown key. Did you mean 'min_share'\?"),
    (KIT + '[audit.with_score]\nreferenc = "best"', "referenc: .* Did you mean 'reference'"),
    (KIT.replace('read = "official text"\n', ""), "lacks 'read'"),
    (KIT.replace("[audit]", "[audits]"), r"no table \[audit\]"),
    (KIT.replace("filing =", "period ="), "lacks 'filing'"),
    (KIT + "[", "bonuses.toml"),
    (KIT.replace('sources = ["House rule 7"]', 'sources = "House rule 7"'), "'sources'"),
    (KIT.replace("as_of = 2026-11-28", 'as_of = "2026"'), "'as_of'"),
    (KIT.replace("a house rule", "All PASS"), "sentence or a verdict in 'status'"),
    (KIT.replace("rules =", "# rules ="), "neither rules nor no_limit"),
    (KIT.replace("{{ page() }}", "{{ nothing() }}"), "nothing"),
])  # fmt: skip
def test_a_file_that_lacks_something_says_what(tmp_path, kit, message):
    path = tmp_path / "bonuses.toml"
    path.write_text(kit)
    with pytest.raises(SpecError, match=message):
        render(filed(str(path)), "markdown", full=True)


def test_the_first_page_names_status_and_date_in_german():
    text = render(filed("colorado-insurance-draft-2023"), "markdown", lang="de")
    assert "a draft of 2023; never adopted (Stand 2026-11-28)" in text


def pay(ties=False):
    women, men = [*range(1000, 1400, 2)], [*range(1100, 1700, 2)]
    if ties:
        women, men = [1200] * 200, [1200] * 300
    return pl.DataFrame({"sex": ["F"] * len(women) + ["M"] * len(men), "pay": women + men})


def paid(rows, preset="eu-pay-transparency", sex="sex", **more):
    reference = {sex: "M"}
    return fg.audit(rows, preset=preset, label="pay", sensitive=sex, reference=reference, **more)


def quarters(rows):
    report = paid(rows)
    return [report[f"label_quarter(k={k})", "sex", "F"] for k in (1, 2, 3, 4)]


def test_quarters_of_pay_are_those_of_a_sorted_list_and_ties_are_shared():
    women = (pay().sort("pay")["sex"] == "F").to_numpy()
    shares = women.reshape(4, 125).mean(axis=1)
    found = quarters(pay())
    straddling = 1 / 125  # one of two with the same pay may be on either side
    assert [e.value for e in found] == pytest.approx(shares, abs=straddling)
    assert sum(e.value for e in found) == pytest.approx(4 * 200 / 500)
    assert [e.value + e.rate_reference for e in found] == pytest.approx([1.0] * 4)
    assert [e.value for e in quarters(pay(ties=True))] == pytest.approx([0.4] * 4)


def test_quarters_of_several_groups_have_each_group_once():
    pays = [*range(1000, 1600)]
    rows = pl.DataFrame({"g": ["A", "B", "C"] * 200, "pay": pays})
    report = fg.audit(rows, preset="eu-pay-transparency", label="pay", sensitive="g",
                      reference={"g": "A"})  # fmt: skip
    text = render(report, "markdown", full=True).split("Who is in each quarter")[1]
    lines = [each for each in text.split("\n") if each.startswith("|")][2:5]
    shares = {cells[1].strip(): [float(c.strip(" %")) for c in cells[2:6]]
              for cells in (line.split("|") for line in lines)}  # fmt: skip
    assert shares.keys() == {"A", "B", "C"}
    for quarter in zip(*shares.values(), strict=True):
        assert sum(quarter) == pytest.approx(100, abs=0.2)
        assert max(quarter) - min(quarter) < 1


PRICES = pl.DataFrame(
    {"race": ["White"] * 400 + ["Black"] * 100, "price": [10.0, 12.0] * 200 + [13.0, 14.0] * 50}
)


def test_premiums_are_held_against_the_average():
    report = fg.audit(PRICES, preset="colorado-insurance-draft-2023", task="regression",
                      label="price", sensitive="race")  # fmt: skip
    outcomes = {each.group: str(each.outcome) for each in report.verdicts}
    assert outcomes == {"Black": "fail", "White": "pass"}


@pytest.mark.parametrize("name", ["nydfs-cl7-2024", "us-lending"])
def test_prices_are_compared_as_averages(name):
    report = fg.audit(PRICES, preset=name, task="regression", label="price", sensitive="race")
    assert report["mean_label.difference", "race", "Black"].value == pytest.approx(2.5)
    text = section_to_file(report)
    assert ("adverse impact ratio" in text) is (name == "nydfs-cl7-2024")  # which its source names
    assert "or estimated group" not in text.replace("clustered or estimated groups", "")
    assert "--" not in re.sub(r"\|[-:| ]+", "", text)
    assert "| difference of average amount | Black | White | +2.5" in text


def test_one_component_of_pay_and_a_third_group_are_marked_by_no_limit():
    rows = pay().with_columns(
        grade=pl.lit("A"), third=pl.Series((["F", "X"] * 100) + ["M"] * 300)
    )  # five per cent are of whole pay, of women and men
    for name, sex, marked in (
        ("eu-pay-transparency", "sex", True),
        ("eu-pay-transparency", "third", False),
        ("eu-pay-components", "sex", False),
    ):
        report = paid(rows, name, sex, strata="grade")
        text = section_to_file(report)
        assert ("| 5% or more |" in text) is marked
        assert ("5% or more is not marked" in text) is (sex == "third")
        assert "The amount is pay." in text
        assert ("Who is in each quarter" in text) is (name == "eu-pay-transparency")
        assert "Not in this document: the gap of each category" not in text
    report = paid(rows, name)
    assert "Not in this document: the gap of each category" in section_to_file(report)


@pytest.mark.parametrize("name", ["eu-pay-transparency", "eu-pay-components"])
def test_averages_of_few_people_are_withheld_of_pay_and_of_its_components(name):
    rows = pay().with_columns(grade=pl.Series(["A"] * 495 + ["B"] * 5))
    report = paid(rows, name, strata="grade")
    assert any(each.code == "few_published" for each in report.diagnostics)
    assert "withheld" in section_to_file(report)
    rows = rows.with_columns(sex=pl.Series(["X"] * 4 + ["F"] * 196 + ["M"] * 300))
    text = section_to_file(paid(rows, name, strata="grade"))
    assert "below 1" not in text  # nobody, in a category
    if "Who is in each quarter" in text:  # the shares of the others would give those of four people
        shares = text.split("Who is in each quarter")[1].split("Withheld: a group")[0]
        assert "%" not in shares


def test_no_withheld_average_follows_from_tables_of_several_groups_and_the_averages_of_all():
    sizes = {"F": (40, 60, 30, 25), "M": (4, 80, 40, 50), "X": (30, 12, 11, 9)}
    rows = pl.DataFrame([
        {"sex": sex, "grade": grade, "pay": 100.0 + 10 * i + len(sex)}
        for sex, of in sizes.items() for grade, n in zip("ABCD", of, strict=True) for i in range(n)
    ])  # fmt: skip
    report = paid(rows, strata="grade")
    shown = {sex: set() for sex in sizes}
    text = section_to_file(report)
    for group in ("F", "X"):
        table = text.split(f"**Gap of {group} in average pay, by grade**")[1].split("**")[0]
        for line in re.findall(r"^\| [ABCD] \|.*", table, flags=re.MULTILINE):
            _, grade, _, _, own, men, gap, *_ = (cell.strip() for cell in line.split("|"))
            both = own.strip("-"), men.strip("-")
            shown[group] |= {grade} if both[0] else set()
            shown["M"] |= {grade} if both[1] else set()
            assert ("%" in gap) is all(both)
    hidden = {sex: {*"ABCD"} - grades for sex, grades in shown.items()}
    assert hidden == {"F": set(), "M": {"A", "C"}, "X": {"D", "C"}}
    assert "and others from which they would follow" in text


def test_a_median_of_nothing_has_no_ratio_because_it_is_not_above_zero():
    rows = pl.DataFrame({"sex": ["F", "M"] * 60, "pay": [0.0] * 80 + [5.0] * 40})
    report = paid(rows, "eu-pay-components")
    each = report["median_label.ratio", "sex", "F"]
    assert (each.value, str(each.reason.code)) == (None, "ratio_not_above_zero")


def test_the_sheet_to_publish_is_the_filing(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    for name, caption in (
        ("hti-1-dsi", "People and rates of the groups of race"),
        ("ugesp", "Selections beside those to expect at equal rates"),
    ):
        report = filed(name)
        report.save(tmp_path / "filing.xlsx")
        sheet = openpyxl.load_workbook(tmp_path / "filing.xlsx")["To publish"]
        cells = [str(row[0]) for row in sheet.iter_rows(values_only=True)]
        assert caption in cells
        assert any(each.startswith("sources: ") for each in cells)
        text = section_to_file(report)
        for each in re.findall(r"^\*\*(.+)\*\*$", text, flags=re.MULTILINE):
            assert any(cell.startswith(each.replace("\\", "")) for cell in cells)
        assert "Approved by" in cells


def test_validate_names_what_a_filing_lacks_until_it_is_stated(tmp_path):
    loans().write_csv(tmp_path / "rows.csv")
    asked = ["validate", f"{tmp_path}/rows.csv", "--prediction", "ok", "--positive", "1",
             "--sensitive", "race", "--label", "good", "--favourable", "positive"]  # fmt: skip
    for name, keys, one in (
        ("nyc-ll144", find_kit("nyc-ll144").document, "source"), ("hti-1-dsi", ("notes",), "notes"),
    ):  # fmt: skip
        preset = [*asked, "--preset", name]
        text = CliRunner().invoke(main, preset).output
        assert [key for key in keys if f"lacking    document.{key}, which {name}" not in text] == []
        stated = CliRunner().invoke(main, [*preset, "--document", f"{one}=As of the county."])
        assert f"document.{one}" not in stated.output


def test_premiums_of_estimated_groups_are_filed_with_every_estimator():
    rng = np.random.default_rng(10)
    p = rng.beta(0.3, 1.5, 3_000)
    black = rng.random(3_000) < p
    premiums = rng.gamma(30, 0.1, 3_000) * (1 + 0.15 * black)
    rows = pl.DataFrame({"p": p, "q": 1 - p, "premium": premiums})
    asked = {"task": "regression", "label": "premium",
             "sensitive": {"race": fg.probabilities(Black="p", White="q")}}  # fmt: skip
    report = fg.audit(rows, preset="colorado-insurance-draft-2023", **asked)
    outcomes = {each.group: str(each.outcome) for each in report.verdicts}
    assert outcomes == {"Black": "fail", "White": "inconclusive"}
    text = section_to_file(report)
    assert "| premium over the average | regression | 1.1" in text
    assert "weighted | 1.0" in text
    assert "| premium over the average &lt;= 1.05" in text
    assert "can differ in the second digit" in text
    assert "label" not in text
    asked |= {"preset": "nydfs-cl7-2024", "reference": {"race": "White"}}
    report = fg.audit(rows, **asked)
    assert "| SMD x 100 | Black | White | +" in section_to_file(report)
    some = rows.with_columns(premium=pl.when(pl.col("q") < 0.9).then(pl.col("premium")))
    report = fg.audit(some, **asked)
    assert "audit these alone (--where)" in render(report, "markdown")
    assert "| excluded rows | missing label, where it is needed: " in section_to_file(report)


def selected(**groups):
    """Return counts of groups, of the people selected and not selected in each."""
    cells = {name: {"tp": yes, "fp": 0, "fn": no, "tn": 0} for name, (yes, no) in groups.items()}
    return fg.confusion("race", cells)


def test_nobody_is_selected_beyond_all_of_a_group_and_rounded_counts_have_no_exact_test():
    counts = selected(A=(40, 0), B=(60, 40))
    (line,) = fg.audit(counts, preset="ugesp", reference={"race": "B"}).adverse_impact
    assert (line.ratio_of_one_other, line.selected) == (None, 40)
    assert not fg.audit(fg.protect(counts, min_cell=5), preset="ugesp").adverse_impact


def test_whether_one_other_person_crosses_the_limit_is_that_of_the_two_ratios():
    counts, asked = selected(A=(10, 10), B=(39, 61), C=(20, 80)), {"reference": {"race": "A"}}
    found = {each.group: each for each in fg.audit(counts, preset="ugesp", **asked).adverse_impact}
    for each in found.values():
        assert each.turned is ((each.ratio >= 0.8) != (each.ratio_of_one_other >= 0.8))
    assert {name: each.turned for name, each in found.items()} == {"B": True, "C": False}
    line, _ = fg.audit(counts, preset="california-crd-2025", **asked).adverse_impact
    assert line.turned is None


def test_validity_has_denominators_intervals_people_of_unknown_group_and_auc():
    n = 400
    rows = pl.DataFrame({
        "race": (["White", "White", "Black", None] * n)[:n], "ill": [i % 3 == 0 for i in range(n)],
        "risk": [(i * 7 % 100) / 100 for i in range(n)],
    })  # fmt: skip
    report = fg.audit(rows, preset="hti-1-dsi", label="ill", score="risk", threshold=0.5,
                      positive=True, favourable="positive", sensitive="race")  # fmt: skip
    text = render(report, "markdown", full=True).split("People and rates of the groups of race")[1]
    head, _, *lines = [line.split(" | ") for line in text.split("\n") if line.startswith("|")]
    assert "ROC AUC" in " ".join(head)
    black = next(line for line in lines if line[0] == "| Black")
    assert black[1:3] == ["100", "33.3%"]
    assert all(" to " in cell and "n = " in cell for cell in black[3:])
    assert next(line for line in lines if line[0] == "| Unknown")[1] == "100"


def test_the_filing_of_a_lender_has_a_table_of_its_branches():
    rows = loans().with_columns(branch=pl.Series(["North", "South", "West"] * 300))
    report = fg.audit(rows, preset="us-lending", prediction="ok", positive=1, sensitive="race",
                      strata="branch")  # fmt: skip
    section = section_to_file(report)
    for name in ("North", "South", "West"):
        assert re.search(rf"\| {name} \| 50.0 \(n = 100\) \| 75.0 \(n = 200\) \|", section)


def test_a_filing_names_the_warnings_of_its_audit():
    rows = loans().with_columns(ok=pl.when(pl.col("race") == "White").then("ok"))
    report = fg.audit(pl.concat([loans(), rows[:700]]), preset="us-lending", prediction="ok",
                      positive=1, sensitive="race")  # fmt: skip
    assert any(each.level == "warning" for each in report.diagnostics)
    section = section_to_file(report)
    assert "- Warning: race" in section


@pytest.mark.parametrize(("threshold", "lines"), [(0.5, 1), ([0.3, 0.6], 0)])
def test_exact_tests_are_of_one_threshold(threshold, lines):
    rows = pl.DataFrame({"s": [i / 400 for i in range(400)], "g": ["a", "b"] * 200})
    report = fg.audit(rows, preset="ugesp", score="s", sensitive="g", threshold=threshold)
    assert len(report.adverse_impact) == lines


def test_people_of_strata_of_one_side_are_in_no_exact_test():
    people = [("F", 1, "a")] * 6 + [("F", 0, "a")] * 4 + [("M", 1, "a")] * 8 + [("M", 0, "a")] * 2
    alone = [("F", 0, "b")] * 5 + [("M", 1, "c")] * 3
    lines = [
        fg.audit(pl.DataFrame(rows, schema=["sex", "ok", "requisition"], orient="row"),
                 preset="ugesp", prediction="ok", positive=1, sensitive="sex",
                 strata="requisition", reference={"sex": "M"}).adverse_impact
        for rows in (people, people + alone)
    ]  # fmt: skip
    assert lines[0] == lines[1] != ()
    assert lines[1][0].n == 10


def test_a_filing_of_estimated_groups_names_what_it_lacks():
    table = loans().with_columns(p=pl.when(pl.col("race") == "Black").then(0.9).otherwise(0.2))
    report = fg.audit(table.with_columns(q=1 - pl.col("p")), preset="nydfs-cl7-2024",
                      prediction="ok", positive=1, reference={"race": "White"},
                      sensitive={"race": fg.probabilities(Black="p", White="q")})  # fmt: skip
    text = section_to_file(report)
    assert "Not in this report for race: denials odds ratio, SMD x 100." in text
    assert "n = " not in text.split("nobody was counted")[0]
    assert "fairgauge monitor" not in text
    assert "fairgauge why of the same decisions" not in text
    assert "wider than those of single" not in text  # there is one comparison of each metric


def test_the_rate_of_an_excluded_category_is_stated_however_few_they_are():
    few = pl.DataFrame({"race": ["Other"] * 4, "ok": [1, 0, 0, 0], "good": [1] * 4})
    table = pl.concat([loans(), few.cast(loans().drop("branch").schema)], how="diagonal")
    asked = {"prediction": "ok", "positive": 1, "sensitive": "race", "exclude_groups": ["Other"]}
    report = fg.audit(table, preset="nyc-ll144", **asked)
    (excluded,) = [e for e in report.diagnostics if e.code == "excluded_group"]
    assert (excluded["rows"], excluded["selected"], excluded["value"]) == (4, 1, 0.25)
    assert excluded["few"]


@pytest.mark.parametrize("name", kit_names())
def test_a_preset_is_complete_and_dated(name):
    found = find_kit(name)
    assert isinstance(found.as_of, dt.date)
    for text in (found.title, found.jurisdiction, found.status, *found.sources):
        assert text
    assert found.statements
    assert found.publishes
    reference = {"sex": "Male"} if found.compared_with else None
    report = fg.audit(applicants(), preset=name, prediction="ok", sensitive="sex", label="ok",
                      count="people", unknown="Unknown", reference=reference)  # fmt: skip
    assert report.spec["preset"] == name
    assert report.spec["metrics"] == found.options["metrics"]
    assert found.options_for({"task": "regression", "label": "y"})["metrics"]


def test_the_law_without_a_limit_gives_no_verdict():
    assert of_new_york().verdict is Outcome.NONE
    for name in ("nyc-ll144", "eu-ai-act-annex-iv", "us-lending"):
        assert "rules" not in find_kit(name).options


def test_a_score_is_cut_at_the_median_of_all_applicants():
    rows = pl.DataFrame({"score": [i / 99 for i in range(100)], "sex": ["F", "M"] * 50})
    report = fg.audit(rows, preset="nyc-ll144", score="score", sensitive="sex")
    assert report.spec["threshold"] == "median"
    assert sum(group.rates["selection_rate"].value * group.n for group in report.groups) == 50


def test_what_is_stated_beside_a_preset_holds():
    report = of_new_york(reference="largest", metrics=["selection_rate.difference"], min_share=0.1)
    assert {each.metric for each in report.estimates} == {"selection_rate.difference"}
    assert report.spec["min_share"] == 0.1
    assert report.spec["reference"] == "largest"


def test_the_command_lists_and_describes_and_an_unknown_name_is_refused():
    listed = CliRunner().invoke(main, ["presets"])
    first = [line.split()[0] for line in listed.output.splitlines() if not line.startswith(" ")]
    assert first == list(kit_names())
    assert find_kit("us-lending").status in " ".join(listed.output.split())
    nydfs = find_kit("nydfs-cl7-2024")
    shown = " ".join(CliRunner().invoke(main, ["presets", nydfs.name]).output.split())
    for text in (nydfs.period, nydfs.read, nydfs.in_force.isoformat(), "metrics (of amounts)"):
        assert text in shown
    assert CliRunner().invoke(main, ["presets", "nyc"]).exit_code == 2
    with pytest.raises(fg.SpecError, match="Did you mean 'nyc-ll144'"):
        fg.audit(applicants(), preset="nyc-144", prediction="ok", sensitive="sex")


def test_the_tables_to_publish_are_new_yorks():
    """Numbers of people, selections, rates and ratios with three decimals, as in 6 RCNY 5-301."""
    text = html.unescape(render(of_new_york(), "html"))
    rows = [
        [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in re.split("</t[dh]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", text, flags=re.DOTALL)
    ]
    (female,) = {tuple(row) for row in rows if row[:4] == ["Female", "1,181", "555", "47.0%"]}
    assert female[4].startswith("0.979")
    assert "0.902 to 1.062" in female[4]
    assert any(row[:2] == ["Male & White", "412"] and row[4:5] == ["reference"] for row in rows)
    (small,) = {tuple(row) for row in rows if row[:3] == ["Female & AIAN", "17", "7"]}
    assert "below the minimum of 57 (2% of all 2,821 cases)" in small[4]
    assert "impact ratio" in text
    stated = "95% confidence intervals, each for its comparison alone, or why "
    assert stated in text
    narrower = render(of_new_york(confidence=0.9), "html")
    assert "In parentheses: 90% confidence intervals" in narrower


def test_a_reference_is_of_the_people_with_whom_the_source_compares():
    """A gap in per cent of women's pay, or a premium against white applicants', is another one."""
    rows = pl.DataFrame({
        "sex": ["woman", "man"] * 50, "code": [1, 2] * 50, "p": [9.0 + i % 7 for i in range(100)],
    })  # fmt: skip
    asked = {"preset": "eu-pay-transparency", "label": "p"}
    with pytest.raises(fg.SpecError, match=r"compares with men, and 'woman' .* name man"):
        fg.audit(rows, **asked, sensitive="sex", reference={"sex": "woman"})
    for column, group, warned in (("sex", "man", 0), ("code", "2", 1)):
        report = fg.audit(rows, **asked, sensitive=column, reference={column: group})
        assert sum(d.code == "reference_assumed" for d in report.diagnostics) == warned
    premiums = {"preset": "colorado-insurance-draft-2023", "label": "p", "sensitive": "sex"}
    with pytest.raises(fg.SpecError, match="whose reference for amounts is overall; remove it"):
        fg.audit(rows, **premiums, task="regression", reference={"sex": "man"})
