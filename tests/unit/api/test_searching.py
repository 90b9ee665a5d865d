"""`fairgauge.find`: what is counted, claimed and summarised, against counting it all by hand."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import FEW_EXAMPLES

import fairgauge as fg
from fairgauge.api import searching
from fairgauge.enums import DiagnosticCode, Level
from fairgauge.errors import CubeError, SpecError
from fairgauge.stats.signed_roots import signed_root

ASKED = {"label": "y", "prediction": "p", "metrics": "false_positive_rate"}
FEATURES = ["sex", "race", "region", "age"]


def people(rows=3_000, seed=1, worse=0.0):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({
        "sex": rng.choice(["F", "M"], rows),
        "race": rng.choice(["A", "B", "C"], rows, p=[0.6, 0.3, 0.1]),
        "region": rng.choice([1, 2, 3, 4], rows),
        "age": rng.integers(18, 90, rows),
        "y": (rng.random(rows) < 0.4).astype(int),
    })  # fmt: skip
    planted = ((frame["sex"] == "F") & (frame["race"] == "B")).to_numpy()
    p = rng.random(rows) < 0.15 + worse * planted
    return frame.with_columns(p=pl.Series(p.astype(int)))


PLANTED = people(worse=0.25)
CUT = ["sex", "race", "region", fg.cut("age", [30, 60])]


def by_hand(frame, depth, min_rows):
    """Count every conjunction row by row."""
    cut = frame.with_columns(
        age=pl.when(pl.col("age") <= 30).then(pl.lit("(-inf, 30]"))
        .when(pl.col("age") <= 60).then(pl.lit("(30, 60]")).otherwise(pl.lit("(60, inf)")),
        region=pl.col("region").cast(pl.String),
    )  # fmt: skip
    rows = cut.to_dicts()
    found = {}
    for k in range(1, depth + 1):
        for names in itertools.combinations(FEATURES, k):
            for row in rows:
                key = frozenset((name, row[name]) for name in names)
                counts = found.setdefault(key, [0, 0, 0])
                counts[0] += 1
                counts[1] += row["y"] == 0
                counts[2] += row["y"] == 0 and row["p"] == 1
    return {key: counts for key, counts in found.items() if counts[0] >= min_rows}


def conditions(subgroup):
    return frozenset(subgroup.conditions.items())


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_every_subgroup_is_counted_as_by_hand(depth):
    found = fg.find(PLANTED, sensitive=CUT, depth=depth, min_rows=25, **ASKED)
    expected = by_hand(PLANTED, depth, 25)
    assert found.examined + found.too_few == len(expected)
    stated = f"{found.too_few} subgroups of at least 25 rows were not tested: fewer than 20 rows"
    assert (stated in " ".join(str(found).split())) is (found.too_few > 0)
    n, x = found.overall.n, found.overall.events
    tested = {k: c for k, c in expected.items() if c[1] >= 20 and n - c[1] >= 20}
    assert found.examined == len(tested)
    roots = {key: float(signed_root(c[2], c[1], x - c[2], n - c[1])) for key, c in tested.items()}
    claims = {key for key, root in roots.items() if root > found.critical_value}
    assert {conditions(each) for each in found.worse} == claims
    not_worse = sum(root < -found.other_critical_value for root in roots.values())
    assert found.not_worse_count == not_worse
    assert found.undecided_count == len(found.undecided) == len(tested) - len(claims) - not_worse
    for each in (*found.worse, *found.undecided):
        counts = expected[conditions(each)]
        assert [each.rows, each.n, each.events] == counts
        assert each.evidence == pytest.approx(roots[conditions(each)])
        others = (x - each.events) / (n - each.n)
        assert each.difference == pytest.approx(each.events / each.n - others)


def test_the_planted_subgroup_accounts_for_all():
    found = fg.find(PLANTED, sensitive=CUT, **ASKED)
    assert found.summary == ("sex = F & race = B",)
    assert len(found.worse) > 1
    assert {each.explained_by for each in found.worse} == {None, "sex = F & race = B"}


def test_nothing_is_found_where_nothing_differs_and_what_would_have_been_is_stated():
    found = fg.find(people(seed=4), sensitive=CUT, **ASKED)
    assert found.worse == ()
    assert found.summary == ()
    assert found.largest.by_at_most is not None
    differences = [each.difference for each in found.detectable]
    assert differences == sorted(differences)
    text = str(found)
    assert "No subgroup is shown to be worse" in text
    assert "Would have been found (80% power)" in text


def test_counts_shards_and_rows_give_the_same():
    options = {"label": "y", "prediction": "p"}
    joint = {"sensitive": CUT, "intersections": [FEATURES]}
    found = fg.find(PLANTED, sensitive=CUT, **ASKED)
    whole = fg.count(PLANTED, **options, **joint)
    halves = [fg.count(each, **options, **joint) for each in (PLANTED[:1300], PLANTED[1300:])]
    for cube in (whole, halves[0] + halves[1]):
        again = fg.find(cube, metrics="false_positive_rate")
        assert (again.worse, again.undecided) == (found.worse, found.undecided)
    few = fg.find(whole, metrics="false_positive_rate", sensitive=["sex", "race"])
    assert few.examined == fg.find(PLANTED, sensitive=["sex", "race"], **ASKED).examined
    with pytest.raises(CubeError, match="count them with recode"):
        fg.find(whole, metrics="false_positive_rate", recode={"sex": {"men": ["M"]}})


def test_missing_values_are_a_group_unless_excluded():
    gaps = PLANTED.with_columns(
        race=pl.when(pl.col("race") == "B").then(None).otherwise(pl.col("race"))
    )
    found = fg.find(gaps, sensitive=["sex", "race"], **ASKED)
    assert "sex = F & race = (missing)" in {each.name for each in found.worse}
    without = fg.find(gaps, sensitive=["sex", "race"], missing="exclude", **ASKED)
    assert without.overall == found.overall
    assert not any("missing" in each.name for each in (*without.worse, *without.undecided))
    with pytest.raises(fg.DataError, match="miss 'race'"):
        fg.find(gaps, sensitive=["sex", "race"], missing="error", **ASKED)


def test_numbers_without_cuts_are_cut_into_fifths_and_many_values_pooled():
    many = PLANTED.with_columns(town=pl.Series([f"t{i * i % 977}" for i in range(len(PLANTED))]))
    found = fg.find(many, sensitive=["age", "town", "region"], depth=1, min_rows=1, **ASKED)
    age, town, region = found.question.features
    shares = np.diff(
        [0, *(float((PLANTED["age"] <= cut).mean()) for cut in age.cuts), 1]  # type: ignore[arg-type]
    )
    assert (age.made, len(age.values)) == ("quintiles", 5)
    np.testing.assert_allclose(shares, 0.2, atol=0.02)
    assert (town.made, len(town.values), town.values[-1]) == ("most_frequent", 51, "other values")
    assert (region.made, region.values) == ("values", ("1", "2", "3", "4"))
    notes = str(found)
    assert "fifths of the rows" in notes
    assert "50 most frequent values" in notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": None}, "metrics: name the rate to search"),
        ({"metrics": "cohen_kappa"}, "no share of rows.* search one of 'base_rate'"),
        ({"metrics": "false_positiv_rate"}, "false_positive_rate"),
        ({"metrics": "base_rate"}, "state which is worse"),
        ({"sensitive": None}, "sensitive: name the columns"),
        ({"sensitive": ["sex", "y"]}, "'y' is the label"),
        ({"sensitive": ["race", "sexx"]}, r"sensitive\[1\]: no column 'sexx'"),
        ({"alpha": 0.7}, "alpha: must be a number between 0 and 0.5"),
        ({"depth": 0}, "depth: must be a whole number, 1 or greater"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"weight": "age"}, "independent, unweighted rows"),
        ({"cluster": "age"}, "a search takes none: exact probabilities"),
        ({"person": "age", "per_person": "each"}, "per_person: .* are clustered observations"),
        ({"reference": "largest"}, "reference"),
        ({"label": "region"}, "positive"),
    ],
)
def test_mistakes_are_refused_with_what_to_do(options, message):
    with pytest.raises(SpecError, match=message):
        fg.find(PLANTED, **{**ASKED, "sensitive": ["sex", "race"], **options})


def test_too_many_subgroups_are_refused():
    rng = np.random.default_rng(0)
    wide = pl.DataFrame({f"f{i}": rng.integers(0, 9, 5_000) for i in range(60)}).with_columns(
        y=pl.lit(0), p=pl.Series(rng.integers(0, 2, 5_000))
    )
    with pytest.raises(SpecError, match="more than 10,000,000 subgroups"):
        fg.find(wide, sensitive=[f"f{i}" for i in range(60)], min_rows=1, depth=4, **ASKED)


# ---- searches of rows with doubtful values: of groups spelt in two ways, codes, missing decisions
ASKED_DOUBTFUL = {"prediction": "p", "positive": 1, "metrics": "selection_rate"}
FEATURES_DOUBTFUL = ["sex", "race", "age"]
ROWS = 4_000
DRAWN = np.random.default_rng(5)
PEOPLE = pl.DataFrame({
    "sex": DRAWN.choice(["F", "M"], ROWS),
    "race": DRAWN.choice(["Asian", "Black", "White"], ROWS, p=[0.2, 0.2, 0.6]),
    "age": DRAWN.integers(18, 90, ROWS),
    "p": (DRAWN.random(ROWS) < 0.6).astype(int),
})  # fmt: skip
FIRST = pl.int_range(pl.len())


@pytest.fixture(params=["at once", "in batches"])
def find(request, monkeypatch):
    """Search rows by counts of all features, or by reading them in batches."""
    most = 10**9 if request.param == "at once" else 0
    monkeypatch.setattr(searching, "_MOST_CELLS", most)
    return lambda frame, **more: fg.find(
        frame, **{**ASKED_DOUBTFUL, "sensitive": FEATURES_DOUBTFUL, **more}
    )


def warnings_of(found, *codes):
    wanted = [each for each in found.diagnostics if each.level is Level.WARNING]
    return [each for each in wanted if not codes or each.code in codes]


def test_usual_rows_are_not_warned_of(find):
    assert warnings_of(find(PEOPLE)) == []


def test_a_group_spelt_in_two_ways_is_warned_of(find):
    spelt = PEOPLE.with_columns(
        race=pl.when(FIRST % 2 == 0).then(pl.col("race").str.to_lowercase() + " ").otherwise("race")
    )
    alike = warnings_of(find(spelt))
    assert alike.pop(0).code is DiagnosticCode.UNCOUNTED_ROWS  # so that nothing is "not worse"
    assert {each.code for each in alike} == {DiagnosticCode.SAME_NAMES}
    assert {each["values"] for each in alike} == {
        ("Asian", "asian "), ("Black", "black "), ("White", "white ")
    }  # fmt: skip
    assert alike[0]["line"] == 'race = {Asian = ["Asian", "asian "]}'
    recoded = {name: [name, f"{name.lower()} "] for name in ("Asian", "Black", "White")}
    assert warnings_of(find(spelt, recode={"race": recoded})) == []


@pytest.mark.parametrize("hidden", [8, 0])
def test_what_rows_without_a_value_could_hide_is_not_shown_to_be_absent(find, hidden):
    """Refused women whose sex is not recorded were among the others, and no woman was worse off."""
    lacking = (pl.col("sex") == "F") & (pl.col("p") == 0) & (hidden > FIRST % 10)
    found = find(PEOPLE.with_columns(pl.when(~lacking).then("sex")), missing="exclude")
    assert found.lacks_outcomes is (found.largest.by_at_most is None) is bool(hidden)


@pytest.mark.parametrize(("asked", "hides"), [
    ({}, True), ({"worse": "higher"}, False), ({"accept": "unfavourable_positive"}, False),
])  # fmt: skip
def test_who_is_worse_off_by_an_assumed_outcome_is_not_shown(asked, hides):
    rows = PEOPLE.rename({"p": "denied"})
    assert fg.find(rows, **ASKED_DOUBTFUL | {"prediction": "denied"}, sensitive=["sex"],
                   **asked).lacks_outcomes is hides  # fmt: skip


ASKED_STREAMED = {"label": "y", "prediction": "p", "positive": 1, "metrics": "false_positive_rate"}
FEATURES_STREAMED = ["sex", "town", "income", fg.cut("age", [30, 60]), "day"]


def people_streamed(rows, seed=1):
    """Rows with all kinds of features, missing values in each, one subgroup worse."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame({
        "sex": rng.choice(["F", "M"], rows),
        "town": [f"t{each}" for each in rng.integers(0, 70, rows)],
        "income": rng.normal(50, 9, rows).round(1),
        "age": rng.integers(18, 90, rows),
        "day": pl.Series(rng.integers(0, 3, rows).astype("datetime64[D]")),
        "y": (rng.random(rows) < 0.4).astype(int),
    })  # fmt: skip
    worse = ((frame["sex"] == "F") & (frame["age"] > 60)).to_numpy()
    p = (rng.random(rows) < 0.15 + 0.3 * worse).astype(int)
    gaps = [
        pl.when(pl.Series(rng.random(rows) < 0.03)).then(None).otherwise(pl.col(name)).alias(name)
        for name in ("sex", "town", "income", "age", "day", "y")
    ]
    return frame.with_columns(*gaps, p=pl.Series(p))


# ---- searches of rows that are read in batches, against searches of counts of all features
def found_both_ways(data, monkeypatch, **asked):
    """Return what is found by counts of all features, and by reading rows in batches."""
    asked = {**ASKED_STREAMED, "sensitive": FEATURES_STREAMED, **asked}
    with monkeypatch.context() as patched:
        patched.setattr(searching, "_MOST_CELLS", 10**9)
        counted = fg.find(data, **asked)
        patched.setattr(searching, "_MOST_CELLS", 0)
        patched.setattr(searching, "_MOST_JOINT_CELLS", 0)  # so that nothing else can answer
        return counted, fg.find(data, **asked)


def content(found):
    written = found.to_dict()
    return {
        name: value for name, value in written.items() if name not in ("created", "fingerprint")
    }


FRAME = people_streamed(3_000)


def file_of(kind):
    def write(frame, folder):
        path = str(folder / f"rows.{kind}")
        frame.write_csv(path) if kind == "csv" else frame.write_parquet(path)
        return path

    return write


@FEW_EXAMPLES
@given(
    rows=st.integers(60, 900), seed=st.integers(0, 99), depth=st.integers(1, 5),
    min_rows=st.integers(1, 40), worse=st.sampled_from(["higher", "lower"]),
    missing=st.sampled_from(["group", "exclude"]),
    rate=st.sampled_from(["selection_rate", "precision", "accuracy"]),
)  # fmt: skip
def test_of_any_question_what_is_found_is_the_same(
    rows, seed, depth, min_rows, worse, missing, rate
):
    frame = people_streamed(rows, seed).to_pandas().assign(n=1 + np.arange(rows) % 3)
    with pytest.MonkeyPatch.context() as patched:
        counted, streamed = found_both_ways(
            frame, patched, depth=depth, min_rows=min_rows, worse=worse, missing=missing,
            metrics=rate, count="n", sensitive=["sex", fg.cut("age", [30, 60]), "income", "day"],
            recode={"sex": {"woman": ["F"], "unknown": ["M"]}},
        )  # fmt: skip
    assert content(streamed) == content(counted)


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas"])
def test_the_rows_that_meet_conditions_are_read_alone(monkeypatch, tmp_path, kind):
    data = FRAME.to_pandas() if kind == "pandas" else file_of(kind)(FRAME, tmp_path)
    where = ["20 < age <= 85", "sex = F or woman", "town != t3 or t4", "income > 30"]
    recode = {"sex": {"woman": ["M"]}}
    counted, streamed = found_both_ways(data, monkeypatch, where=where, recode=recode)
    assert content(streamed) == content(counted)
    assert 0 < streamed.overall.rows < len(FRAME)


def test_data_that_change_while_they_are_read_are_refused(tmp_path, monkeypatch):
    from fairgauge.scan._duckdb_relation import DuckRows

    path = file_of("csv")(FRAME, tmp_path)
    read = DuckRows.batches

    def changed(self, plan):
        FRAME.with_columns(sex=pl.lit("X")).write_csv(path)
        return read(self, plan)

    monkeypatch.setattr(DuckRows, "batches", changed)
    with pytest.raises(fg.DataError, match="'sex' has the value 'X', which it had not"):
        found_both_ways(path, monkeypatch)


def test_the_fingerprint_is_of_all_counts_in_any_order_of_rows(monkeypatch):
    _, one = found_both_ways(FRAME, monkeypatch)
    _, other = found_both_ways(FRAME.sample(fraction=1, shuffle=True, seed=4), monkeypatch)
    assert one.fingerprint == other.fingerprint
    sex = FRAME["sex"].to_list()
    swapped = FRAME.with_columns(sex=pl.Series([*sex[1:], sex[0]]))  # each column alone as it was
    assert found_both_ways(swapped, monkeypatch)[1].fingerprint != one.fingerprint


def test_what_would_not_fit_into_memory_is_refused_before_it_is_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(searching, "_MOST_CELLS", 100)
    monkeypatch.setattr(searching, "_MOST_JOINT_CELLS", 1_000)
    path = tmp_path / "rows.jsonl"
    FRAME.with_columns(pl.col("day").cast(str)).write_ndjson(path)
    with pytest.raises(
        SpecError, match=r"may make [123],\d{3} cells, and more than 1,000 .*search"
    ):
        fg.find(path, sensitive=FEATURES_STREAMED, **ASKED_STREAMED)
