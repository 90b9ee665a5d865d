"""The parts of the catalogue: sums of cells, divisions, distances, and finding rows by name."""

import math
from typing import Any

import numpy as np

from fairgauge.catalogue.cells import ALL, FN, FP, TP, divide, subtract
from fairgauge.catalogue.lookup import BUILT_IN
from fairgauge.enums import Profile

DOCUMENTED, CLARIFY = Profile.DOCUMENTED, Profile.CLARIFY


def array(*numbers: float) -> Any:
    return np.array(numbers, dtype=float)


def test_a_part_and_its_whole() -> None:
    assert TP.within(TP + FN)
    assert not TP.within(FN + FP)
    assert not (2 * TP).within(ALL)
    assert FN.disjoint(FP)
    assert not TP.disjoint(TP + FN)


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


def test_asking_for_several_gives_each_once_in_order() -> None:
    found = [m.name for m in BUILT_IN.expand(["DI", "AD", "clarify", "AD", "accuracy"])]
    assert found[:2] == ["DI", "AD"]
    assert len(found) == len(set(found))
    assert found[-2:] == ["accuracy.difference", "accuracy.ratio"]
