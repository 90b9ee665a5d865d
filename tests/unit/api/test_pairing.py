"""fg.pairs: bias or instability, errors of bad tables, and what must not change a number."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm, t, ttest_1samp
from tests.cases import FEW_EXAMPLES

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.results.name_swaps import SwapReason, SwapVerdict
from fairgauge.stats.paired import paired_difference
from swapped_names import ASKED, study

WHITE = {"group": "White"}


def audit(table, **options):
    return fg.pairs(table, **{**ASKED, "reference": WHITE, **options})


def numbers_of(found):
    """Return what an audit shows, without names."""
    plain = found.to_dict()
    return [
        {k: v for k, v in each.items() if k not in ("group", "reference", "says", "feature")}
        for each in plain["differences"]
    ]


def test_a_difference_beyond_names_items_and_edits_differs():
    (found,) = audit(study((6, 6), 17, 5, delta=-0.6, placebos=7), placebo="edit").differences
    assert found.verdict is SwapVerdict.DIFFERS
    assert found.high < 0
    assert found.variants_group == found.variants_reference == 6
    assert "DIFFERS BEYOND PLACEBO" in found.says


def test_a_small_difference_is_equivalent_within_a_margin_that_is_wide_enough():
    table = study((8, 8), 50, 5, seed=1)
    (wide,) = audit(table, margins={"score": 0.5}).differences
    (narrow,) = audit(table, margins={"score": 0.001}).differences
    assert wide.verdict is SwapVerdict.EQUIVALENT
    assert -0.5 < wide.low < wide.high < 0.5
    assert narrow.reason is SwapReason.IMPRECISE
    assert (wide.low, wide.high) == (narrow.low, narrow.high)


@pytest.mark.parametrize(
    ("names", "items", "reason"),
    [
        ((1, 5), 9, SwapReason.ONE_VARIANT),
        ((2, 5), 9, SwapReason.FEW_VARIANTS),
        ((4, 4), 2, SwapReason.FEW_ITEMS),
    ],
)
def test_few_names_or_items_have_no_verdict_however_large_the_difference(names, items, reason):
    found = audit(study(names, items, delta=-50.0))
    (only,) = found.differences
    assert (only.verdict, only.reason) == (SwapVerdict.CANNOT_TELL, reason)
    assert only.p_adjusted is None
    assert found.exit_code == 3
    assert (only.low is None) == (reason is SwapReason.FEW_ITEMS)


def test_one_name_a_side_is_tested_by_the_items_alone():
    """Of decisions by McNemar's mid-p and Tango's interval, of scores by Student's."""
    decisions = np.repeat([[1, 0], [0, 1], [1, 1]], [8, 10, 32], axis=0)
    table = study((1, 1), 50, 1).sort_values(["group", "item"]).assign(score=decisions.T.ravel())
    (only,) = audit(table).differences
    gaps = decisions[:, 0] - decisions[:, 1]
    assert only.p_value == pytest.approx(ttest_1samp(gaps, 0).pvalue)
    shuffled = table.sample(frac=1, random_state=1).rename(columns={"score": "hired"})
    asked = {**ASKED, "reference": WHITE, "score": None, "prediction": "hired", "positive": 1}
    (only,) = fg.pairs(shuffled, **asked).differences
    mid = 2 * binom.cdf(8, 18, 0.5) - binom.pmf(8, 18, 0.5)
    limits = paired_difference(8, 10, 50, norm.ppf(0.975))
    assert (only.p_value, only.low, only.high) == pytest.approx((mid, *map(float, limits)))
    assert (only.value, only.degrees_of_freedom) == (pytest.approx(-0.04), None)


@pytest.mark.parametrize(
    ("counts", "shares", "student", "mid_p"),
    [
        ((*range(3, 41), 50, 100, 200, 300), (0.05, 0.1, 0.2, 0.3, 0.4, 0.5), 0.055, 0.049),
        ((7,), (0.6, 0.8, 1.0), 0.109, 0.032),
        ((50, 100, 200), (0.6, 0.8, 1.0), 0.065, 0.065),
    ],
)
def test_mcnemars_mid_p_of_one_name_a_side_errs_as_often_as_stated(counts, shares, student, mid_p):
    """Over every study of names that do not differ, beside Student's p."""
    errs = []
    for items, moved in product(counts, shares):
        every = [(b, d) for d in range(1, items + 1) for b in range(d + 1)]
        better, discordant = np.array(every, dtype=float).T
        gap = (2 * better - discordant) / items
        spread = (discordant - items * gap**2) / (items - 1)
        chance = binom.pmf(discordant, items, moved) * binom.pmf(better, discordant, 0.5)
        errors = np.sqrt(np.maximum(spread, 1e-300) / items)
        p = np.where(spread > 1e-12, 2 * t.sf(np.abs(gap) / errors, items - 1), 1.0)
        less = np.minimum(better, discordant - better)
        mid = 2 * binom.cdf(less, discordant, 0.5) - binom.pmf(less, discordant, 0.5)
        errs.append((chance[p <= 0.05].sum(), chance[mid <= 0.05].sum()))
    assert np.max(errs, axis=0).round(3).tolist() == [student, mid_p]


def test_answers_without_variation_are_not_called_equivalent():
    table = study((4, 4)).assign(score=7)
    (only,) = audit(table, margins={"score": 1}).differences
    assert (only.verdict, only.reason) == (SwapVerdict.CANNOT_TELL, SwapReason.NO_VARIATION)


def test_verdicts_of_several_groups_and_models_are_adjusted_together():
    parts = [study((5, 5), 12, delta=-0.3, seed=seed).assign(model=f"m{seed}") for seed in range(3)]
    found = audit(pd.concat(parts), model="model")
    assert [each.model for each in found.differences] == ["m0", "m1", "m2"]
    raw = [each.p_value for each in found.differences]
    expected, least = {}, 0.0
    for rank, p in enumerate(sorted(raw)):
        least = max(least, min(1.0, (3 - rank) * p))
        expected[p] = least
    adjusted = [each.p_adjusted for each in found.differences]
    assert adjusted == pytest.approx([expected[p] for p in raw])


def test_missing_answers_are_counted_by_group_and_excluded():
    table = study((4, 4), 10, 2)
    refusals = table.index[(table.group == "Black") & (table.run == 0)][:7]
    table.loc[refusals, "score"] = np.nan
    found = audit(table)
    share = {each.group: (each.answered, each.n) for each in found.answered}
    assert share == {"Black": (73, 80), "White": (80, 80)}
    assert (found.data.answers, found.data.missing) == (153, 7)


# ---- bad tables ---------------------------------------------------------------------------------
def test_unknown_groups_placebos_and_references_are_named():
    with pytest.raises(fg.FairgaugeError) as caught:
        audit(study(), reference={"group": "Whit"}, placebo="edit", exclude_groups="Asian")
    message = str(caught.value)
    assert "reference: no 'Whit' in group. Did you mean 'White'?" in message
    assert "placebo: no 'edit' in group" in message
    assert "exclude_groups: no 'Asian' in group" in message


# ---- what changes nothing -----------------------------------------------------------------------
_DESIGNS = {
    "names": st.tuples(st.integers(1, 4), st.integers(1, 4)), "items": st.integers(2, 6),
    "runs": st.integers(1, 3), "placebos": st.integers(0, 4), "seed": st.integers(0, 1000),
}  # fmt: skip


def close(one, other):
    return (
        json.loads(json.dumps(one), parse_float=lambda x: pytest.approx(float(x), abs=1e-9))
        == other
    )


@given(**_DESIGNS, share=st.sampled_from([1.0, 0.7]))
def test_order_names_and_shifts_change_no_number(names, items, runs, placebos, seed, share):
    table = study(names, items, runs, placebos=placebos, seed=seed)
    rng = np.random.default_rng(seed)
    if share < 1:
        table = table[rng.random(len(table)) < share]
    options = {"placebo": "edit"} if (table.group == "edit").any() else {}
    try:
        before = numbers_of(audit(table, **options))
    except fg.FairgaugeError:
        return
    shuffled = table.sample(frac=1, random_state=seed)
    assert close(numbers_of(audit(shuffled, **options)), before)
    renamed = table.assign(
        item=table.item.map({v: f"{rng.random()}" for v in table.item.unique()}),
        name=table.name.map({v: f"{rng.random()} x" for v in table.name.unique()}),
        group=table.group.map({"Black": "Z", "White": "A", "edit": "B & C"}),
    )
    again = audit(renamed, reference={"group": "A"}, **({"placebo": "B & C"} if options else {}))
    assert close(numbers_of(again), before)
    shift = dict(zip(table.item.unique(), rng.normal(size=table.item.nunique()), strict=True))
    for part in numbers_of(
        audit(table.assign(score=table.score + table.item.map(shift)), **options)
    ):
        del part["mean_group"], part["mean_reference"]
        for each in before:
            each.pop("mean_group", None)
            each.pop("mean_reference", None)
        assert close([part], before)


@FEW_EXAMPLES
@given(**_DESIGNS)
def test_swapping_sides_turns_the_sign(names, items, runs, placebos, seed):
    table = study(names, items, runs, placebos=placebos, seed=seed)
    options = {"placebo": "edit"} if placebos else {}
    (one,) = audit(table, **options).differences
    (other,) = audit(table, reference={"group": "Black"}, **options).differences
    assert one.value == pytest.approx(-other.value, abs=1e-12)
    assert one.p_value == pytest.approx(other.p_value) if one.p_value is not None else True
    if one.low is not None:
        assert one.low == pytest.approx(-other.high, abs=1e-12)
    assert (one.verdict, one.reason) == (other.verdict, other.reason)


def test_a_specification_file_has_its_keys(tmp_path):
    (tmp_path / "swaps.toml").write_text(
        'item = "item"\nvariant = "name"\nsensitive = "group"\nscore = "score"\n'
        'placebo = ["edit"]\nreference = {group = "White"}\nmargins = {score = 0.5}\n'
    )
    table = study(placebos=3)
    found = fg.pairs(table, config=tmp_path / "swaps.toml")
    expected = audit(table, placebo="edit", margins={"score": 0.5})
    assert found.differences == expected.differences
    assert found.spec == expected.spec


# ---- saved and shown ----------------------------------------------------------------------------
@pytest.mark.parametrize("asked", [{}, {"margins": {"score": 0.5}, "placebo": "edit"}])
def test_counts_of_answers_give_what_the_answers_give(asked, tmp_path):
    table = study((4, 4), 9, 3, delta=-0.4, placebos=4, seed=3)
    whole = audit(table, **asked)
    part = np.random.default_rng(0).random(len(table)) < 0.4
    shards = [fg.count(table[part], **ASKED), fg.count(table[~part], **ASKED)]
    for i, shard in enumerate(shards):
        shard.save(tmp_path / f"{i}.cube.json")
    counts = fg.load(tmp_path / "0.cube.json") + fg.load(tmp_path / "1.cube.json")
    added = fg.pairs(counts, reference=WHITE, **asked)  # sums of scores differ in the last digit
    assert added.differences[0].value == pytest.approx(whole.differences[0].value, rel=1e-9)
    assert added.verdict == whole.verdict
    fg.count(table, **ASKED).save(tmp_path / "all.cube.json")
    again = fg.pairs(fg.load(tmp_path / "all.cube.json"), reference=WHITE, **asked)
    one, other = whole.to_dict(), again.to_dict()
    for name in one.keys() - {"created", "data", "statements"}:  # which name the source
        assert one[name] == other[name]
    assert one["data"] | {"source": "counts"} == other["data"]


def test_the_command_counts_answers_and_compares_the_counts(tmp_path):
    study((3, 3), 6, 2).to_csv(tmp_path / "answers.csv", index=False)
    cube = str(tmp_path / "answers.cube.json")
    columns = [f"--{name}={column}" for name, column in ASKED.items()]
    counted = CliRunner().invoke(
        main, ["count", str(tmp_path / "answers.csv"), *columns, "-o", cube]
    )
    assert (counted.exit_code, counted.output) == (0, "")
    of_rows, of_counts = (
        CliRunner().invoke(main, ["pairs", data, *asked, "--format", "json"])
        for data, asked in ((str(tmp_path / "answers.csv"), columns), (cube, []))
    )
    assert of_rows.exit_code == of_counts.exit_code != 2
    rows, counts = json.loads(of_rows.stdout), json.loads(of_counts.stdout)
    assert rows["differences"] == counts["differences"]
    assert rows["data"]["fingerprint"] == counts["data"]["fingerprint"] == fg.load(cube).digest


# ---- items that come in families: several made from one text are one cluster
ASKED_FAMILIES = {"item": "item", "variant": "name", "sensitive": "group", "score": "score",
         "reference": {"group": "a"}}  # fmt: skip


def study_families(seed=0, sizes=(8,) * 5, names=6, delta=0.0, spread=0.3):
    """Draw answers to items of a few CVs, by which groups differ; the mean is ``delta``."""
    rng = np.random.default_rng(seed)
    group, cv = np.repeat([0, 1], names), np.repeat(np.arange(len(sizes)), sizes)
    cells = (len(cv), 2 * names)
    y = rng.normal(0, 1, (len(cv), 1)) + rng.normal(0, 0.1, 2 * names) + delta * group
    y = y + rng.normal(0, spread, (len(sizes), 2))[cv][:, group] + rng.normal(0, 0.5, cells)
    item, name = np.indices(cells).reshape(2, -1)
    return pd.DataFrame({"item": item, "name": name, "group": np.array(["a", "b"])[group[name]],
                         "cv": [f"cv{k}" for k in cv[item]], "score": y.ravel()})  # fmt: skip


def difference(table, **asked):
    return fg.pairs(table, **(ASKED_FAMILIES | asked)).differences[0]


@pytest.mark.parametrize("sizes", [(8,) * 5, (16, 8, 8, 4, 4)])
def test_groups_that_differ_by_text_do_not_differ_by_chance(sizes):
    """At most 5% of studies without a difference; without families 24% and 34% of them."""
    differs = {"cv": 0, None: 0}
    for seed in range(30):
        table = study_families(seed, sizes)
        for family in differs:
            differs[family] += difference(table, family=family).verdict == "differs"
    assert differs["cv"] <= 5  # of 30 at 5%: 99 in 100 times
    assert differs[None] >= 2 * max(differs["cv"], 3)


def test_a_difference_is_found_and_its_value_is_that_of_the_items():
    table = study_families(delta=1.5)
    with_family, without = difference(table, family="cv"), difference(table)
    assert with_family.value == without.value
    assert with_family.verdict == without.verdict == "differs"
    assert with_family.high - with_family.low > without.high - without.low
    assert (with_family.families, with_family.items, without.families) == (5, 40, None)


def test_few_families_and_one_name_have_no_verdict():
    two = difference(study_families(sizes=(20, 20), delta=2), family="cv")
    assert (two.verdict, two.reason, two.low) == ("cannot tell", "few_items", None)
    assert "3 families of items" in two.says
    alone = difference(study_families(names=1), family="cv")
    assert alone.high - alone.low > 0
    assert alone.degrees_of_freedom == pytest.approx(4)


def test_an_item_of_two_families_and_a_missing_one_are_named():
    table = study_families()
    mixed = table.assign(cv=table.cv.where(table.index != 0, "another"))
    with pytest.raises(fg.SpecError, match="item '0' is in several families of 'cv'"):
        fg.pairs(mixed, family="cv", **ASKED_FAMILIES)
    lacking = fg.pairs(
        table.assign(cv=table.cv.where(table.cv != "cv0")), family="cv", **ASKED_FAMILIES
    )
    assert lacking.data.excluded == {"missing family": 96}
    with pytest.raises(fg.SpecError, match="no column 'text'"):
        fg.pairs(table, family="text", **ASKED_FAMILIES)


# ---- fg.pairs: what is wrong with answers is warned of, and nothing passes by their absence
ASKED_OF = {**ASKED, "reference": {"group": "White"}, "margins": {"score": 0.5}}


def answers(seed=1, delta=0.0, **design):
    table = study((6, 6), 25, 2, delta=delta, seed=seed, **design)
    return table.assign(score=(table.score + 5).clip(0.1).round(2))


def decisions(seed=1):
    table = answers(seed)
    refused = np.random.default_rng(seed).random(len(table)) < 0.3
    return table.assign(called=np.where(refused, "no", "yes")).drop(columns="score")


DECIDED = {**ASKED_OF, "score": None, "prediction": "called", "positive": "yes",
           "margins": {"selection_rate": 0.3}}  # fmt: skip


def audit_damage(table, **options):
    return fg.pairs(table, **{**ASKED_OF, **options})


def some(table, share, group="Black", seed=3):
    """Return the index of a share of the rows of a group."""
    own = table.index[table.group == group]
    return own[np.random.default_rng(seed).random(len(own)) < share]


@pytest.mark.parametrize("seed", range(5))
def test_ordinary_answers_draw_no_warning(seed):
    table = answers(seed, placebos=4)
    asked = {"placebo": "edit"}
    assert not audit_damage(table, **asked).diagnostics
    assert not fg.pairs(decisions(seed), **DECIDED).diagnostics


# ---- answers that one group lacks ---------------------------------------------------------------


def verdict(found):
    (each,) = found.differences
    return each.verdict, each.reason


LACKING = SwapVerdict.CANNOT_TELL, "missing_answers"


@pytest.mark.parametrize("absent", [False, True])
@pytest.mark.parametrize("which", ["low", "a fifth", "items", "one name"])
def test_nothing_is_equivalent_where_one_group_lacks_answers(which, absent):
    table = answers()
    black = table.group == "Black"
    lost = {
        "low": black & (table.score < 4.5),
        "a fifth": black & table.index.isin(some(table, 0.2)),
        "items": black & table.item.isin([f"cv{k}" for k in range(8)]),
        "one name": (table.name == "B00") & (table.item != "cv0"),
    }[which]
    damaged = table[~lost] if absent else table.assign(score=table.score.where(~lost))
    found = audit_damage(damaged)
    assert audit_damage(table).exit_code == 0
    assert verdict(found) == LACKING
    assert found.exit_code == 3
    text = " ".join(str(found).split())
    n = int(lost.sum())
    of = f"{n / 300:.1%}, {n} of 300{f', {n} of them without a row' if absent else ''}"
    assert f"Answers are missing more often under names of Black ({of}) than of White (0.0%" in text
    why = "but answers that are missing could move the difference beyond the margin"
    assert why in found.differences[0].says
    shares = {each.group: (each.n, each.absent) for each in found.answered}
    assert shares["Black"] == ((300 - n, n) if absent else (300, 0))


@pytest.mark.parametrize("seed", range(8))
def test_answers_that_are_missing_by_chance_withhold_a_pass_where_they_could_change_it(seed):
    """As rows without an outcome do in every other verb: whatever they are, it stands, or not."""
    table = answers(seed)
    rng = np.random.default_rng(seed)
    for share, expected in ((0.01, (SwapVerdict.EQUIVALENT, None)), (0.15, LACKING)):
        lost = rng.random(len(table)) < share
        for damaged in (table[~lost], table.assign(score=table.score.where(~lost))):
            found = audit_damage(damaged)
            assert verdict(found) == expected
            assert not found.differences[0].unequal
        assert "more often" not in str(audit_damage(table[~lost]))


def test_a_pass_holds_for_every_value_of_the_answers_that_are_missing():
    """Either the pass is withheld, or no answers in their place take it back."""
    table = decisions()
    for share in (0.01, 0.03, 0.06):
        lost = np.random.default_rng(3).random(len(table)) < share
        given = table.assign(called=table.called.where(~lost))
        asked = DECIDED | {"margins": {"selection_rate": 0.15}}
        passed = fg.pairs(given, **asked).verdict is SwapVerdict.EQUIVALENT
        for group, other in (("yes", "no"), ("no", "yes")):
            filled = np.where(table.group == "Black", group, other)
            worst = table.assign(called=table.called.where(~lost, filled))
            assert not passed or fg.pairs(worst, **asked).verdict is SwapVerdict.EQUIVALENT


# ---- decisions that may be none -----------------------------------------------------------------


UNCLEAR = SwapVerdict.CANNOT_TELL, "unclear_answers"


@pytest.mark.parametrize(
    ("value", "code", "why"), [("N/A", "undecided_outcomes", "is no decision, or an unknown one")]
)
def test_values_that_may_be_no_refusals_are_warned_of_and_nothing_is_equivalent(value, code, why):
    table = decisions()
    lost = some(table, 0.25)
    table.loc[lost, "called"] = value
    found = fg.pairs(table, **DECIDED)
    ((name, message),) = [(each.code, each.message) for each in found.diagnostics]
    assert (name, why in message) == (code, True)
    line = f"called = {{unknown = [{json.dumps(value)}]}}"
    assert f"--recode '{line}'" in message
    assert verdict(found) == UNCLEAR
    for mended in ({"recode": {"called": {"unknown": [value]}}}, {"unknown": [value]}):
        again = fg.pairs(table, **DECIDED | mended | {"margins": {"selection_rate": 0.2}})
        assert not again.diagnostics
        assert again.data.missing == len(lost)
        assert verdict(again) == LACKING


@pytest.mark.parametrize("code", [-1, 0, 999])
def test_codes_of_scores_that_were_not_given_leave_no_pass(code):
    """Answers without a number were written as -1, and counted as the lowest score."""
    table, wide = answers(), {"margins": {"score": 900}}
    table["score"] = table.score.clip(2)
    table.loc[some(table, 0.05), "score"] = code
    found, accepted = (
        audit_damage(table, **wide, config={"accept": of}) for of in ([], ["coded_numbers:score"])
    )
    ((name, message),) = [(each.code, each.message) for each in found.diagnostics]
    assert name == "coded_numbers"
    assert f"--recode 'score = {{unknown = [{code}]}}'" in message
    assert (verdict(found), verdict(accepted)[0]) == (UNCLEAR, SwapVerdict.EQUIVALENT)
    assert not audit_damage(table, **wide, recode={"score": {"unknown": [code]}}).diagnostics
