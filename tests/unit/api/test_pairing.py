"""fg.pairs: bias or instability, errors of bad tables, and what must not change a number."""

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, t, ttest_1samp
from tests.cases import FEW_EXAMPLES

import fairgauge as fg
from fairgauge.cli import main
from fairgauge.results.name_swaps import SwapReason, SwapVerdict
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
    """Student's p of 8 and 10 discordant items of 50; McNemar's mid-p is .648."""
    decisions = np.repeat([[1, 0], [0, 1], [1, 1]], [8, 10, 32], axis=0)
    table = study((1, 1), 50, 1).sort_values(["group", "item"]).assign(score=decisions.T.ravel())
    (only,) = audit(table).differences
    assert only.p_value == pytest.approx(ttest_1samp(decisions[:, 0] - decisions[:, 1], 0).pvalue)


def test_students_p_of_one_name_a_side_errs_as_often_as_stated():
    """Over every study of names that do not differ; McNemar's mid-p errs in at most 4.9%."""
    errs: dict[str, list[float]] = {"student": [], "mid-p": []}
    for items, moved in product((10, 20, 30, 50, 100, 200), (0.05, 0.1, 0.3, 0.5)):
        every = [(b, d) for d in range(1, items + 1) for b in range(d + 1)]
        better, discordant = np.array(every, dtype=float).T
        gap = (2 * better - discordant) / items
        spread = (discordant - items * gap**2) / (items - 1)
        chance = binom.pmf(discordant, items, moved) * binom.pmf(better, discordant, 0.5)
        errors = np.sqrt(np.maximum(spread, 1e-300) / items)
        p = np.where(spread > 1e-12, 2 * t.sf(np.abs(gap) / errors, items - 1), 1.0)
        less = np.minimum(better, discordant - better)
        mid = 2 * binom.cdf(less, discordant, 0.5) - binom.pmf(less, discordant, 0.5)
        errs["student"].append(chance[p <= 0.05].sum())
        errs["mid-p"].append(chance[mid <= 0.05].sum())
    worst = [round(max(each), 3) for each in errs.values()]
    assert worst == [0.054, 0.049]


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
    "names": st.tuples(st.integers(1, 4), st.integers(1, 4)),
    "items": st.integers(2, 6),
    "runs": st.integers(1, 3),
    "placebos": st.integers(0, 4),
    "seed": st.integers(0, 1000),
}


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
