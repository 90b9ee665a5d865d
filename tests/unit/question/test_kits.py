"""Kits: every folder is whole, its example comes out, its filing is made, none is named."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.errors import SpecError
from fairgauge.question import presets
from fairgauge.question.presets import preset, preset_names
from fairgauge.render import render

KITS = Path(presets.__file__).parents[1] / "kits"


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


def example_of(name):
    return tomllib.loads((KITS / name / "example.toml").read_text())


WITH_EXAMPLE = [name for name in preset_names() if "rows" in example_of(name)]


def test_a_kit_without_an_example_states_that_none_is_published():
    assert {"nyc-ll144", "ugesp"} <= set(WITH_EXAMPLE)
    for name in set(preset_names()) - set(WITH_EXAMPLE):
        assert example_of(name) == {"example": "none published"}


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_the_example_of_the_authority_comes_out_to_its_last_digit(name):
    example = example_of(name)
    report = fg.audit(rows_of(example), preset=name, prediction="ok", positive=1, count="people",
                      **example["audit"])  # fmt: skip
    for key, printed in example["expected"].items():
        feature, group = key.split("/")
        value = report["selection_rate.ratio", feature, group].value
        assert f"{value:.{len(printed.partition('.')[2])}f}" == printed


def loans():
    return pl.DataFrame(
        {
            "race": ["White"] * 600 + ["Black"] * 300,
            "ok": [1, 1, 1, 0] * 150 + [1, 0] * 150,
            "good": [1, 1, 0] * 300,
        }
    )


def filed(name, **more):
    asked = {"prediction": "ok", "positive": 1, "sensitive": "race", "label": "good"} | more
    if preset(name).compared_with:
        asked["reference"] = {"race": "White"}
    return fg.audit(loans(), preset=name, **asked)


@pytest.mark.parametrize("name", preset_names())
def test_every_kit_makes_its_filing_with_status_and_date_and_claims_nothing(name):
    text = render(filed(name), "markdown", full=True)
    section = text.split("## To file")[1].split("\n## ")[0]
    found = preset(name)
    assert f"(as of {found.as_of.isoformat()})" in section
    assert "does not state that the audit" in section
    headings = re.findall(r"^#+ (.+)$", found.filing, flags=re.MULTILINE)
    assert headings
    for heading in headings:
        assert f"### {heading}" in section
    assert "\0" not in text


@pytest.mark.parametrize("name", ["nyc-ll144", "ugesp", "us-lending", "nydfs-cl7-2024"])
@pytest.mark.parametrize("suffix", ["md", "html"])
def test_a_filing_passes_the_check_of_published_tables(name, suffix, tmp_path):
    report = filed(name)
    report.save(tmp_path / f"filing.{suffix}")
    found = CliRunner().invoke(main, ["check", str(tmp_path / f"filing.{suffix}")])
    assert found.exit_code == report.exit_code, found.output  # by the rule of the preset, if any
    assert "No error" in found.output


@pytest.mark.parametrize("name", preset_names())
def test_a_kit_of_a_secondary_source_says_so(name):
    assert preset(name).read
    if "secondary" in preset(name).read:
        assert preset(name).read in render(filed(name), "markdown", full=True)


def test_no_python_names_a_kit():
    package = Path(fg.__file__).parent
    named = {
        f"{path.name}: {name}"
        for path in package.rglob("*.py")
        for name in preset_names()
        if f'"{name}"' in re.sub(r'"""[\s\S]*?"""', "", path.read_text())
    }
    assert named == set()


def test_the_denials_odds_ratio_is_the_inverse_of_that_of_approvals():
    report = filed("nydfs-cl7-2024", metrics=["denials_odds_ratio", "selection_odds.ratio"])
    denied, approved = (report[name, "race", "Black"] for name in
                        ("denials_odds_ratio", "selection_odds.ratio"))  # fmt: skip
    assert denied.value == pytest.approx(1 / approved.value, rel=1e-12)
    assert (denied.low, denied.high) == pytest.approx((1 / approved.high, 1 / approved.low))
    assert report.catalogue.metric("denials odds ratio").name == "denials_odds_ratio"
    strata = filed(
        "nydfs-cl7-2024", metrics=["denials_odds_ratio", "selection_odds.ratio"], strata="good"
    )
    denied, approved = (
        next(e for e in strata.estimates if e.metric == name and e.scope.kind == "pooled")
        for name in ("denials_odds_ratio", "selection_odds.ratio")
    )
    assert denied.value == pytest.approx(1 / approved.value, rel=1e-12)
    assert (denied.low, denied.high) == pytest.approx((1 / approved.high, 1 / approved.low))


KIT = """
[kit]
title = "Bonuses of a company"
jurisdiction = "one company"
status = "a house rule"
as_of = 2026-11-28
read = "official text"
sources = ["House rule 7"]
statements = ["Bonuses go to women and men at like rates."]
publishes = ["bonus rates"]

[audit]
metrics = ["selection_rate.ratio"]
reference = "best"
rules = ["selection_rate.ratio >= 0.8"]
"""


def test_a_folder_of_ones_own_is_a_preset(tmp_path):
    (tmp_path / "kit.toml").write_text(KIT)
    (tmp_path / "filing.md.j2").write_text("# Bonuses\n\n{{ page() }}\n\n{{ rules() }}\n")
    report = filed(str(tmp_path))
    assert str(report.verdict) == "fail"
    text = render(report, "markdown", full=True)
    assert "House rule 7" in text
    assert "### Bonuses" in text


@pytest.mark.parametrize(
    ("kit", "filing", "message"),
    [
        (KIT.replace("title =", "titel ="), "x", "'titel'"),
        (KIT.replace('read = "official text"\n', ""), "x", "lacks 'read'"),
        (KIT.replace("[audit]", "[audits]"), "x", r"no table \[audit\]"),
        (KIT, None, "filing.md.j2"),
        (KIT + "[", "x", "kit.toml"),
        (KIT, "{{ nothing() }}", "nothing"),
    ],
)
def test_a_folder_that_lacks_something_says_what(tmp_path, kit, filing, message):
    (tmp_path / "kit.toml").write_text(kit)
    if filing is not None:
        (tmp_path / "filing.md.j2").write_text(filing)
    with pytest.raises(SpecError, match=message):
        render(filed(str(tmp_path)), "markdown", full=True)


def test_the_first_page_names_status_and_date_in_both_languages():
    for language, word in (("en", "as of"), ("de", "Stand")):
        text = " ".join(
            render(filed("colorado-insurance-draft-2023"), "markdown", lang=language).split()
        )
        assert f"a draft of 2023; never adopted ({word} 2026-11-28)" in text


def test_candidates_tried_are_listed_where_a_kit_asks_for_the_search():
    rows = loans().with_columns(
        other=pl.col("ok").shift(1, fill_value=1), alike=pl.col("ok"), n=pl.lit(1)
    )
    asked = {"prediction": "ok", "candidate": ["other", "alike"], "sensitive": "race",
             "positive": 1, "margins": {"selection_rate": 0.05}}  # fmt: skip
    for name, shown in (("nydfs-cl7-2024", True), ("us-lending", False)):
        found = fg.compare_models(rows, preset=name, **asked)
        text = render(found, "markdown", full=True)
        assert ("The search for a less discriminatory alternative" in text) is shown
        for each in found.candidates:
            row = f"| {each.name} | {each.performance} | {each.fairness} | {each.verdict} |"
            assert (row in text) is shown


def pay(ties=False):
    women, men = [*range(1000, 1400, 2)], [*range(1100, 1700, 2)]
    if ties:
        women, men = [1200] * 200, [1200] * 300
    return pl.DataFrame({"sex": ["F"] * len(women) + ["M"] * len(men), "pay": women + men})


def quarters(rows):
    report = fg.audit(rows, preset="eu-pay-transparency", label="pay", sensitive="sex",
                      reference={"sex": "M"})  # fmt: skip
    return [report[f"label_quarter(k={k})", "sex", "F"] for k in (1, 2, 3, 4)]


def test_quarters_of_pay_are_those_of_a_sorted_list_and_ties_are_shared():
    rows, shares = pay().sort("pay"), []
    for k in range(4):
        quarter = rows[k * 125 : (k + 1) * 125]["sex"]
        shares.append((quarter == "F").sum() / 125)
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


def test_premiums_are_held_against_the_average():
    rows = pl.DataFrame(
        {
            "race": ["White"] * 400 + ["Black"] * 100,
            "premium": [10.0, 12.0] * 200 + [13.0, 14.0] * 50,
        }
    )
    report = fg.audit(rows, preset="colorado-insurance-draft-2023", task="regression",
                      label="premium", sensitive="race")  # fmt: skip
    assert {each.group: str(each.outcome) for each in report.verdicts} == {
        "Black": "fail", "White": "pass",
    }  # fmt: skip


def test_validate_names_what_a_filing_lacks(tmp_path):
    rows = tmp_path / "rows.csv"
    loans().write_csv(rows)
    asked = ["--preset", "nyc-ll144", "--prediction", "ok", "--positive", "1"]
    asked = ["validate", str(rows), *asked, "--sensitive", "race"]
    text = CliRunner().invoke(main, asked).output
    for key in preset("nyc-ll144").document:
        assert f"lacking    document.{key}" in text
    assert "document.source" not in CliRunner().invoke(main, [*asked, "--source", "x"]).output


def test_nobody_is_selected_beyond_all_of_a_group_and_rounded_counts_have_no_exact_test():
    cells = {
        "A": {"tp": 40, "fp": 0, "fn": 0, "tn": 0},
        "B": {"tp": 60, "fp": 0, "fn": 40, "tn": 0},
    }
    counts = fg.confusion("race", cells)
    report = fg.audit(counts, preset="ugesp", reference={"race": "B"})
    (line,) = report.adverse_impact
    assert (line.ratio_of_one_other, line.selected) == (None, 40)
    assert not fg.audit(fg.protect(counts, min_cell=5), preset="ugesp").adverse_impact


@pytest.mark.parametrize(("threshold", "lines"), [(0.5, 1), ([0.3, 0.6], 0)])
def test_exact_tests_are_of_one_threshold(threshold, lines):
    rows = pl.DataFrame({"s": [i / 400 for i in range(400)], "g": ["a", "b"] * 200})
    report = fg.audit(rows, preset="ugesp", score="s", sensitive="g", threshold=threshold)
    assert len(report.adverse_impact) == lines
