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


def test_counts_of_several_strata_are_saved_merged_and_audited(tmp_path):
    first, second = (fg.count(rows, **ASKED, strata=["product", fg.cut("dti", [36])])
                     for rows in (ROWS[:30], ROWS[30:]))  # fmt: skip
    merged = first + second
    merged.save(tmp_path / "day.cube.json")
    loaded = fg.load(tmp_path / "day.cube.json")
    whole = fg.audit(ROWS, **ASKED, strata=["product", fg.cut("dti", [36])])
    assert fg.audit(loaded).estimates == whole.estimates
    assert fg.audit(loaded).spec == whole.spec
