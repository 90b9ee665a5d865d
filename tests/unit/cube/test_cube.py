"""The cube: canonical values and order, adding, saving, and what is refused."""

import json
import operator
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.checks.coded_numbers import coded_numbers
from fairgauge.cube import cube as cube_module
from fairgauge.cube.build import Counted, build, code_values
from fairgauge.cube.cube import Cube, aggregate, read_cube
from fairgauge.cube.plan import AROUND_CODES, AROUND_NUMBERS, Axis, Plan, plan
from fairgauge.enums import Closed, Role
from fairgauge.errors import CubeError, DataError
from fairgauge.monitoring._period_cubes import sum_cubes
from fairgauge.question.specification import ask
from fairgauge.render.formats import render

ASKED = {"label": "y", "sensitive": "g"}


def counted(of: Plan, keys: list[list[Any]], **sums: list[float]) -> Counted:
    """Return cells that an engine might have counted."""
    measures = {m: np.array(each, float) for m, each in sums.items()}
    return Counted([*map(code_values, of.axes, keys)], measures)


def made(
    groups: list[Any], labels: list[Any], rows: list[float] | None = None, **options: Any
) -> Cube:
    """Build a cube of such cells."""
    rows = rows or [1.0] * len(groups)
    asked = plan(ask(**ASKED))
    cells = counted(asked, [groups, labels], rows=rows)
    return build(asked, [cells], rows=int(sum(rows)), **options)


def levels(cube: Cube) -> list[tuple[Any, ...]]:
    return [cube.levels[axis] for axis in cube.plan.axes]


def test_values_are_canonical_sorted_and_merged():
    cube = made([2.0, 2, Decimal("2.00"), -0.0, None, float("nan"), 10], [1, 1, 1, 0, 1, 1, 0])
    assert levels(cube) == [(0, 2, 10), (0, 1)]
    assert cube.tables[0].codes.tolist() == [[-1, 1], [0, 0], [1, 1], [2, 0]]
    assert cube.tables[0].sums["rows"].tolist() == [2, 1, 3, 1]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, "1"], r"column 'g' holds '1' as two types \(int and str\); make the column one type"),
        ([True, "true"], r"column 'g' holds 'true' as two types \(bool and str\)"),
        ([["a"], ["b"]], r"column 'g' \(feature\) holds values that are not plain"),
    ],
)
def test_values_that_cannot_be_groups(groups, message):
    with pytest.raises(DataError, match=message):
        made(groups, [0, 1])


def test_too_many_values():
    with pytest.raises(DataError, match=r"column 'g' \(feature\) has more than 3 distinct values"):
        made(["a", "b", "c", "d"], [1, 1, 1, 1], limit=3)
    assert len(levels(made(["a", "b", "c", None], [1, 1, 1, 1], limit=3))[0]) == 3


@pytest.mark.parametrize(("large", "where", "coded"), [
    (31.7, {}, True), (2_000.0, {}, False), (2_000.0, {"where": "age < 40"}, True),
])  # fmt: skip
@pytest.mark.parametrize("whole", [True, False])
def test_codes_among_weights_are_seen_in_any_sum(large, where, coded, whole, tmp_path):
    """Of weights the largest that is no code decides, as in a query that asks for it alone."""
    ages = [30] * 90 + [50] * 90
    rows = pl.DataFrame({"g": ["a", "b"] * 90, "y": [1, 0, 0] * 60, "age": ages})
    rows = rows.with_columns(w=pl.Series([12.5, 999.0, 1.5] * 30 + [20.0, large, 9.0] * 30))
    rows = rows if whole else rows.with_columns(pl.col("age") + 0.5)
    asked = {"prediction": "y", "sensitive": ["g", fg.cut("age", [45])], "weight": "w"} | where
    parts = [rows.slice(at, 60) for at in (0, 60, 120)][: 2 if where else 3]
    rows.write_parquet(tmp_path / "rows.parquet")
    counts = [fg.count(rows, **asked), fg.count(tmp_path / "rows.parquet", **asked)]
    assert (
        counts[0] == counts[1] == reduce(operator.add, (fg.count(part, **asked) for part in parts))
    )
    for cube in counts:
        found = [note["value"] for note in coded_numbers(cube, cube.asked)]
        assert found == [999] * coded


def test_adding_cubes_that_count_different_things():
    other = fg.confusion("g", {"a": {"tp": 1}})
    with pytest.raises(CubeError, match="the cubes count different things: label is 'y' in one"):
        made(["a"], [1]) + other
    with pytest.raises(TypeError, match="unsupported operand"):
        made(["a"], [1]) + 1


def test_a_value_that_one_recodes_and_the_other_counts_as_itself_is_not_added():
    rows = {"g": ["Asian", "White", "Native"] * 4, "p": [1, 0, 1] * 4}
    asked = {"prediction": "p", "sensitive": "g"}
    other = {"g": {"Other": ["Native", "Asian"]}}
    plain, recoded = fg.count(rows, **asked), fg.count(rows, **asked, recode=other)
    for one, two in ((plain, recoded), (recoded, plain)):
        with pytest.raises(CubeError, match="one counts 'Asian' of 'g' as 'Other', the other as"):
            one + two
    spelt = {"g": ["A.", "White", "Native"] * 4, "p": [0, 1, 1] * 4}
    cleaned = fg.count(spelt, **asked, recode={"g": {"Asian": ["A."]}})
    assert (plain + cleaned).levels[plain.plan.axes[0]] == ("Asian", "Native", "White")


def test_counts_at_two_medians_do_not_add_up():
    """They were said to be of another version."""
    one, two = (
        fg.count({"s": scores, "g": ["a", "b"] * 2}, score="s", threshold="median", sensitive="g")
        for scores in ([0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.6, 0.8])
    )
    with pytest.raises(
        CubeError, match=r"median of the scores, 0\.25 in one and 0\.5 in the other"
    ):
        one + two
    assert (one + one).rows == 8


def test_marginals():
    cube = made(["a", "a", "b", None], [1, 0, 1, 1], rows=[2, 3, 4, 5])
    feature, label = cube.plan.axis(Role.FEATURE), cube.plan.axis(Role.LABEL)
    assert cube.marginal([feature]).sums["rows"].tolist() == [5, 5, 4]
    assert cube.marginal([label, feature]).codes.tolist() == [[0, 0], [1, -1], [1, 0], [1, 1]]
    assert cube.marginal([]).sums["rows"].tolist() == [14]
    wide = plan(ask(label="y", sensitive=["a", "b", "c", "d"]))
    with pytest.raises(CubeError, match="this cube does not hold feature a x feature b; count"):
        build(wide, [counted(wide, [["v"], [1]], rows=[1]) for _ in wide.tables], rows=1).marginal(
            wide.axes[:2]
        )


def test_cells_beyond_a_machine_word():
    wide = plan(ask(label="y", sensitive=["a", "b", "c"])).axes
    codes = np.array([[2**21, 2**21, 2**21, 0], [-1, 5, 0, 0], [2**21, 2**21, 2**21, 0]])
    table = aggregate(wide, codes, {"rows": np.ones(3)})
    assert table.codes.tolist() == [codes[1].tolist(), codes[0].tolist()]
    assert table.sums["rows"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[:-40], "'day' is no saved result of fairgauge, or is truncated"),
        (lambda text: "[1]", "'day' is no saved result of fairgauge"),
        (
            lambda text: text.replace('"rows":3', '"rows":4'),
            "'day': these counts were changed or damaged",
        ),
        (lambda text: text.replace("cube/1", "cube/9"), "has format 'fairgauge.cube/9'; this"),
    ],
)
def test_damaged_files(change, message):
    text = change(made(["a", "b", "b"], [1, 0, 1]).to_json())
    with pytest.raises(CubeError, match=message):
        read_cube(text, "day")


def test_a_file_states_the_fingerprint_that_reports_of_its_counts_state():
    cube = fg.confusion("sex", {"F": {"tp": 20, "fn": 7}, "M": {"tp": 65, "fn": 5}})
    asked_otherwise = fg.audit(cube, metrics="RD", rules=["RD <= 0.1"])
    written = json.loads(cube.to_json())
    assert written["fingerprint"] == asked_otherwise.data.fingerprint
    assert fg.Cube.from_dict(written) == cube


@pytest.mark.parametrize("decimals", [2, 15])
def test_the_digest_of_weights_in_any_order_and_in_shards(decimals):
    """Totals of decimals are often halves, on which a rounding to binary steps would turn."""
    drawn = np.random.default_rng(decimals)
    weights = (drawn.random(9_000) * 9e4).round(decimals)
    groups = drawn.integers(0, 400, 9_000)
    rows = pl.DataFrame({"g": groups, "y": groups % 2, "w": weights, "s": weights / 9e4})
    asked = {"label": "y", "score": "s", "threshold": 0.5, "weight": "w", "sensitive": "g"}
    whole = fg.count(rows, **asked)
    assert fg.count(rows[::-1], **asked).digest == whole.digest
    added = fg.count(rows[:1_000], **asked)
    for first in range(1_000, 9_000, 1_000):
        added += fg.count(rows[first : first + 1_000], **asked)
    assert added.digest == whole.digest
    heavier = rows.with_columns(w=pl.col("w") + pl.when(pl.int_range(9_000) == 7).then(5))
    assert fg.count(heavier.fill_null(0), **asked).digest != whole.digest


@pytest.mark.parametrize("values", [2, 40, 150])
def test_cells_are_summed_alike_whether_few_or_many_are_held(values, monkeypatch):
    random = np.random.default_rng(values)
    axes = plan(ask(label="y", sensitive=["a", "b"])).axes
    codes = random.integers(-1, values, (500, 3))
    sums = {"rows": np.ones(500), "w": random.uniform(0, 1, 500)}
    found = []
    for dense in (0, 10**9):
        monkeypatch.setattr("fairgauge.cube.cube._DENSE", dense)
        found.append(aggregate(axes, codes, sums))
    assert found[0].codes.tolist() == found[1].codes.tolist()
    for name in sums:
        assert found[0].sums[name].tolist() == found[1].sums[name].tolist()
    assert found[0].codes.tolist() == sorted(map(list, set(map(tuple, codes.tolist()))))


def test_rules_beside_counts_are_judged_as_is_stated_beside_them():
    """Counts of a stranger had undecided comparisons counted as passes of one's own rule."""
    rows = {"y": [1, 0] * 9, "g": ["a", "b", "b"] * 6}
    cube = fg.count(rows, **ASKED, inconclusive="pass", confidence=0.5)
    rule = {"rules": ["base_rate.ratio >= 0.8"]}
    plain, found = fg.audit(fg.count(rows, **ASKED), **rule), fg.audit(cube, **rule)
    assert (found.verdict, found.spec["confidence"]) == (plain.verdict, 0.95)
    assert str(found.verdict) == "inconclusive"
    assert fg.audit(cube, **rule, inconclusive="pass").spec["inconclusive"] == "pass"
    asked = fg.audit(fg.count(rows, **ASKED, **rule, confidence=0.5))
    assert asked.spec["confidence"] == 0.5


@pytest.mark.parametrize(("asked", "verdict", "left_out"), [
    ({"exclude_groups": "D"}, "fail", "Excluded (g): D 300."),
    ({"sensitive": {"column": "g", "values": [["A"]]}}, "fail", ""),
    ({"sensitive": {"column": "g", "values": [["A"], ["C", "D"]]}}, "fail", ""),
    ({"unknown": "D"}, "fail", "Counted as missing (g): D 300."),
    ({"where": "g != D"}, "pass", "Excluded (g): D 300."),
    ({"recode": {"g": {"A": ["A"], "unknown": ["D"]}}}, "pass", "Counted as missing (g): D 300."),
    ({"recode": {"g": {"A": ["A", "D"]}}}, "pass", "Counted as A (g): A 3,000, D 300."),
    ({"recode": {"g": {"others": ["D", "A"]}}}, "pass", "Counted as “others” (g): A 3,000, D 300."),
    ({"recode": {"g": {"C": ["A"], "A": ["C", "D"]}}}, "pass", "Counted as C (g): A 3,000."),
])  # fmt: skip
def test_groups_are_left_out_of_rules_by_who_states_them_and_named(asked, verdict, left_out):
    """Counts of a stranger left out the group that failed one's own rule, and nothing said so."""
    groups = {"A": (1500, 3000), "C": (1480, 3000), "D": (60, 300)}
    rows = [(g, int(i < p)) for g, (p, n) in groups.items() for i in range(n)]
    of = dict(zip("gy", map(list, zip(*rows, strict=True)), strict=True))
    cube, rule = fg.count(of, **ASKED | asked), {"rules": "base_rate.ratio >= 0.8"}
    assert str(fg.audit(cube, **rule).verdict) == verdict
    stated = fg.audit(cube, **rule, **asked)
    assert str(stated.verdict) == "pass"
    shown = (str(stated), render(stated, "text", quiet=True), render(stated, "junit"))
    assert all(left_out in each for each in shown)


@pytest.mark.parametrize(("given", "which"), [
    ({"positive": 0}, "y = 0"), ({"positive": 0, "favourable": "neither"}, "y = 0"),
    ({"label": None, "score": "y", "threshold": 0.25}, "y ≥ 0.25"),
    ({"positive": 0, "words": {"positive": "refused", "groups": {"g": {"A": "C"}}}}, "y = 0"),
])  # fmt: skip
def test_who_judges_counts_reads_which_outcome_is_theirs(given, which):
    """Counts of a stranger took refusals as the better outcome, and one line did not show it."""
    rows = {"y": [0, 1, 0] * 40, "g": ["A", "C"] * 60}
    rule = {"rules": f"{'selection' if 'score' in given else 'base'}_rate.ratio >= 0.01"}
    found = fg.audit(fg.count(rows, **ASKED | given), **rule)
    for shown in (render(found, "text", quiet=True), render(found, "junit")):
        assert f"({which}), by g" in shown
        assert (f"“{which}”" in shown) is ("favourable" not in given)
    assert f"({which})" not in render(fg.audit(rows, **ASKED | given, **rule), "text", quiet=True)
    if "words" in given:  # those of the author, beside the author's rules
        own = render(fg.audit(fg.count(rows, **ASKED | given, **rule)), "text", quiet=True)
        assert f"(refused or not, {which}), by g" in own
        assert f"“{which}” is the better outcome (stated)" in own


def test_who_states_rules_assumes_alone_that_groups_are_missing_at_random():
    sizes = {("A", 1): 500, ("A", 0): 500, ("B", 1): 500, ("B", 0): 500, (None, 0): 300}
    of = {n: [key[i] for key, rows in sizes.items() for _ in range(rows)]
          for i, n in enumerate("gy")}  # fmt: skip
    cube, rule = fg.count(of, **ASKED, missing="ignorable"), {"rules": "base_rate.ratio >= 0.8"}
    assert str(fg.audit(cube, **rule).verdict) == "inconclusive"
    assert str(fg.audit(cube, **rule, missing="ignorable").verdict) == "pass"


@pytest.mark.parametrize("change", [
    lambda found: found["tables"][0].update(codes=[[10**30]] * 2),
    lambda found: found.update(rows=5),
    lambda found: found["excluded"].update({"missing label": 1}),
    lambda found: found["tables"][0]["sums"].update(n=[1_000.0]),
    lambda found: found["tables"][0]["sums"].update(rows=[0.5]),
    lambda found: found["tables"][0]["sums"].update(open=[-1.0]),
    lambda found: found["levels"].__setitem__(0, ["a", "a"]),
    lambda found: found.update(min_cell=10), lambda found: found.update(min_cell=-10),
])  # fmt: skip
def test_counts_that_contradict_themselves_are_no_cube(change):
    found = made(["a"], [1]).to_dict()
    assert Cube.from_dict(found | {"digest": cube_module._digest(found)}).rows == 1
    change(found)
    counts = {name: value for name, value in found.items() if name != "digest"}
    with pytest.raises(CubeError, match="not a fairgauge cube file"):
        Cube.from_dict(counts | {"digest": cube_module._digest(counts)})


def test_counts_of_several_strata_are_saved_merged_and_audited(tmp_path):
    rows = pl.DataFrame({
        "sex": ["F", "M"] * 40, "product": ["car", "car", "home", "home"] * 20,
        "dti": [30, 40, 30, 40, 50] * 16, "approved": [1, 0, 1, 1, 0, 1, 0, 0] * 10,
    })  # fmt: skip
    asked = {"label": "approved", "sensitive": "sex", "metrics": "base_rate"}
    asked["strata"] = ["product", fg.cut("dti", [36])]
    merged = fg.count(rows[:30], **asked) + fg.count(rows[30:], **asked)
    merged.save(tmp_path / "day.cube.json")
    found, whole = fg.audit(fg.load(tmp_path / "day.cube.json")), fg.audit(rows, **asked)
    assert (found.estimates, found.spec) == (whole.estimates, whole.spec)


# ---- `fg.confusion`: a cube of counts that are already known
SEX = {"F": {"tp": 20, "fp": 5, "fn": 7, "tn": 18}, "M": {"tp": 65, "fp": 10, "fn": 5, "tn": 20}}


def rows_of(groups: dict[str, dict[str, int]], feature: str = "sex") -> pd.DataFrame:
    cells = {"tp": (1, 1), "fp": (0, 1), "fn": (1, 0), "tn": (0, 0)}
    return pd.DataFrame(
        [
            (group, *cells[cell])
            for group, counts in groups.items()
            for cell, n in counts.items()
            for _ in range(n)
        ],
        columns=[feature, "label", "prediction"],
    )


def test_it_is_the_cube_of_the_rows() -> None:
    counted = fg.count(
        rows_of(SEX), label="label", prediction="prediction", positive=1, sensitive="sex"
    )
    cube = fg.confusion("sex", SEX)
    assert cube.rows == counted.rows == 150
    asked = {"metrics": "clarify"}
    assert fg.audit(cube, **asked).estimates == fg.audit(counted, **asked).estimates
    assert fg.audit(cube).groups == fg.audit(counted).groups


def test_large_counts_are_exact() -> None:
    cube = fg.confusion("sex", {"F": {"tp": 10**15, "fn": 1}, "M": {"tp": 3, "fn": 1}})
    (group, _) = fg.audit(cube).groups
    assert group.counts == {"tp": 10**15, "fp": 0, "fn": 1, "tn": 0}


@pytest.mark.parametrize("count", [-1, 2.5, float("nan"), float("inf"), "x", None, [1]])
def test_what_is_no_count_and_no_cell(count: Any) -> None:
    with pytest.raises(fg.SpecError) as caught:
        fg.confusion("sex", {"F": {"tpp": 1, "tp": count}})
    cell, number = str(caught.value).split("\n")
    assert cell == "sex.F.tpp: unknown cell. Did you mean 'tp'? Cells: tp, fp, fn, tn"
    assert number.startswith("sex.F.tp: must be a whole number, 0 or greater, not ")


# ---- clusters in counts: numbers that follow from what they hold, or hashes under a key
ASKED_IDENTIFIERS = {
    "prediction": "y", "positive": 1, "sensitive": ["sex", "race"], "cluster": "who",
}  # fmt: skip
KEY = "FAIRGAUGE_CLUSTER_KEY"
ROWS = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from([0, 1]), st.sampled_from("FM"), st.sampled_from("xyz")
    ),
    min_size=1,
).filter(lambda rows: any(row[1] for row in rows))


def frame(rows, names=lambda who: f"id-{who}"):
    who, y, sex, race = zip(*rows, strict=True)
    data = {"who": [names(each) for each in who], "y": y, "sex": sex, "race": race}
    return pl.DataFrame(data | {"n": [1 + ord(each) % 3 for each in race]})


@given(ROWS, st.permutations(range(6)), st.randoms(), st.sampled_from([None, "weight", "count"]))
def test_neither_identifiers_nor_their_order_nor_that_of_rows_shows(rows, renamed, random, role):
    asked = ASKED_IDENTIFIERS | ({role: "n"} if role else {})
    counted = fg.count(frame(rows), **asked)
    assert "id-" not in counted.to_json()
    shuffled = random.sample(rows, len(rows))
    other = fg.count(frame(shuffled, lambda who: f"{renamed[who]}@example.org"), **asked)
    assert other.digest == counted.digest
    assert fg.audit(counted).estimates == fg.audit(frame(rows), **asked).estimates


@given(ROWS, ROWS)
def test_with_a_key_counts_add_up_to_those_of_all_rows(one, other):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY, "0123456789abcdef")
        apart = [fg.count(frame(rows), **ASKED_IDENTIFIERS) for rows in (one, other)]
        together = fg.count(frame([*one, *other]), **ASKED_IDENTIFIERS)
    total = apart[0].add(apart[1], allow_duplicates=True)
    assert total == together
    assert "id-" not in total.to_json()
    assert total.to_json() != fg.count(frame([*one, *other]), **ASKED_IDENTIFIERS).to_json()


def test_without_a_common_key_counts_do_not_add_up(monkeypatch):
    rows = [(0, 1, "F", "x"), (1, 0, "M", "y")]
    numbered = fg.count(frame(rows), **ASKED_IDENTIFIERS)
    keyed = []
    for key in ("0123456789abcdef", "fedcba9876543210"):
        monkeypatch.setenv(KEY, key)
        keyed.append(fg.count(frame(rows), **ASKED_IDENTIFIERS))
    for one, other in [(numbered, numbered), (numbered, keyed[0]), keyed]:
        with pytest.raises(CubeError, match=f"would be two: count all files .*{KEY}"):
            one.add(other, allow_duplicates=True)


def test_a_saved_cube_keeps_how_its_clusters_are_named(tmp_path):
    cube = fg.count(frame([(0, 1, "F", "x"), (1, 0, "M", "y")]), **ASKED_IDENTIFIERS)
    cube.save(tmp_path / "t.cube.json")
    assert json.loads((tmp_path / "t.cube.json").read_text())["clusters"] == "numbered"
    with pytest.raises(CubeError, match="no common names"):
        fg.load(tmp_path / "t.cube.json").add(cube, allow_duplicates=True)


def test_a_history_takes_clusters_of_one_key_alone(monkeypatch, tmp_path):
    days = [frame([(i % 9, i % 2, "FM"[i % 3 % 2], "x") for i in range(k, k + 60)]) for k in (0, 7)]
    held = fg.History(tmp_path / "history")
    with pytest.raises(CubeError, match=f"one name of a cluster in all periods: set {KEY}"):
        held.add("2026-11-01", fg.count(days[0], **ASKED_IDENTIFIERS))
    monkeypatch.setenv(KEY, "0123456789abcdef")
    held.add("2026-11-01", fg.count(days[0], **ASKED_IDENTIFIERS))
    held.add("2026-11-02", fg.count(days[1], **ASKED_IDENTIFIERS))
    cubes = [held.cube("2026-11-01"), held.cube("2026-11-02")]
    assert sum_cubes(cubes) == fg.count(pl.concat(days), **ASKED_IDENTIFIERS)
    monkeypatch.setenv(KEY, "fedcba9876543210")
    with pytest.raises(CubeError, match="name clusters by different keys"):
        held.add("2026-11-03", fg.count(days[1], **ASKED_IDENTIFIERS))
    monkeypatch.delenv(KEY)
    with pytest.raises(CubeError, match="no common names"):
        sum_cubes([fg.count(day, **ASKED_IDENTIFIERS) for day in days])


@pytest.mark.parametrize("closed", Closed)
@pytest.mark.parametrize("cuts", [AROUND_CODES, AROUND_NUMBERS])
def test_numbers_found_by_their_logarithms_are_in_the_intervals_of_a_search(cuts, closed):
    rng, ends = np.random.default_rng(0), np.array(cuts)
    near = [np.nextafter(ends, at) for at in (-np.inf, np.inf)]
    spread = np.exp(rng.uniform(-8, 25, 20_000))
    odd = [0.0, np.inf, -np.inf, 5e-324]
    numbers = np.concatenate([ends, *near, spread, -spread, rng.integers(-200, 20_000, 9_000), odd])
    side = "right" if closed is Closed.LEFT else "left"
    found = Axis(Role.CODES, "x", cuts, closed).bins_of(numbers)
    assert (found == np.searchsorted(ends, numbers, side=side)).all()
