"""What is filed and published: sources, signatures, the command that repeats it, and tables."""

import itertools
import shlex

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.every_result import loans, result
from tests.model_rows import QUESTION, rows
from tests.monitored_days import RATIO, asked, days

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.render import render
from fairgauge.render._document_tree import Code, Facts, SignOff, Table
from fairgauge.render.document import document
from fairgauge.render.document import document as report_document

ASKED = {
    "words": {"prediction": "approved", "positive": "yes", "sensitive": "sex", "strata": "region",
              "words": {"noun": "applicants", "groups": {"sex": {"Female": "women"}}}},
    "controls": {"prediction": "approved", "positive": "yes", "sensitive": "sex",
                 "strata": ["region"], "controls": [fg.cut("score", [0.2, 0.4])]},
    "margins": {"label": "repaid", "positive": "yes", "sensitive": ["race"],
                "reference": {"race": "White"}, "strata": "region",
                "margins": {"base_rate": 0.05}},
    "cuts": {"prediction": "approved", "positive": "yes", "sensitive": "sex",
                  "strata": fg.cut("score", [0.25, 0.5, 0.75])},
}  # fmt: skip


def blocks_filed(found):
    return [b for s in document(found, paper=True).sections for b in s.blocks]


def filed(found):
    """Return the facts and the command that are filed, of a page that is signed."""
    blocks = blocks_filed(found)
    assert isinstance(blocks[-1], SignOff)
    facts = {k: v for block in blocks if isinstance(block, Facts) for k, v in block.pairs}
    (code,) = (block.text for block in blocks if isinstance(block, Code))
    return facts, code


def made_again(command):
    """Return what the command that is filed makes."""
    program, *arguments = shlex.split(command)
    assert program == "fairgauge"
    again = CliRunner().invoke(main, [*arguments, "-o", "again.json", "-q"])
    assert again.exit_code in (0, 1, 3), again.output
    return fg.load("again.json")


@pytest.mark.parametrize("name", ASKED)
def test_the_command_that_is_filed_repeats_the_decomposition(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans().write_csv("loans.csv")
    found = fg.why("loans.csv", **ASKED[name])
    facts, command = filed(found)
    assert facts["fingerprint of the counts"] == found.fingerprint
    assert facts["made at"] == found.created
    same = made_again(command)
    assert [(gap.parts, gap.strata, gap.verdict) for gap in same.gaps] == [
        (gap.parts, gap.strata, gap.verdict) for gap in found.gaps
    ]
    assert {**same.spec} == {**found.spec}


@pytest.mark.parametrize("others", [[], ["race"]])
def test_what_is_filed_of_several_gaps_has_the_parts_of_one(others):
    found = fg.why(loans(), prediction="approved", positive="yes", sensitive=["sex", *others],
                   strata="region")  # fmt: skip
    tables = [each.caption for each in blocks_filed(found) if isinstance(each, Table)]
    assert tables == ["Parts of the gap", "Strata", "Values, with their rows"]


def test_the_command_filed_with_a_comparison_of_models_makes_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows(600).write_csv("models.csv")
    made = fg.compare_models(
        "models.csv", **QUESTION, positive=1, candidate="fairer", margins={"accuracy": 0.02},
        words={"groups": {"sex": {"F": "women", "M": "men"}}},
    )  # fmt: skip
    facts, command = filed(made)
    assert facts["fingerprint of the counts"] == made.data.fingerprint
    assert facts["source"] == "models.csv"
    assert made_again(command).to_dict()["candidates"] == made.to_dict()["candidates"]


def test_the_command_filed_with_a_monitor_makes_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    history = fg.History("history")
    for name, counts in days(12, 99, 0.4).items():
        history.add(name, counts)
    facts, command = filed(fg.monitor(history, asked(RATIO)))
    assert facts["history"] == "history"
    assert facts["made with"].startswith("fairgauge ")
    assert command == "fairgauge monitor status history --at 2026-01-12"
    _, command = filed(fg.monitor(days(3, 9, 0.4), asked(RATIO)))  # counts at hand have no name
    assert command == "fairgauge monitor status HISTORY --at 2026-01-03"


PRESET = "eu-pay-transparency"


def pay(seed=4, rows=900):
    random = np.random.default_rng(seed)
    job = random.choice(["Engineer", "Sales", "Support"], rows)
    sex = random.choice(["F", "M"], rows)
    base = np.where(job == "Engineer", 60_000, np.where(job == "Sales", 50_000, 40_000))
    lower = np.where((sex == "F") & (job == "Sales"), 0.8, 1.0)
    amount = base * lower * np.exp(random.normal(0, 0.1, rows))
    return pl.DataFrame({"sex": sex, "job": job, "pay": amount.round(2)})


def audited(data, **more):
    asked = {"label": "pay", "sensitive": "sex", "reference": {"sex": "M"}, "preset": PRESET}
    return fg.audit(data, **(asked | more))


def published(report):
    blocks = report_document(report, full=True).to_publish
    return {
        each.caption: each
        for each in blocks
        if isinstance(each, Table) and each.caption.startswith("Gap")
    }


def texts(table):
    return [[cell.text for cell in row] for row in table.rows]


@pytest.mark.parametrize("seed", range(4))
def test_a_category_counts_from_five_per_cent_on(seed):
    data = pay(seed)
    table = published(audited(data, strata="job"))["Gap of F in average pay, by job"]
    means = data.group_by("job", "sex").agg(pl.col("pay").mean(), n=pl.len())
    by_side = {(job, sex): (mean, n) for job, sex, mean, n in means.iter_rows()}
    assert len(table.rows) == 3
    for job, n_f, n_m, mean_f, mean_m, gap, reached in texts(table):
        (female, count_f), (male, count_m) = by_side[job, "F"], by_side[job, "M"]
        share = 1 - female / male
        assert (n_f, n_m) == (str(count_f), str(count_m))
        assert (mean_f, mean_m) == (f"{female:,.0f}", f"{male:,.0f}")
        rare = abs(share) < 0.001  # which has two digits
        assert gap.replace("−", "-") == (f"{100 * share:.2g}%" if rare else f"{share:.1%}")
        assert reached == ("yes" if abs(share) >= 0.05 else "no")


def test_a_ratio_of_exactly_the_limit_counts():
    def side(sex, job, amount):
        return [{"sex": sex, "job": job, "pay": amount + i % 2} for i in range(60)]

    rows = [*side("F", "a", 94.5), *side("M", "a", 99.5), *side("F", "b", 94.53),
            *side("M", "b", 99.5)]  # fmt: skip
    table = published(audited(pl.DataFrame(rows), strata="job"))["Gap of F in average pay, by job"]
    assert [row[3:] for row in texts(table)] == [
        ["95.00", "100.0", "5.0%", "yes"], ["95.03", "100.0", "4.97%", "no"],
    ]  # fmt: skip


def test_a_category_of_one_sex_has_no_gap():
    data = pay().filter((pl.col("job") != "Support") | (pl.col("sex") == "F"))
    table = published(audited(data, strata="job"))["Gap of F in average pay, by job"]
    last = texts(table)[-1]
    assert last[0] == "Support"
    assert last[-2:] == ["-", "-"]


def test_the_gaps_of_everybody_are_published_without_categories_too():
    data = pay()
    report = audited(data)
    (table,) = published(report).values()
    expected = [
        1 - how(data.filter(sex="F")["pay"]) / how(data.filter(sex="M")["pay"])
        for how in (pl.Series.mean, pl.Series.median)
    ]
    assert [row[0] for row in texts(table)] == ["average pay", "median pay"]
    assert [row[-1] for row in texts(table)] == [f"{share:.1%}" for share in expected]
    steps = " ".join(map(str, report.brief().steps))
    assert ": name the column of the categories that the preset looks at" in steps


def test_a_gap_without_an_interval_states_the_reason():
    """A bonus of 0 within the interval of a median leaves the ratio without one."""
    bonus = [0.0] * 199 + [400.0 + i for i in range(201)] + [500.0 + i for i in range(400)]
    rows = {"sex": ["F"] * 400 + ["M"] * 400, "pay": bonus}
    (table,) = published(audited(rows, preset="eu-pay-components")).values()
    assert "no confidence interval: " in " ".join(str(cell) for cell in table.rows[1])


def test_each_group_has_one_table_of_all_categories():
    data = pay(rows=1_500)
    third = pl.Series(np.random.default_rng(1).random(len(data)) < 0.2)
    data = data.with_columns(sex=pl.when(third).then(pl.lit("X")).otherwise("sex"))
    found = published(audited(data, strata="job"))
    captions = [(f"Gap of {g}", f"Gap of {g} in average pay, by job") for g in "FX"]
    assert sorted(found) == sorted(itertools.chain(*captions))


@pytest.mark.parametrize("reference", [None, "others", "largest"])
def test_the_group_that_the_text_compares_with_is_to_be_named(reference):
    with pytest.raises(fg.SpecError, match="compares with men: name their group"):
        audited(pay(), reference=reference)


def test_an_average_and_a_median_of_opposite_directions_are_both_in_the_headline():
    men = [3000.0 + i % 90 for i in range(800)] + [7000.0 + i % 90 for i in range(200)]
    rows = {"sex": ["woman"] * 1000 + ["man"] * 1000,
            "pay": [3300.0 + i % 90 for i in range(1000)] + men}  # fmt: skip
    report = audited(rows, reference={"sex": "man"})
    assert str(report.brief().headline) == (
        "Average pay is lower for workers with sex woman than for workers with sex man, but "
        "median pay is lower for workers with sex man than for workers with sex woman"
    )
    assert "Median von pay" in render(report, "markdown", lang="de").split("\n")[0]


@pytest.mark.parametrize("full", [False, True])
def test_the_first_page_has_every_table(full):
    first = report_document(result("local law 144"), full=full)
    captions = [getattr(each, "caption", "") for each in first.exhibits]
    assert captions[-3:] == ["Groups of sex", "Groups of race", "Groups of sex*race"]
    assert "3 tables to publish" in render(result("local law 144"), "text")  # without exhibits
