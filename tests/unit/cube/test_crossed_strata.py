"""Several columns of strata are crossed, alike in every verb."""

import polars as pl

import fairgauge as fg

ROWS = pl.DataFrame(
    {
        "sex": ["F", "M"] * 40,
        "product": ["car", "car", "home", "home"] * 20,
        "dti": [30, 40, 30, 40, 50] * 16,
        "approved": [1, 0, 1, 1, 0, 1, 0, 0] * 10,
    }
)
ASKED = {"label": "approved", "sensitive": "sex", "metrics": "base_rate"}


def test_two_columns_are_their_combinations():
    joined = ROWS.with_columns(both=pl.col("product") + " & " + pl.col("dti").cast(pl.String))
    by_two = fg.audit(ROWS, **ASKED, strata=["product", "dti"])
    by_one = fg.audit(joined, **ASKED, strata="both")
    assert [e.value for e in by_two.estimates] == [e.value for e in by_one.estimates]
    assert {e.stratum for e in by_two.estimates} == {e.stratum for e in by_one.estimates}
    assert by_two.spec["strata"] == ["product", "dti"]
    assert by_one.spec["strata"] == "both"


def test_strata_are_cut_as_sensitive_features_are():
    coded = ROWS.with_columns(
        high=pl.when(pl.col("dti") > 36).then(pl.lit("b")).otherwise(pl.lit("a"))
    )
    cut = fg.audit(ROWS, **ASKED, strata=fg.cut("dti", [36]))
    coded = fg.audit(coded, **ASKED, strata="high")
    assert [e.value for e in cut.estimates] == [e.value for e in coded.estimates]
    assert {e.stratum for e in cut.estimates} == {None, "(-inf, 36]", "(36, inf)"}


def test_counts_of_several_strata_are_saved_merged_and_audited(tmp_path):
    first, second = (fg.count(rows, **ASKED, strata=["product", fg.cut("dti", [36])])
                     for rows in (ROWS[:30], ROWS[30:]))  # fmt: skip
    merged = first + second
    merged.save(tmp_path / "day.cube.json")
    loaded = fg.load(tmp_path / "day.cube.json")
    whole = fg.audit(ROWS, **ASKED, strata=["product", fg.cut("dti", [36])])
    assert fg.audit(loaded).estimates == whole.estimates
    assert fg.audit(loaded).spec == whole.spec
