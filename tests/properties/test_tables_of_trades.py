"""Tables of other trades: no pass before a doubt is closed, the right number after, and no alarm.

Each kind makes a table with what it is about, or a clean one beside it, with columns of ordinary
shapes that nobody asks for: losses, sorted numbers, a permutation, groups of equal size.
"""

from dataclasses import astuple
from itertools import product

import numpy as np
import polars as pl
import pytest
from polars import col
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.enums import Outcome
from fairgauge.render import render

SEEDS = range(60 if EVERY_CASE else 4)
TOP = "top_selection_ratio(percent=10)"
AMOUNTS = {
    "income": lambda rng, n: rng.lognormal(10, 0.6, n).round(),
    "losses": lambda rng, n: rng.normal(2_000, 4_000, n).round(),
    "degrees": lambda rng, n: rng.normal(8, 8, n).round(),
    "change": lambda rng, n: rng.integers(-3, 4, n),
    "rating": lambda rng, n: rng.integers(-2, 3, n),
    "balance": lambda rng, n: np.where(rng.random(n) < 0.1, -1, 1) * rng.lognormal(5, 1, n),
    "share": lambda rng, n: rng.beta(2, 5, n),
}
SCORES = {
    "normal": lambda rng, n: rng.normal(50, 12, n).round().clip(0, 100),
    "stars": lambda rng, n: rng.integers(1, 6, n),
    "points": lambda rng, n: rng.binomial(100, 0.6, n),
    "percent": lambda rng, n: rng.integers(1, 101, n),
}


def ratio(of_b, of_a):
    return float(of_b) / float(of_a)


def drawn(rng, n, p=0.4):
    return (rng.random(n) < p) * 1


def groups(rng, n):
    return np.resize([*"ab"], n) if rng.random() < 0.3 else rng.choice([*"ab"], n)


def means(rows, value, weight=None):
    """Return the mean of a column in group b, divided by that in a."""
    of = pl.lit(1) if weight is None else col(weight)
    by = rows.group_by("g").agg((col(value) * of).sum() / (of * col(value).is_not_null()).sum())
    return ratio(*(by.filter(g=each)[value][0] for each in "ba"))


def people(rng, planted):
    """Incidents of pupils: the rows of one are alike, under any name and in any order."""
    each = rng.integers(1, 7, 700) if planted else np.ones(1_500, dtype=int)
    who, harm = np.repeat(np.arange(len(each)), each), rng.beta(0.5, 1, len(each))
    rows = pl.DataFrame({"g": groups(rng, len(each))[who], "y": drawn(rng, len(who), harm[who])})
    rows = rows.with_columns(pl.Series("who", rng.permutation(9 * len(each))[who]))
    by = rows.group_by("who").agg(col("g").first(), col("y").max())
    asked = {"prediction": "y", "positive": 1, "favourable": "negative"}
    rule, code = "selection_rate.ratio <= 3", "rows_that_repeat_people"
    return rows, asked, rule, code, {"person": "who"}, means(by, "y")


def absence(rng, planted):
    """Those people, counted by whether an event is absent at least once."""
    rows, asked, *_, truth = people(rng, planted=True)
    asked |= {"person": "who", "positive": int(not planted), "favourable": "positive"}
    rule, code = "selection_rate.ratio >= 0.2", "unfavourable_positive"
    return rows, asked, rule, code, {"positive": 1, "favourable": "negative"}, truth


def speakers(rng, planted):
    """A few people with many rows each, sorted; clean, a name that many others share."""
    several = 24 if planted else 200
    who = np.repeat(np.arange(several), rng.integers(60, 90, several) if planted else 8)
    own = rng.normal(0, 1, several)[who] if planted else 0
    right = (rng.random(len(who)) < 1 / (1 + np.exp(-1 - own))) * 1
    of_who = np.resize([*"ab"], several) if planted else rng.choice([*"ab"], len(who))
    rows = pl.DataFrame({"g": of_who[who] if planted else of_who, "y": right, "voice": who})
    asked = {"prediction": "y", "positive": 1, "favourable": "positive"}
    closed = {"cluster": "voice"}
    rule = "selection_rate.ratio >= 0.3"
    return rows, asked, rule, "rows_that_repeat_people", closed, means(rows, "y")


def places(rng, planted):
    """Places, of which the first is the best; clean, scores, and an order that nobody asks for."""
    n = int(rng.integers(400, 1_200))
    g, best = groups(rng, n), rng.permutation(n) + 1
    name = [*SCORES][rng.integers(len(SCORES))]
    rows = pl.DataFrame({"g": g, "s": best if planted else SCORES[name](rng, n), "order": best})
    top = (best <= np.ceil(n / 10)) * 1
    most = 1_200 if planted else 6 if name == "stars" else 100
    asked = {"score": "s", "metrics": TOP, "score_range": (0, most)}
    truth = means(rows.with_columns(pl.Series("top", top)), "top")
    return rows, asked, f"{TOP} >= 0.1", "places_as_scores", {"favourable": "lower"}, truth


def lists(rng, planted):
    """Lists of queries, in blocks; clean, as many rows without a ranking, or in one list."""
    sizes = rng.integers(10, 25, 60)
    query = np.repeat(rng.permutation(60), sizes)
    rows = pl.DataFrame({"g": groups(rng, len(query)), "query": query})
    rows = rows.with_columns(pl.Series("s", rng.normal(0, 1, len(query)) + 3 * (query % 7)))
    asked = {"score": "s", "metrics": TOP, "score_range": (-10, 30)}
    if not planted and rng.random() < 0.5:
        rows = rows.drop("query")
    elif not planted:
        asked = {"prediction": "s", "positive": fg.above(9)}
    place = col("s").rank("ordinal", descending=True).over("query")
    top = (place <= (pl.len().over("query") / 10).ceil()) * 1
    truth = means(rows.with_columns(top=top), "top") if planted else 1
    rule = f"{TOP} >= 0.1" if "metrics" in asked else "selection_rate.ratio >= 0.1"
    return rows, asked, rule, "rows_of_lists", {"list": "query"}, truth


def codes(rng, planted):
    """Amounts with codes, averaged, cut or chosen by a condition; clean, those of any scale."""
    n, use = 2_000, rng.integers(3)
    name = "income" if planted else [*AMOUNTS][rng.integers(len(AMOUNTS))]
    held = [[-2], [-3, -97], [-66], [-998, -1], [-333], [-500], [-1, -9]][rng.integers(7)]
    x, coded = AMOUNTS[name](rng, n), (rng.random(n) < 0.05) & planted
    rows = pl.DataFrame({"g": groups(rng, n), "y": drawn(rng, n),
                         name: np.where(coded, rng.choice(held, n), x)})  # fmt: skip
    known = rows.filter(~pl.Series(coded))
    decided = {"prediction": "y", "positive": 1, "favourable": "positive"}
    asked, rule, truth = decided, "selection_rate.ratio >= 0.5", "y"
    if use == 0:
        asked = {"label": name, "task": "regression", "favourable": "higher"}
        rule, truth = "mean_label.ratio >= 0.3" if planted else (), name
    elif use == 1:
        above = pl.when(col(name) > 22_000).then(pl.lit("b")).otherwise(pl.lit("a"))
        known = known.with_columns(g=above)
        asked = decided | {"sensitive": fg.cut(name, [22_000 if planted else 0])}
        asked |= {"reference": {name: "(-inf, 22000]"} if planted else "others"}
    else:
        known, asked = known.filter(col(name) < 50_000), decided | {"where": f"{name} < 50000"}
    closed = {"recode": {name: {"unknown": held}}}
    return rows, asked, rule, "coded_numbers", closed, means(known, truth) if planted else 1


def ages(rng, planted):
    """Ages in bands, of which -2 is in none."""
    n = 2_000
    age, code = rng.integers(16, 90, n), int(rng.choice([-1, -2, -9, -88]))
    held = np.where((rng.random(n) < 0.05) & planted, code, age)
    rows = pl.DataFrame({"age": held, "y": drawn(rng, n)})
    known = rows.filter(col("age") >= 0).with_columns(
        g=pl.when(col("age") <= 40).then(pl.lit("a")).otherwise(pl.lit("b"))
    )
    asked = {"prediction": "y", "positive": 1, "favourable": "positive"}
    asked |= {"sensitive": fg.cut("age", [40]), "reference": {"age": "(-inf, 40]"}}
    closed = {"recode": {"age": {"unknown": [code]}}}
    return rows, asked, "selection_rate.ratio >= 0.5", "coded_numbers", closed, means(known, "y")


def subtotals(rng, planted):
    """Published counts, with a group that holds two others; clean, of any sizes, also of one."""
    names = [*"abcdef"][: int(rng.integers(3, 7))]
    n = rng.integers(*((2_000, 90_000) if rng.random() < 0.7 else (9_000, 9_001)), len(names))
    k = rng.binomial(n, rng.uniform(0.05, 0.15, len(names)))
    if planted:
        names, n, k = [*names, "both"], np.append(n, n[1] + n[2]), np.append(k, k[1] + k[2])
        unit = rng.choice([1, 1, 10])  # what published numbers are rounded to
        k, n = (unit * np.round(each / unit).astype(int) for each in (k, n))
    rows = pl.DataFrame({"g": names * 2, "y": [1] * len(names) + [0] * len(names),
                         "n": [*k, *(n - k)]})  # fmt: skip
    asked = {"label": "y", "positive": 1, "favourable": "negative", "count": "n"}
    closed = {"where": "g != both"}
    rule = "base_rate.ratio <= 9"
    return rows, asked, rule, "groups_that_overlap", closed, ratio(k[1] / n[1], k[0] / n[0])


def breakdowns(rng, planted):
    """Published counts by sex, by age and perhaps by region in one column; clean, by one alone."""
    people, harm = int(rng.integers(5_000, 60_000)), rng.uniform(0.05, 0.3)
    y, groups_of = drawn(rng, people, harm), [[*"ab"], [*"cde"], [*"fg"]]
    held = []
    for names in groups_of[: int(rng.integers(2, 4)) if planted else 1]:
        part = rng.choice(len(names), people, p=rng.dirichlet([5] * len(names)))
        held += [(g, ((part == i) & (y == k)).sum(), k)
                 for i, g in enumerate(names) for k in (0, 1)]  # fmt: skip
    rows = pl.DataFrame(held, ["g", "n", "y"], orient="row")
    asked = {"label": "y", "positive": 1, "favourable": "negative", "count": "n"}
    rule, closed = "base_rate.ratio <= 9", {"where": "g = a or b"}
    return rows, asked, rule, "groups_that_overlap", closed, means(rows, "y", "n")


def percentages(rng, planted):
    """Whole percentages named as successes, also of few rows; clean, few events of many cases."""
    several = int(rng.choice([2, 4, 40])) if planted else 40
    n = rng.integers(200, 9_000, several)
    while planted and several < 40 and n.max() < 4 * n.min():  # else they come to nearly the same
        n = rng.integers(200, 9_000, several)
    share = rng.integers(20, 60, several) if planted else rng.binomial(n, 0.01) / n
    share = share if several > 4 else np.where(n > np.median(n), *np.sort(share)[[0, -1]])
    rows = pl.DataFrame({"g": [*"ab"] * (several // 2), "n": n,
                         "k": share if planted else share * n})  # fmt: skip
    rows = rows.with_columns(col("k").round().cast(int))
    rows = rows.with_columns(held=(col("k") * col("n") / 100).round().cast(int))
    asked = {"successes": "k", "count": "n", "favourable": "negative"}
    truth = means(rows.with_columns(share=col("held") / col("n")), "share", "n")
    rule, closed = "base_rate.ratio <= 9", {"successes": "held"}
    return rows, asked, rule, "rates_with_counts", closed, truth


def rates(rng, planted):
    """Rates of schools with their pupils, or how many; clean, ratings and pay with counts.

    Rates that are whole numbers stand beside the names of their schools.
    """
    asked = {"label": "rate", "task": "regression", "count": "n", "favourable": "lower"}
    rule, closed = "mean_label.ratio <= 9", {"label": None, "task": None, "successes": "held",
        "favourable": "negative", "rules": "base_rate.ratio <= 9"}  # fmt: skip
    if not planted:
        pay, stars = range(18_000, 90_000, 9_000), range(1, int(rng.integers(4, 12)))
        steps = pay if rng.random() < 0.5 else stars
        rows = pl.DataFrame([(g, s) for g in "ab" for s in steps], ["g", "rate"], orient="row")
        rows = rows.with_columns(n=pl.Series(rng.integers(3, 2_000, len(rows))))
        return rows, asked, rule, "rates_with_counts", closed, 1
    n, per = rng.integers(20, 900, 60), rng.choice([1, 100, 1_000])
    held = rng.binomial(n, rng.uniform(0.05, 0.15))
    whole = per > 1 and rng.random() < 0.5
    rate = (per * held / n).round(3 if per == 1 else int(not whole))
    rows = pl.DataFrame({"g": [*"ab"] * 30, "n": n, "held": held, "rate": rate})
    if whole:
        rows = rows.with_columns(pl.Series("school", [f"School {i}" for i in range(60)]))
        rows = rows.cast({"rate": pl.Int64})
    of_cases = rows.with_columns(share=col("held") / col("n"))
    if rng.random() < 0.5:
        asked |= {"label": "held"}
    return rows, asked, rule, "rates_with_counts", closed, means(of_cases, "share", "n")


def units(rng, planted):
    """Successes and trials of places in several months; clean, each once."""
    place = np.repeat(np.arange(80), rng.integers(2, 9, 80) if planted else 1)
    n, own = rng.integers(5, 900, len(place)), rng.gamma(4, 0.02, 80)
    rows = pl.DataFrame({"g": np.resize([*"ab"], 80)[place], "n": n, "place": place * 7 + 60_000})
    rows = rows.with_columns(pl.Series("k", rng.binomial(n, own[place])))
    asked = {"successes": "k", "count": "n", "favourable": "negative"}
    truth = means(rows.with_columns(share=col("k") / col("n")), "share", "n")
    rule, code = "base_rate.ratio <= 9", "rows_that_repeat_people"
    return rows, asked, rule, code, {"cluster": "place"}, truth


def exposure(rng, planted):
    """Claims with the time insured, fouls with games; clean, events with sampling weights."""
    n, often = 4_000, rng.choice([0.4, 3, 20])
    at_risk = [rng.uniform(0.05, 1, n), rng.integers(1, 37, n)][rng.integers(2)]
    weights = rng.lognormal(0, rng.uniform(0.2, 0.9), n) * rng.choice([1.0, 250.0])
    w = at_risk if planted else weights
    y = rng.poisson(often * (w / w.mean() if planted else 1), n)
    rows = pl.DataFrame({"g": groups(rng, n), "w": w, "y": y, "per": y / w})
    asked = {"label": "y", "task": "regression", "weight": "w", "favourable": "lower"}
    truth = means(rows, "per", "w")
    return rows, asked, "mean_label.ratio <= 9", "exposure_as_weight", {"label": "per"}, truth


KINDS = [people, absence, speakers, places, lists, codes, ages, subtotals, breakdowns, rates,
         percentages, units, exposure]  # fmt: skip


def made(kind, rng, *, planted):
    """Return a table of a kind, its question, and its code, what closes it, and the right ratio."""
    rows, asked, rule, code, closed, truth = kind(rng, planted)
    n = len(rows)
    if "count" not in asked:
        order = rng.integers(0, 3)
        name = [*AMOUNTS][rng.integers(len(AMOUNTS))]
        more = {"loss": AMOUNTS[name](rng, n), "no": rng.permutation(n), "at": np.arange(n),
                "equal": np.resize([*"pqrs"], n),
                "paid": np.sort(rng.lognormal(8, 1, n))}  # fmt: skip
        rows = rows.with_columns(pl.Series(k, v) for k, v in more.items())
        if kind is not lists:
            rows = rows.sort("g" if "g" in rows.columns else "y") if order == 0 else rows
            rows = rows.sample(fraction=1, shuffle=True, seed=1) if order == 1 else rows
    asked = {"sensitive": "g", "reference": {"g": "a"}, "rules": rule} | asked
    return rows, asked, code, closed, truth


def numbers(report):
    return [
        number
        for e in report.estimates
        for number in (e.value, *(astuple(e.interval)[:2] if e.interval else ()), e.p_value)
    ]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_pass_before_a_doubt_is_closed_and_the_right_number_after(kind, seed, tmp_path):
    rows, asked, code, closed, truth = made(kind, np.random.default_rng(seed), planted=True)
    data, form = tmp_path / "rows", ["csv", "parquet", None][seed % 3]
    if form is None:
        data = rows
    else:
        getattr(rows, f"write_{form}")(data := data.with_suffix(f".{form}"))
    doubted = fg.audit(data, **asked)
    codes = {each.code for each in doubted.doubts}
    assert (code in codes, doubted.verdict) == (True, Outcome.INCONCLUSIVE)
    accepted = fg.audit(data, **asked, accept=codes)
    assert accepted.verdict is Outcome.PASS
    # Another scan adds amounts in another order of its threads: the last digit may differ.
    assert numbers(accepted) == pytest.approx(numbers(doubted), rel=1e-9)
    if kind not in (places, lists):  # which counts do not hold
        assert fg.audit(fg.count(data, **asked)).doubts == doubted.doubts
    answered = fg.audit(data, **asked | closed)
    assert code not in {each.code for each in answered.doubts}
    of = [e for e in answered.estimates if e.metric == answered.verdicts[0].metric]
    (estimate,) = (e for e in of if e.group in ("b", "(40, inf)", "(22000, inf)"))
    assert estimate.value == pytest.approx(truth)


@pytest.mark.parametrize(("rows_of_each", "verdict"), [(1, "inconclusive"), (3, "pass")])
def test_one_row_of_a_group_holds_what_many_cases_come_to(rows_of_each, verdict):
    """A median of 1,000 waits had an interval of one number, and passed; a scale of pay may."""
    days = [640, 741, 630, 720, 650, 730]
    rows = pl.DataFrame({"g": [*"ab"] * rows_of_each, "n": 1000, "wait": days[: 2 * rows_of_each]})
    asked = {"label": "wait", "count": "n", "task": "regression", "favourable": "lower"}
    rule = {"reference": {"g": "a"}, "rules": "mean_label.ratio <= 1.2"}
    assert str(fg.audit(rows, sensitive="g", **asked, **rule).verdict) == verdict


@pytest.mark.parametrize("tenth", range(10))
def test_clean_tables_of_ordinary_shapes_are_not_doubted(tenth):
    """A check that cries wolf is switched off."""
    doubted = {}
    for seed in range(22 * tenth, 22 * tenth + 22):
        kind = KINDS[seed % len(KINDS)]
        rows, asked, *_ = made(kind, np.random.default_rng(seed), planted=False)
        if found := fg.audit(rows, **asked).doubts:
            doubted[kind.__name__, seed] = found
    assert not doubted


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("harm", ["arrests", "denied", "terminated"])
def test_published_counts_of_a_harm_or_of_groups_that_overlap_do_not_pass(harm, seed):
    for planted in (True, False):
        rows, *_, truth = subtotals(np.random.default_rng(seed), planted)
        counts = rows.group_by("g", maintain_order=True).agg(
            col("n").sum().alias("people"), col("n").filter(y=1).sum().alias(harm)
        )
        columns = {"n": "people", "selected": harm}
        above = {"columns": columns, "reference": "a", "rules": "selection_rate.ratio >= 0.01"}
        below = above | {"favourable": "negative", "rules": "selection_rate.ratio <= 9"}
        found, doubted = (fg.check(counts.write_csv(), **each) for each in (below, above))
        of = {each.name: each for each in found.tables[0].groups}
        assert of["b"].ratio == pytest.approx(truth)
        assert ("groups_that_overlap" in repr(found.tables)) is planted
        assert doubted.verdict is not Outcome.PASS
        assert (found.verdict is Outcome.PASS) is not planted


@pytest.mark.parametrize("total", [False, True])
def test_a_published_table_of_two_breakdowns_or_years_is_advice_and_no_error(total):
    """The publisher made no error; what was pasted into one table is read as one."""
    rows = ["Under 25,1210,607", "25+,807,391", "Female,913,452", "Male,1104,546"]
    rows += ["Total,2017,998"] * total
    years = [*rows[:2], "Under 25,1190,640", "25+,850,402"]
    unknown = [*rows[:3], "Male,1074,533", "Unknown,30,13", *rows[4:]]
    lacking = [*rows[:3], "Male,1074,533", *rows[4:]]
    of_two = "several_tables" if total else "groups_that_overlap"
    tables = {of_two: [rows, unknown], "several_tables": [years, *[lacking] * total]}
    for table, code in ((table, code) for code, of in tables.items() for table in of):
        text = "\n".join(["group,n,passed", *table])
        found = fg.check(
            text, columns={"n": "n", "selected": "passed"}, rules="selection_rate.ratio >= 0.1"
        )
        assert code in {str(fault.code) for fault in found.tables[0].faults}
        assert (found.errors, found.verdict) == (0, Outcome.INCONCLUSIVE)
        assert code == "groups_that_overlap" or " 2 " in str(found)


def test_rounded_counts_by_sex_by_age_and_by_region_are_seen():
    """Of sums that agree but for rounding, a third one that does is no coincidence."""
    held = {"Male": (5200, 2210), "Female": (4800, 1990), "North": (6010, 2500)}
    held |= {"South": (1980, 850), "West": (2000, 840), "18-30": (3110, 1300)}
    held |= {"31-50": (4510, 1910), "51+": (2390, 990)}
    rows = pl.DataFrame([(g, *of) for g, of in held.items()], ["g", "n", "k"], orient="row")
    asked = {"successes": "k", "count": "n", "sensitive": "g", "favourable": "positive"}
    found = fg.audit(rows, **asked, rules="base_rate.ratio >= 0.5")
    assert "groups_that_overlap" in {each.code for each in found.doubts}
    assert found.verdict is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("seed", SEEDS)
def test_whole_rates_per_thousand_are_no_numbers_of_cases(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(2_000, 90_000, 40)
    rows = pl.DataFrame({"g": [*"ab"] * 20, "n": n, "rate": rng.normal(6, 1.5, 40).clip(0).round()})
    rows = rows.with_columns(few=pl.Series(rng.binomial(n, 1e-4)))
    asked = {
        "count": "n",
        "sensitive": "g",
        "favourable": "negative",
        "rules": "base_rate.ratio <= 9",
    }
    for column in ("rate", "few"):
        codes = {each.code for each in fg.audit(rows, successes=column, **asked).doubts}
        assert ("rates_with_counts" in codes) is (column == "rate")


@pytest.mark.parametrize("total", ["All", "Ages 5-21"])
@pytest.mark.parametrize("form", ["successes", "outcomes"])
def test_a_total_in_a_column_that_nobody_asks_for_is_a_doubt(form, total):
    """Of years with the rows of all years each person counted twice, in intervals too narrow."""
    rng = np.random.default_rng(len(total))
    rows = pl.DataFrame({"year": np.repeat(["2019", "2020", "2021"], 2), "g": [*"ab"] * 3})
    rows = rows.with_columns(n=pl.Series(rng.integers(400, 900, 6)))
    rows = rows.with_columns(k=pl.Series(rng.binomial(rows["n"], 0.3)))
    asked = {"successes": "k", "count": "n", "sensitive": "g", "favourable": "positive"}
    keys = ["g"]
    if form == "outcomes":
        others = rows.with_columns(n=col("n") - col("k"), y=pl.lit(0))
        rows = pl.concat([rows.with_columns(n=col("k"), y=pl.lit(1)), others]).drop("k")
        asked, keys = asked | {"successes": None, "label": "y", "positive": 1}, ["g", "y"]
    of_all = rows.drop("year").group_by(keys, maintain_order=True).sum()
    planted = pl.concat([rows, of_all.with_columns(year=pl.lit(total)).select(rows.columns)])
    asked["rules"] = "base_rate.ratio >= 0.5"
    found, clean = fg.audit(planted, **asked), fg.audit(rows, **asked)
    assert [each.code for each in found.doubts] == ["groups_that_overlap"]
    assert (found.verdict, clean.verdict) == (Outcome.INCONCLUSIVE, Outcome.PASS)
    closed = fg.audit(planted, **asked, where=f"year != {total}")
    assert not closed.doubts
    assert not clean.doubts
    assert numbers(closed) == numbers(clean)


@pytest.mark.parametrize("several", [2, 3, 4])
@pytest.mark.parametrize("regions", [13, 40])
def test_a_breakdown_of_two_or_three_is_seen_next_to_one_of_many(several, regions):
    """Of so many groups not every sum is tried, but those of two or three that have half of all."""
    rng, people = np.random.default_rng(regions), 60_000
    held = []
    for names in ([*"abcd"][:several], [f"region {i}" for i in range(regions)]):
        part, y = rng.choice(len(names), people), np.arange(people) < people // 5
        held += [(g, (part == i).sum(), (y & (part == i)).sum()) for i, g in enumerate(names)]
    rows = pl.DataFrame(held, ["g", "n", "k"], orient="row")
    asked = {"successes": "k", "count": "n", "sensitive": "g", "favourable": "negative"}
    for table in (rows, rows[several:]):
        found = fg.audit(table, **asked, rules="base_rate.ratio <= 9")
        overlap = "groups_that_overlap" in {each.code for each in found.doubts}
        assert overlap is (table is rows and several < 4)


@pytest.mark.parametrize(("more", "verdict"), [("", "inconclusive"), ("Total,1500,150", "pass")])
def test_a_published_number_that_may_be_a_percentage_does_not_pass(more, verdict):
    """80 of 1000 next to 70 of 500 are unequal shares, or 80% next to 70%; a total shows which."""
    found = fg.check(
        f"group,n,passed\nA,1000,80\nB,500,70\n{more}",
        columns={"n": "n", "selected": "passed"}, rules="selection_rate.ratio >= 0.3",
    )  # fmt: skip
    assert (str(found.verdict), found.errors) == (verdict, 0)
    assert ("--rate" in str(found)) is (verdict != "pass")


@pytest.mark.parametrize(
    "rows", [[(40, 120), (90, 300)], [(78, 1000), (40, 520)], [(12, 250), (30, 400), (15, 150)]]
)
def test_numbers_near_one_share_of_the_cases_are_counts(rows):
    """They were called percentages, as those of two or three groups of any size mostly were."""
    k, n = zip(*rows, strict=True)
    table = pl.DataFrame({"g": [*"abc"][: len(rows)], "n": n, "k": k})
    found = fg.audit(table, successes="k", count="n", sensitive="g", favourable="positive")
    assert not found.doubts


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_count_that_is_withheld_can_be_listed_as_unknown(form, tmp_path):
    """The error of a text among counts advised a recoding, which was refused."""
    rows = pl.DataFrame({"g": [*"abc"], "n": ["500", "400", "low"], "k": ["100", "90", "low"]})
    getattr(rows, f"write_{form}")(data := tmp_path / f"rows.{form}")
    asked = {"successes": "k", "count": "n", "sensitive": "g", "favourable": "positive"}
    recoded = {column: {"unknown": ["low"]} for column in ("n", "k")}
    if form == "csv":
        with pytest.raises(fg.DataError, match=r"--recode 'n = \{unknown"):
            fg.audit(data, **asked)
        assert fg.audit(data, **asked, recode=recoded).data.cases == 900


@pytest.mark.parametrize(
    "written", [["5%", "8%", "9%", "7 %"], ["22 (4%)", "33 (8%)", "27 (9%)", "1,222 (43%)"],
                ["1,222", "1,100", "2,055", "3,001"]]
)  # fmt: skip
def test_numbers_written_for_readers_are_no_classes(written):
    rates = pl.DataFrame({"g": [*"abcd"], "n": [5000, 4000, 3000, 9000], "y": written})
    with pytest.raises(fg.SpecError, match="the rate times the count"):
        fg.audit(rates, label="y", count="n", sensitive="g")
    grades = ["1st class", "2nd class", "3rd class", "2 (b"]
    for names in (grades, ["1 (low)", "2 (mid)", "3 (high)", "2024 001"]):
        grades = rates.with_columns(y=pl.Series(names))
        assert fg.audit(grades, label="y", count="n", sensitive="g").task == "multiclass"


def test_counts_that_are_all_missing_are_refused_in_words():
    table = pl.DataFrame(
        {"g": [*"ab"], "n": [None, None], "k": [1, 2]}, schema_overrides={"n": int}
    )
    with pytest.raises(fg.DataError, match="every count is 0 or missing"):
        fg.audit(table, successes="k", count="n", sensitive="g")


def test_no_total_is_stated_of_rows_that_a_condition_leaves_out():
    rows = [(g, year, reg, 100 + 8 * i) for i, (g, reg) in enumerate(product("ab", "ns"))
            for year in ("2024", "2025")]  # fmt: skip
    of_all = [(g, "All", reg, 2 * n) for g, year, reg, n in rows if year == "2024"]
    table = pl.DataFrame([*rows, *of_all], ["g", "year", "reg", "n"], orient="row")
    table = table.with_columns(k=col("n") // 2)
    asked = {"successes": "k", "count": "n", "sensitive": "g", "favourable": "positive"}
    assert "groups_that_overlap" in {e.code for e in fg.audit(table, **asked).doubts}
    found = fg.audit(table, **asked, where=["reg = n", "year = 2024 or 2025"])
    assert "groups_that_overlap" not in {e.code for e in found.doubts}


def test_a_count_below_a_bound_is_excluded_as_advised(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("g,n,k\na,2800,1200\nb,3000,1300\nc,40,<5\n")
    asked = {"successes": "k", "count": "n", "sensitive": "g", "favourable": "positive"}
    with pytest.raises(fg.DataError, match="--where 'k != <5'"):
        fg.audit(path, **asked)
    found = fg.audit(path, **asked, where="k != <5")
    assert (found.data.used, [e.code for e in found.doubts]) == (5_800, ["groups_left_out"])


def test_counts_of_events_are_no_classes():
    events = pl.DataFrame({"g": [*"ab"] * 60, "y": [0, 1, 2, 3, 5, 4] * 20})
    found = fg.audit(events, label="y", positive=1, favourable="negative", sensitive="g")
    (note,) = (e for e in found.diagnostics if e.code == "undecided_outcomes")
    assert "--positive '>0'" in note.message
    german = " ".join(render(found, "text", lang="de").split())
    assert "wie Anzahlen von Ereignissen, und zählen als nicht positiv" in german
    assert "decision" not in note.message
    fg.audit(events, label="y", positive=fg.above(0), favourable="negative", sensitive="g")


def test_what_is_no_number_of_cases_is_advised_what_works():
    rows = pl.DataFrame({"g": [*"ab"] * 30, "years": [40.5, 50.25] * 30, "events": [45, 40] * 30})
    with pytest.raises(fg.DataError, match="--task regression, with --weight years"):
        fg.audit(rows, successes="events", count="years", sensitive="g")
    per = rows.with_columns(rate=col("events") / col("years"))
    found = fg.audit(per, label="rate", weight="years", task="regression", sensitive="g",
                     reference={"g": "b"})  # fmt: skip
    assert found["mean_label.ratio", "g", "a"].value == pytest.approx(45 / 40.5 / (40 / 50.25))


def test_the_error_of_numbers_next_to_a_count_names_successes():
    rows, *_ = rates(np.random.default_rng(0), planted=True)
    for label in ("held", "rate"):
        with pytest.raises(fg.SpecError, match="--successes COL"):
            fg.audit(rows, label=label, count="n", sensitive="g")
