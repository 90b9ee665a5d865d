"""The dataclasses of fairgauge behave as those of the standard library."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from fairgauge.start import records


def _made(decorator: Any) -> tuple[Any, Any]:
    @decorator(frozen=True, slots=True)
    class Value:
        name: str
        size: float = 1.0
        source: str = records.field(default="", compare=False)
        parts: list[int] = records.field(default_factory=list, repr=False, hash=False)

    @decorator(kw_only=True)
    class Sum:
        total: int
        twice: int = 0

        def __post_init__(self) -> None:
            self.twice = 2 * self.total

    return Value, Sum


OWN, STANDARD = _made(records.dataclass), _made(dataclasses.dataclass)
Pickled = OWN[0]
Pickled.__qualname__ = "Pickled"


def _answers(of: tuple[Any, Any]) -> list[Any]:
    value, total = of
    some = value("a", parts=[1])
    return [
        some == value("a", source="other", parts=[1]), some == value("a", 2.0), some == "a",
        hash(some), hash(value("a", source="other")) == hash(some),
        repr(dataclasses.replace(some, size=3.0)).rpartition(".")[2],
        value("a").parts is value("a").parts, dataclasses.astuple(some),
        repr(total(total=2)).rpartition(".")[2], total.__hash__,
    ]  # fmt: skip


def test_values_compare_and_show_as_standard_ones_do() -> None:
    assert _answers(OWN) == _answers(STANDARD)


def test_a_record_is_replaced_as_the_standard_library_does() -> None:
    value, total = OWN[0]("a", source="of", parts=[1]), OWN[1](total=2)
    for some, changed in ((value, {"size": 3.0, "name": "b"}), (value, {}), (total, {"total": 5})):
        made, standard = (of(some, **changed) for of in (records.replace, dataclasses.replace))
        assert dataclasses.asdict(made) == dataclasses.asdict(standard)
        assert type(made) is type(some)
    with pytest.raises(TypeError, match="nobody"):
        records.replace(value, nobody=1)
    derived = dataclasses.make_dataclass("Derived", ["more"], bases=(OWN[1],), kw_only=True)
    assert records.replace(derived(total=2, more=3), total=5).more == 3


@pytest.mark.parametrize("kinds", [OWN, STANDARD], ids=["own", "standard"])
def test_frozen_values_stay_as_they_are(kinds: tuple[Any, Any]) -> None:
    some = kinds[0]("a")
    with pytest.raises(dataclasses.FrozenInstanceError, match="name"):
        some.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError, match="name"):
        del some.name
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument"):
        kinds[0]()


def test_values_are_copied_and_pickled() -> None:
    some = Pickled("a", 2.0, parts=[1])
    assert copy.copy(some) == pickle.loads(pickle.dumps(some)) == some
