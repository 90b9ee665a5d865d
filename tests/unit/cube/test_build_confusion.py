"""`fg.confusion`: a cube of counts that are already known."""

from typing import Any

import pandas as pd
import pytest

import fairgauge as fg

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


def test_cubes_of_confusion_matrices_add_up() -> None:
    half = {g: {c: n // 2 for c, n in counts.items()} for g, counts in SEX.items()}
    rest = {g: {c: n - n // 2 for c, n in counts.items()} for g, counts in SEX.items()}
    assert fg.confusion("sex", half) + fg.confusion("sex", rest) == fg.confusion("sex", SEX)
    with pytest.raises(fg.CubeError, match=r"sensitive is .*sex.* in one and .*race"):
        fg.confusion("sex", SEX) + fg.confusion("race", SEX)


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
