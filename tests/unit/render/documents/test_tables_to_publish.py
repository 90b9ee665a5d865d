"""Tables to publish: of pay gaps by category, of selected groups, and on the first page."""

import itertools

import numpy as np
import polars as pl
import pytest
from tests.every_result import result

import fairgauge as fg
from fairgauge.render import render
from fairgauge.render._document_tree import Table
from fairgauge.render.document import document as report_document

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


def tables(report):
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
    table = tables(audited(data, strata="job"))["Gap of F in average pay, by job"]
    means = data.group_by("job", "sex").agg(pl.col("pay").mean(), n=pl.len())
    by_side = {(job, sex): (mean, n) for job, sex, mean, n in means.iter_rows()}
    assert len(table.rows) == 3
    for job, n_f, n_m, mean_f, mean_m, gap, reached in texts(table):
        (female, count_f), (male, count_m) = by_side[job, "F"], by_side[job, "M"]
        share = 1 - female / male
        assert (n_f, n_m) == (str(count_f), str(count_m))
        assert (mean_f, mean_m) == (f"{female:,.0f}", f"{male:,.0f}")
        assert gap.replace("−", "-") == f"{share:.1%}".replace("-0.0%", "0.0%")
        assert reached == ("yes" if abs(share) >= 0.05 else "no")


def test_a_ratio_of_exactly_the_limit_counts():
    def side(sex, job, amount):
        return [{"sex": sex, "job": job, "pay": amount + i % 2} for i in range(60)]

    rows = [*side("F", "a", 94.5), *side("M", "a", 99.5), *side("F", "b", 94.53),
            *side("M", "b", 99.5)]  # fmt: skip
    table = tables(audited(pl.DataFrame(rows), strata="job"))["Gap of F in average pay, by job"]
    assert [row[3:] for row in texts(table)] == [
        ["95.00", "100.0", "5.0%", "yes"], ["95.03", "100.0", "4.97%", "no"],
    ]  # fmt: skip


def test_a_category_of_one_sex_has_no_gap():
    data = pay().filter((pl.col("job") != "Support") | (pl.col("sex") == "F"))
    table = tables(audited(data, strata="job"))["Gap of F in average pay, by job"]
    last = texts(table)[-1]
    assert last[0] == "Support"
    assert last[-2:] == ["-", "-"]


def test_the_gaps_of_everybody_are_published_without_categories_too():
    data = pay()
    report = audited(data)
    (table,) = tables(report).values()
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
    (table,) = tables(audited(rows, preset="eu-pay-components")).values()
    assert "no confidence interval: " in " ".join(str(cell) for cell in table.rows[1])


def test_each_group_has_one_table_of_all_categories():
    data = pay(rows=1_500)
    third = pl.Series(np.random.default_rng(1).random(len(data)) < 0.2)
    data = data.with_columns(sex=pl.when(third).then(pl.lit("X")).otherwise("sex"))
    found = tables(audited(data, strata="job"))
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
