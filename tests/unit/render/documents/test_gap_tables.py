"""Tables to publish of pay gaps: of everybody and by category, from 5 per cent on or below."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import fairgauge as fg
from fairgauge.render.document import document as report_document
from fairgauge.render.formats import render

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
    return {table.caption: table for table in report_document(report, full=True).to_publish}


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

    rows = [*side("F", "a", 94.5), *side("M", "a", 99.5), *side("F", "b", 96), *side("M", "b", 99)]
    table = tables(audited(pl.DataFrame(rows), strata="job"))["Gap of F in average pay, by job"]
    assert [(row[0], row[-1]) for row in texts(table)] == [("a", "yes"), ("b", "no")]


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
    mean, median = (
        data.group_by("sex").agg(how(pl.col("pay"))) for how in (pl.Expr.mean, pl.Expr.median)
    )
    expected = [
        1 - dict(each.iter_rows())["F"] / dict(each.iter_rows())["M"] for each in (mean, median)
    ]
    assert [row[0] for row in texts(table)] == ["average pay", "median pay"]
    assert [row[-1] for row in texts(table)] == [f"{share:.1%}" for share in expected]
    steps = " ".join(render(report, "text", full=True).split())
    assert ": name the column of the categories that the preset looks at" in steps


def test_categories_stand_on_the_screen_and_in_every_document():
    report = audited(pay(), strata="job")
    for kind, more in (
        ("text", {"full": False}),
        ("text", {"full": True}),
        ("html", {}),
        ("markdown", {}),
    ):
        assert "Gap of F in average pay, by job" in render(report, kind, **more)
    text = render(report, "text", full=True)
    assert "nobody stated" not in text
    assert ": name the column of the categories" not in text


@pytest.mark.parametrize("sexes", ["FM", "FMX"])
def test_each_group_has_one_table_of_all_categories(sexes):
    data = pay(rows=1_500)
    third = pl.Series(np.random.default_rng(1).random(len(data)) < 0.2)
    if "X" in sexes:
        data = data.with_columns(sex=pl.when(third).then(pl.lit("X")).otherwise("sex"))
    report = audited(data, strata="job", reference="others")
    found = tables(report)
    groups = ["F"] if sexes == "FM" else list(sexes)  # of two groups one mirrors the other
    assert sorted(found) == sorted(
        [f"Gap of {g}" for g in groups] + [f"Gap of {g} in average pay, by job" for g in groups]
    )
    assert all(len(found[f"Gap of {g} in average pay, by job"].rows) == 3 for g in groups)
    steps = [str(step) for step in report.brief().steps]
    assert any(": name the group that the preset compares with" in step for step in steps)
    named = audited(data, strata="job").brief().steps
    assert not any(": name the group" in str(step) for step in named)
