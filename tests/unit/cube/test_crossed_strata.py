"""Several columns of strata are crossed, alike in every verb."""

import polars as pl
import pytest

import fairgauge as fg
from fairgauge.errors import CubeError, SpecError

ROWS = pl.DataFrame(
    {
        "sex": ["F", "M"] * 40,
        "product": ["car", "car", "home", "home"] * 20,
        "dti": [30, 40, 30, 40, 50] * 16,
        "approved": [1, 0, 1, 1, 0, 1, 0, 0] * 10,
    }
)
ASKED = {"label": "approved", "sensitive": "sex", "metrics": "base_rate"}


def adjusted(**options):
    report = fg.audit(ROWS, **ASKED, **options)
    return [
        (e.metric, e.scope.stratum, e.value) for e in report.estimates if e.scope.kind != "overall"
    ]


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


def test_a_list_of_values_is_an_array_and_a_short_list_of_names_is_columns():
    by_values = fg.audit(ROWS, **ASKED, strata=ROWS["product"].to_list())
    by_name = fg.audit(ROWS, **ASKED, strata=["product"])
    assert [e.value for e in by_values.estimates] == [e.value for e in by_name.estimates]


def test_counts_of_several_strata_are_saved_merged_and_audited(tmp_path):
    first, second = (fg.count(rows, **ASKED, strata=["product", fg.cut("dti", [36])])
                     for rows in (ROWS[:30], ROWS[30:]))  # fmt: skip
    merged = first + second
    merged.save(tmp_path / "day.cube.json")
    loaded = fg.load(tmp_path / "day.cube.json")
    whole = fg.audit(ROWS, **ASKED, strata=["product", fg.cut("dti", [36])])
    assert fg.audit(loaded).estimates == whole.estimates
    assert fg.audit(loaded).spec == whole.spec


def test_too_many_columns_and_sets_of_values_are_refused():
    with pytest.raises(SpecError, match="at most 6 columns"):
        fg.audit(
            ROWS, **ASKED, strata=[fg.cut("dti", [36])] + [{"column": f"c{i}"} for i in range(6)]
        )
    with pytest.raises(SpecError, match="put values together with recode"):
        fg.audit(ROWS, **ASKED, strata={"column": "product", "values": ["car", "home"]})
    with pytest.raises(SpecError, match=r"strata\[1\]: no column 'dtj'.*'dti'"):
        fg.audit(ROWS, **ASKED, strata=["product", "dtj"])


def test_counts_without_a_stratum_state_what_they_hold():
    cube = fg.count(ROWS, **ASKED, strata="product")
    with pytest.raises(CubeError, match="do not hold the stratum 'dti'"):
        fg.audit(cube, strata=["product", "dti"])
    with pytest.raises(CubeError, match="do not hold 'dti', but 'sex', 'product'; count"):
        fg.why(cube, strata="dti")
