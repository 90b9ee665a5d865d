"""Features: intervals with closed left edges, and probabilities as programs write them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import fairgauge as fg


def table(ages):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": pd.Series(ages, dtype="float64")})
    frame["y"] = np.resize([0, 1, 1], len(ages))
    frame["p"] = np.resize([1, 0, 1, 1], len(ages))
    frame["x"] = rng.random(len(ages))
    older = frame.age >= 40
    frame["older"] = older.map({True: "[40, inf)", False: "[-inf, 40)"}).where(frame.age.notna())
    return frame


def test_both_edges_in_a_cube_are_two_questions():
    frame = table([39, 40, 41, 40] * 3)
    left, right = (
        fg.count(frame, label="y", sensitive=fg.cut("age", 40, closed=edge))
        for edge in ("left", "right")
    )
    assert left != right
    with pytest.raises(fg.CubeError, match=r"^these cubes|sensitive is"):
        left + right


def test_a_column_of_known_groups_has_any_name():
    asked = fg.probabilities(F="p_f", M="p_m", known="unknown").to_dict()
    assert asked["known"] == "unknown"


@pytest.mark.parametrize(("digits", "tolerance"), [(8, None), (4, 1e-3), (3, 5e-3)])
def test_probabilities_as_programs_print_them_are_counted(digits, tolerance, tmp_path):
    """The CFPB prints eight decimals, whose sums are .99999998 to 1.00000002; others print fewer.

    The estimates are those of exact probabilities, as far as rounding goes.
    """
    by_group = {
        "White": "pr_white", "Black": "pr_black", "Hispanic": "pr_hispanic",
        "Asian or Pacific Islander": "pr_api", "American Indian or Alaska Native": "pr_aian",
        "several or other": "pr_mult_other",
    }  # fmt: skip
    rng = np.random.default_rng(5)
    p = rng.dirichlet([0.6, 0.2, 0.3, 0.1, 0.05, 0.05], 3_000)
    exact = pl.DataFrame(dict(zip(by_group.values(), p.T, strict=True)))
    exact = exact.with_columns(chosen=pl.Series(rng.integers(0, 2, 3_000)))
    printed = tmp_path / "printed.csv"
    exact.with_columns(pl.col(list(by_group.values())).round(digits)).write_csv(printed)
    asked = {"prediction": "chosen", "positive": 1, "metrics": "selection_rate.difference"}
    if tolerance:
        race = fg.probabilities(by_group)
        with pytest.raises(fg.SpecError, match=r"print set tolerance .*; tolerance=0\.001'"):
            fg.audit(printed, sensitive={"race": race}, **asked)
        percent = exact.with_columns(pl.col(list(by_group.values())) * 100)
        with pytest.raises(fg.SpecError, match="divide percentages by 100"):
            fg.audit(percent, sensitive={"race": race}, **asked)
        with pytest.raises(fg.DataError, match=r"group, name them so \(--probabilities"):
            fg.audit(exact, sensitive="pr_black", **asked)
    more = {"tolerance": tolerance} if tolerance else {}
    race = fg.probabilities(by_group, **more)
    report = fg.audit(printed, sensitive={"race": race}, **asked)
    (note,) = [each for each in report.diagnostics if each.code == "rounded_probabilities"]
    assert 0 < note["rows"] < 3_000
    of_exact = fg.audit(exact, sensitive={"race": race}, **asked)
    values = [
        [e.value for e in each.estimates if e.value is not None] for each in (report, of_exact)
    ]
    assert values[0] == pytest.approx(values[1], abs=20 * 10.0**-digits)
