"""The parts of the catalogue: sums of cells, divisions, distances, and finding rows by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fairgauge.catalogue.cells import ALL, FN, FP, TN, TP, Cells, divide, subtract
from fairgauge.catalogue.distributions import DISTANCES
from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.enums import Profile

DOCUMENTED, CLARIFY = Profile.DOCUMENTED, Profile.CLARIFY


def array(*numbers: float) -> Any:
    return np.array(numbers, dtype=float)


def test_sums_of_cells_know_what_they_need() -> None:
    assert (TP + FN).needs == {"label"}
    assert (TP + FP).needs == {"prediction"}
    assert TP.needs == {"label", "prediction"}
    assert ALL.needs == set()


def test_a_part_and_its_whole() -> None:
    assert TP.within(TP + FN)
    assert not TP.within(FN + FP)
    assert not (2 * TP).within(ALL)
    assert FN.disjoint(FP)
    assert not TP.disjoint(TP + FN)


def test_sums_of_cells_count() -> None:
    counts = np.array([[1.0, 2.0, 4.0, 8.0], [0.0, 0.0, 0.0, 0.0]])
    assert (TP + TN).count(counts).tolist() == [9, 0]
    assert (2 * FP + FN).count(counts).tolist() == [8, 0]
    assert Cells().count(counts).tolist() == [0, 0]


def test_division_by_zero() -> None:
    over, under = array(1, -1, 0, 3), array(0, 0, 0, 2)
    found = divide(over, under, DOCUMENTED)
    assert found[:2].tolist() == [math.inf, -math.inf]
    assert math.isnan(found[2])
    assert found[3] == 1.5
    assert divide(over, under, CLARIFY).tolist() == [math.inf, -math.inf, 0, 1.5]


def test_infinity_less_infinity() -> None:
    left, right = array(math.inf, math.inf, -math.inf, 1), array(math.inf, 1, -math.inf, 3)
    found = subtract(left, right, DOCUMENTED)
    assert math.isnan(found[0])
    assert math.isnan(found[2])
    assert subtract(left, right, CLARIFY).tolist() == [0, math.inf, 0, -2]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("kl", 0.8 * math.log(8 / 3) + 0.2 * math.log(2 / 7)),
        ("js", 0.1325054509170478),
        ("lp", math.sqrt(0.5)),
        ("tvd", 0.5),
        ("ks", 0.5),
    ],
)
def test_distances(by: Any, expected: float) -> None:
    reference, group = np.array([[8.0, 2.0]]), np.array([[3.0, 7.0]])
    for profile in Profile:
        (found,) = DISTANCES[by].between(reference, group, profile)
        assert found == pytest.approx(expected, rel=1e-12)
    empty = np.zeros((1, 2))
    assert math.isnan(DISTANCES[by].between(reference, empty, DOCUMENTED)[0])
    assert math.isnan(DISTANCES[by].between(empty, group, CLARIFY)[0])


def test_asking_for_several_gives_each_once_in_order() -> None:
    found = [m.name for m in BUILT_IN.expand(["DI", "AD", "clarify", "AD", "accuracy"])]
    assert found[:2] == ["DI", "AD"]
    assert len(found) == len(set(found))
    assert found[-2:] == ["accuracy.difference", "accuracy.ratio"]
