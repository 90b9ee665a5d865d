"""Protected counts of several sites add up, in any order, and their intervals hold."""

import itertools
import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.needs import EVERY_CASE

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.cube.parts import Part, rounding_noise
from fairgauge.enums import IntervalMethod, Outcome
from fairgauge.errors import CubeError, DataError, DuplicateCountsWarning, SpecError
from fairgauge.render import render
from fairgauge.sharing.protection import protect_counts
from fairgauge.start.records import replace
from fairgauge.stats.arrays import quotient
from fairgauge.stats.contrasts import mover_difference
from fairgauge.stats.intervals import wilson
from fairgauge.stats.rounded_counts import (
    are_disclosive,
    likely_limits,
    limits_of_sums,
    range_of_rounded,
    rounded_randomly,
    rounded_rate_limits,
    rounding_moments,
)

ASKED = {"prediction": "p", "sensitive": "g", "positive": 1, "count": "n"}
Z = 1.959963984540054


def counted(cells, **more):
    """Return the cube of counts by group and decision, ``{(group, decision): n}``."""
    rows = [{"g": g, "p": p, "n": n} for (g, p), n in cells.items()]
    return fg.count(pl.DataFrame(rows), **ASKED | more)


def site(random, rows=100, rates=(0.5, 0.5), groups="ab"):
    """Return the exact counts of a site."""
    cells = {}
    for group, rate in zip(groups, rates, strict=True):
        x = int(random.binomial(rows, rate))
        cells |= {(group, 1): x, (group, 0): rows - x}
    return counted(cells)


def protected(cube, random, min_cell=10, site=""):
    """Return protected counts as `fg.protect` does, whose random numbers are secret."""
    number = f"{random.integers(2**60):x}"
    safe = protect_counts(cube, min_cell, [], random)
    return replace(safe, parts=(Part(site, table=number),))


def of_sites(random, cubes, min_cells=None):
    held = zip(cubes, min_cells or [10] * len(cubes), strict=True)
    return [protected(cube, random, cell) for cube, cell in held]


def added(cubes):
    return sum(cubes[1:], cubes[0])


def by_key(cube):
    """Return the sums of every cell by the names of its values."""
    table = cube.tables[0]
    names = [[*map(str, cube.levels[axis]), None] for axis in table.axes]
    keys = [tuple(n[c] for n, c in zip(names, codes, strict=True)) for codes in table.codes]
    return {
        key: {m: float(each[i]) for m, each in table.sums.items()} for i, key in enumerate(keys)
    }


@pytest.mark.parametrize("seed", range(6 if EVERY_CASE else 3))
def test_ranges_of_mixed_smallest_cells_hold_the_truth(seed):
    random = np.random.default_rng(seed)
    exact = [site(random, int(random.integers(12, 40))) for _ in range(4)]
    cells = random.choice([2, 3, 5, 10], 4).tolist()
    total, true = by_key(added(of_sites(random, exact, cells))), by_key(added(exact))
    for key, sums in total.items():
        n = true.get(key, {"n": 0})["n"]
        assert sums["low"] <= n <= sums["high"]
        assert sums["noise"] >= sum(cell**2 for cell in cells) / 4


def test_somebody_who_knows_two_of_three_sites_learns_what_the_third_one_published():
    """The sum is one of published numbers: its ranges less those of the others are no narrower."""
    random = np.random.default_rng(1)
    parts = of_sites(random, [site(random, 12), site(random, 20), site(random, 13)], [10, 5, 10])
    total, known, last = (
        by_key(added(parts)),
        [by_key(part) for part in parts[:2]],
        by_key(parts[2]),
    )
    for key, sums in total.items():
        others = {m: sum(each[key][m] for each in known) for m in ("rows", "low", "high")}
        assert sums["rows"] - others["rows"] == last[key]["rows"]
        assert sums["low"] - others["low"] == last[key]["low"]
        assert sums["high"] - others["high"] == last[key]["high"]
    table = added(parts).tables[0].sums
    assert not are_disclosive(table["low"], table["high"], 5).any()


def test_a_site_is_a_name():
    with pytest.raises(DataError, match="site is 5; it is a name"):
        fg.protect(site(np.random.default_rng(0)), 10, site=5)


def test_ranges_hold_every_count_and_no_other():
    """Of every pair of counts that may be published as two numbers, the sum is in the range."""
    for first, second in itertools.product((2, 3, 5), repeat=2):
        for one, two in itertools.product((0, first, 2 * first), (0, second, 3 * second)):
            may = [
                [n for n in range(5 * base) if abs(n - value) < base]
                for value, base in ((one, first), (two, second))
            ]
            sums = {a + b for a, b in itertools.product(*may)}
            low = max(one - first + 1, 0) + max(two - second + 1, 0)
            assert (min(sums), max(sums)) == (low, one + two + first + second - 2)


@pytest.mark.parametrize("seed", range(2))
def test_order_and_grouping_of_merges_change_nothing(seed):
    random = np.random.default_rng(seed)
    cells = random.choice([3, 5, 10], 5).tolist()
    groups = ["ab", "ab", "bc", "ac", "ab"]
    exact = [site(random, int(random.integers(20, 90)), groups=g) for g in groups]
    safe = of_sites(random, exact, cells)
    total = added(safe)
    for order in itertools.islice(itertools.permutations(safe), 0, 120, 29):
        a, b, c, d, e = order
        for other in (added(order), (a + b) + (c + (d + e)), ((a + b) + c) + (d + e)):
            assert other.digest == total.digest
            assert other.to_json() == total.to_json()
            assert by_key(other) == by_key(total)


def test_a_sum_is_read_as_a_sum(tmp_path):
    """Its ranges are those of its parts, not of a table that shows the same numbers."""
    random = np.random.default_rng(0)
    total = added(of_sites(random, [site(random) for _ in range(12)]))
    total.save(tmp_path / "all.cube.json")
    again = fg.load(tmp_path / "all.cube.json")
    assert by_key(again) == by_key(total)
    assert again.parts == total.parts
    narrow = [s for s in by_key(again).values() if s["high"] - s["rows"] < 12 * 9]
    assert not narrow


def test_damaged_sums_are_refused(tmp_path):
    random = np.random.default_rng(0)
    total = added(of_sites(random, [site(random) for _ in range(3)]))
    held = {k: v for k, v in json.loads(total.to_json()).items() if k not in ("digest",)}
    found = fg.Cube.from_dict(held | {"digest": digest_of(held)})
    assert found == total
    sums = held["tables"][0]["sums"]
    for change in (
        {"parts": held["parts"][:1]},
        {"parts": [[*p[:1], 0, *p[2:]] for p in held["parts"]]},
        {"parts": [[7, *p[1:]] for p in held["parts"]]},
        {"min_cell": 5},
        {"tables": [held["tables"][0] | {"sums": {k: sums[k] for k in ("rows", "n")}}]},
        {"tables": [held["tables"][0] | {"sums": sums | {"low": sums["high"]}}]},
        {"tables": [held["tables"][0] | {"sums": sums | {"noise": [-1] * len(sums["low"])}}]},
    ):
        with pytest.raises(CubeError, match="not a fairgauge cube"):
            fg.Cube.from_dict(held | change | {"digest": digest_of(held | change)})


def digest_of(held):
    from fairgauge.cube.cube import _digest

    return _digest(held)


def test_a_value_that_a_site_does_not_list_adds_no_noise():
    random = np.random.default_rng(0)
    one, two = of_sites(random, [site(random), site(random, groups="ac")])
    total = by_key(one + two)
    assert {key[0]: sums["noise"] for key, sums in total.items()} == {"a": 50, "b": 25, "c": 25}


def test_rows_that_would_count_twice_are_refused():
    random = np.random.default_rng(0)
    one, two = site(random), site(random)
    north = fg.protect(one, 10, site="North")
    with pytest.raises(CubeError, match="the same protected table"):
        north + north
    with pytest.raises(CubeError, match="the site 'North'"):
        north + fg.protect(two, 10, site="North")
    with pytest.raises(CubeError, match="the site 'North'"):
        (fg.protect(two, 10) + north) + fg.protect(one, 10, site="North")
    with pytest.raises(CubeError, match="rotect the exact one first"):
        north + two
    with pytest.raises(CubeError, match="rotect the exact one first"):
        two + north


def test_tables_of_a_history_are_refused():
    """They hold earlier rows, and their roundings are not independent of earlier ones."""
    random = np.random.default_rng(0)
    one, two = site(random), site(random)
    first, other = fg.protect(one, 10), fg.protect(two, 10)
    later = fg.protect(one + two, 10, [first])
    for pair in ((first, later), (later, first), (other, later)):
        with pytest.raises(CubeError, match="published before"):
            pair[0] + pair[1]
    assert len((first + other).parts) == 2


def test_other_questions_and_edges_are_refused():
    random = np.random.default_rng(0)
    with pytest.raises(CubeError, match="count different things"):
        fg.protect(site(random), 10) + fg.protect(
            fg.count(
                pl.DataFrame({"g": list("ab") * 40, "p": [1, 0, 0, 1] * 20}), label="p",
                sensitive="g", positive=1,
            ),
            10,
        )  # fmt: skip
    ages = pl.DataFrame({"g": [20, 60] * 40, "p": [1, 0, 0, 1] * 20, "n": 1})
    bands = [
        fg.protect(fg.count(ages, **ASKED | {"sensitive": {"g": cut}}), 10) for cut in ([40], [50])
    ]
    with pytest.raises(CubeError, match="count different things"):
        bands[0] + bands[1]


def test_a_sum_is_no_earlier_table_and_is_not_protected_again():
    random = np.random.default_rng(0)
    exact = site(random)
    total = added(of_sites(random, [exact, site(random)]))
    with pytest.raises(CubeError, match="sum of several tables"):
        fg.protect(exact, 10, [total])
    with pytest.raises(CubeError, match="protected already"):
        fg.protect(total, 10)


def test_two_roundings_of_the_same_rows_are_warned_of(recwarn):
    random = np.random.default_rng(3)
    groups = "abcdefgh"
    exact = site(random, 800, [0.5] * 8, groups)
    one, two = of_sites(random, [exact, exact])
    with pytest.warns(DuplicateCountsWarning, match="two roundings of the same ones"):
        one + two
    recwarn.clear()
    assert one.add(two, allow_duplicates=True)
    assert one + protected(site(random, 800, [0.5] * 8, groups), random)
    small = site(random, 30)
    assert added(of_sites(random, [small, site(random, 30), site(random, 30)]))
    assert not recwarn


@pytest.mark.parametrize(
    "counts", [(5, 5), (6, 6), (3, 7), (1, 9), (9, 9), (3, 3, 4), (2, 3, 2, 3), (2, 2, 2, 2, 2, 2)]
)
def test_numbers_that_are_drawn_again_vary_no_more_than_stated(counts):
    """Enumerated: a name is published where a number of it is not 0, so that it has more rows."""
    base, x = 10, len(counts) // 2
    outcomes = list(itertools.product((0, 1), repeat=len(counts)))[1:]
    drawn = np.array(outcomes, dtype=float) * base
    chances = np.prod([[n if up else base - n for n, up in zip(counts, each, strict=True)]
                       for each in outcomes], axis=1)  # fmt: skip
    chances = chances / chances.sum()
    rate = sum(counts[:x]) / sum(counts)
    errors = (1 - rate) * drawn[:, :x].sum(axis=1) - rate * drawn[:, x:].sum(axis=1)
    again = chances @ drawn.sum(axis=1) / sum(counts)  # times as many rows
    true = chances @ errors**2 + (again - 1) * chances @ drawn.sum(axis=1) * rate * (1 - rate)
    noise = rounding_noise(drawn, np.ones_like(drawn, dtype=bool), base)
    sites, stated = 100, 0.0
    for share, cells in (((1 - rate) ** 2, slice(x)), (rate**2, slice(x, None))):
        of = np.array([sites * chances @ noise[:, cells].sum(axis=1)])
        count = np.array([sites * sum(counts[cells]) * again])
        stated += share * rounding_moments(count, of, np.array([1.5 * base]))[0][0] / sites
    assert chances @ errors == pytest.approx(0, abs=1e-9)
    assert true <= stated


def test_what_one_site_alone_lists_is_named():
    random = np.random.default_rng(0)
    north, city, rural = (
        protected(site(random, groups=groups), random, site=name)
        for groups, name in (("ab", "North"), ("ac", "City"), ("ab", "Rural"))
    )
    for total in (north + city + rural, city + (rural + north)):
        report = fg.audit(total)
        [note] = [d for d in report.diagnostics if d.code == "listed_once"]
        assert (note["site"], note["column"], note["values"]) == ("City", "g", ("c",))
        assert "Only City lists c (g)" in " ".join(render(report, "html").split())


def test_without_rounding_limits_are_wilsons():
    x, f = np.array([0.0, 3, 15, 50]), np.array([20.0, 0, 133, 50])
    none = np.zeros(4)
    low, high = rounded_rate_limits(x, f, none, none, none + 10, Z)
    assert np.allclose((low, high), wilson(x, x + f, Z), atol=1e-9)
    sums = (x, f, x, f, x, f, none, none)
    assert np.allclose(limits_of_sums(*sums, none + 10, Z), wilson(x, x + f, Z), atol=1e-9)


def test_one_number_alone_has_the_limits_of_all_tables():
    x, f = np.array([10.0]), np.array([50.0])
    one = np.array([25.0])
    ends = (np.array([1.0]), np.array([41.0]), np.array([19.0]), np.array([59.0]))
    low, high = limits_of_sums(x, f, *ends, one, one, np.array([10.0]), Z)
    assert low == wilson(1, 60, Z)[0]
    assert high == wilson(19, 60, Z)[1]
    two = [2 * each for each in (x, f, *ends, one, one)]
    sums = limits_of_sums(*two, np.array([10.0]), Z)
    assert np.allclose(
        sums, rounded_rate_limits(2 * x, 2 * f, 2 * one, 2 * one, np.array([10.0]), Z)
    )


@pytest.mark.parametrize("bases", [(2,), (10,), (3, 3), (10, 10), (5, 10), (2, 5, 10), (3, 3, 3)])
def test_no_counts_have_more_variance_than_stated(bases):
    noise = np.array([sum(base**2 for base in bases) / 4])
    for counts in itertools.product(*(range(2 * base + 1) for base in bases)):
        true = sum(n % base * (base - n % base) for n, base in zip(counts, bases, strict=True))
        count, base = np.array([float(sum(counts))]), np.array([float(max(bases))])
        assert true <= rounding_moments(count, noise, base)[0][0] + 1e-9


def test_likely_limits_of_the_rows_hold_their_level_exactly():
    """Every outcome of the rounding of four sites, with its probability."""
    base, xs, fs = 10, (3, 5, 8, 1), (5, 5, 2, 14)
    true, missed, counts = sum(xs) / sum(xs + fs), 0.0, np.array(xs + fs)
    for up in itertools.product((0, 1), repeat=8):
        above = counts % base
        p = np.prod(np.where(np.array(up) == 1, above, base - above) / base)
        published = counts - above + base * np.array(up)
        sums = [np.array([float(part.sum())]) for part in (published[:4], published[4:])]
        low, high = likely_limits(*sums, *[np.array([100.0])] * 2, alpha=0.05)
        missed += p * (not low[0] - 1e-12 <= true <= high[0] + 1e-12)
    assert missed <= 0.05


@pytest.mark.parametrize(
    ("n", "p", "sites"), [(8, 0.5, 3), (3, 0.2, 10), (100, 0.02, 10), (10, 0.5, 2), (5, 0.5, 50)]
)
def test_differences_are_covered_at_their_level(n, p, sites):
    random = np.random.default_rng(1)

    def published(counts):
        rounded = np.stack([rounded_randomly(each, 10, random) for each in counts.astype(float)])
        ends = [each.sum(1) for each in range_of_rounded(rounded, 10)]
        return [rounded.sum(1), *ends, np.full(len(rounded), 25.0 * sites)]

    sides = []
    for _ in "ab":
        x = random.binomial(n, p, (3000, sites))
        sums = [*itertools.chain(*zip(published(x), published(n - x), strict=True))]
        low, high = limits_of_sums(*sums, np.full(3000, 10.0), Z)
        assert (low > p).mean() <= 0.045
        assert (high < p).mean() <= 0.045
        sides += [quotient(sums[0], sums[0] + sums[1]), low, high]
    low, high = mover_difference(*sides)
    assert ((low <= 0) & (high >= 0)).mean() >= 0.945


def test_nothing_published_says_nothing():
    none, noise = np.zeros(1), np.array([125.0])
    low, high = rounded_rate_limits(none, none, noise, noise, np.array([10.0]), Z)
    assert (low[0], high[0]) == (0, 1)


def test_an_audit_of_sites_states_what_its_intervals_hold():
    random = np.random.default_rng(5)
    total = added(of_sites(random, [site(random) for _ in range(10)], [5, *[10] * 9]))
    report = fg.audit(total, rules=["selection_rate.ratio >= 0.8"])
    gap = report["selection_rate.difference", "g", "a"]
    assert gap.interval.methods == (
        IntervalMethod.MOVER, IntervalMethod.WILSON, IntervalMethod.ROUNDING
    )  # fmt: skip
    wide = [each.high - each.low for each in (gap.interval, gap.bounds)]
    assert wide[0] < 0.15 < wide[1] < 0.25
    assert "of the rows themselves, with a probability of 99.9%" in gap.says
    assert (gap.p_value < 0.05) == (not gap.interval.low <= 0 <= gap.interval.high)
    assert report.verdict is Outcome.PASS
    for limit in (0.7, 0.97):
        rule = fg.rule("selection_rate.ratio", at_least=limit, decide="point")
        [verdict] = fg.audit(total, rules=[rule]).verdicts
        open_ = limit > 0.8
        assert verdict.outcome is (Outcome.INCONCLUSIVE if open_ else Outcome.PASS)
        assert ("is likely (99.9%)" in verdict.says) is open_
    for shape in ("text", "html", "markdown"):
        text = " ".join(render(report, shape).split())
        assert "counts of 10 sites, rounded to 5 or 10" in text
        assert "not checked, that no row is at two sites" in text
    note = next(d for d in json.loads(report.to_json())["diagnostics"] if d["code"] == "protected")
    assert note["parameters"]["sites"] == 10


def test_rows_without_a_group_may_change_a_verdict_as_far_as_their_number_is_likely():
    """Their numbers of ten sites are known far better than by the ends of all ranges."""
    random = np.random.default_rng(3)

    def sites(lacking):
        more = {(None, p): lacking for p in (0, 1)}
        for _ in range(10):
            x = random.binomial(100, 0.5, 2).tolist()
            known = {(g, p): x[i] if p else 100 - x[i] for i, g in enumerate("ab") for p in (0, 1)}
            yield protected(counted(known | more), random)

    rule = "selection_rate.ratio >= 0.7"
    few, many = (fg.audit(added([*sites(n)]), rules=[rule]) for n in (2, 20))
    assert {v.outcome for v in few.verdicts} == {Outcome.PASS}
    assert {v.outcome for v in many.verdicts} == {Outcome.INCONCLUSIVE}
    [(reason, rows)] = {(v.reason.code, v.reason["rows"]) for v in many.verdicts}
    assert str(reason) == "missing_groups"
    assert 400 < rows < 400 + 20 * 9
    note = next(d for d in many.diagnostics if d.code == "missing_groups")
    assert "but for one time in 1,000" in note.message


def test_commands_take_counts_of_sites_or_refuse_them_in_words(tmp_path):
    """From exact counts to an audit, in the terminal; quiet, and in German."""

    def run(*asked, code=0):
        done = CliRunner().invoke(main, [*map(str, asked)])
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    random = np.random.default_rng(2)
    safe = []
    for name in ("north", "city", "rural"):
        path, to = tmp_path / f"{name}.cube.json", tmp_path / f"{name}-safe.cube.json"
        site(random, 200).save(path)
        run("protect", path, "--min-cell", 10, "--site", name, "-o", to)
        safe.append(to)
    total = tmp_path / "all.cube.json"
    assert "not checked, that no row is at two sites" in run("merge", *safe, "-o", total)
    assert "counts of 3 sites, rounded to 10" in run("audit", total, "-q")
    assert "Zählungen von 3 Stellen, gerundet auf 10" in run("audit", *safe, "--lang", "de")
    exact = run("merge", tmp_path / "north.cube.json", safe[1], code=2)
    assert "rotect the exact one first" in exact
    twice = run("merge", total, safe[0], code=2)
    assert "both hold the same protected table" in twice
    assert "not computed in a page" in run("explore", total, "-o", tmp_path / "x.html", code=2)


def test_other_verbs_refuse_counts_of_sites_in_words():
    random = np.random.default_rng(0)
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "positive": 1}

    def total(**more):
        columns = {c: random.integers(0, 2, 400) for c in "ypqgh"}
        frames = [pl.DataFrame(columns) for _ in range(3)]
        return added([protected(fg.count(f, **asked | more), random) for f in frames])

    held = total()
    for refused in (
        lambda: fg.find(held, metrics="selection_rate"),
        lambda: fg.why(held),
        lambda: fg.explore(held),
        lambda: fg.compare_models(total(candidate="q")),
        lambda: fg.monitor({"2026-11": held}, {**asked, "monitor": {"rules": ["accuracy >= 0.5"]}}),
    ):
        with pytest.raises(CubeError, match=r"rotected|several sites"):
            refused()
    within = fg.audit(total(strata="h"), metrics=["selection_rate.difference"]).estimates
    held = {str(e.scope.kind): (e.interval is not None, e.reason and e.reason.code) for e in within}
    assert held == {
        "overall": (True, None), "stratum": (True, None), "pooled": (False, "protected")
    }  # fmt: skip


def test_reports_of_sites_are_compared_with_intervals():
    random = np.random.default_rng(4)
    old, new = (
        fg.audit(added(of_sites(random, [site(random, 200, rates) for _ in range(8)])))
        for rates in ((0.5, 0.5), (0.3, 0.5))
    )
    single = fg.audit(protected(site(random, 200), random))
    changes = {(c.metric, c.group): c for c in fg.compare(old, new).changes}
    change = changes["selection_rate.difference", "a"]
    assert change.interval.low <= -0.2 <= change.interval.high < 0
    assert {str(c.reason.code) for c in fg.compare(old, single).changes} == {"protected"}


def test_no_interval_but_the_default_is_made():
    random = np.random.default_rng(0)
    total = added(of_sites(random, [site(random) for _ in range(3)]))
    for method in ("exact", "bayes", "bootstrap"):
        with pytest.raises(SpecError, match="of protected counts of several sites; leave it out"):
            fg.audit(total, method=method)
