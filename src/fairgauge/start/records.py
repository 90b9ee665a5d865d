"""Dataclasses whose methods are compiled when they are first called.

The decorator of the standard library compiles up to six functions for every class at import. An
audit imports more than 250 classes and uses half of them: it was a sixth of a cold start.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, Field, asdict, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

__all__ = ["MISSING", "Field", "asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def replace(record, /, **changes):
        """Return a copy with other values, as `dataclasses.replace` does at ten times the cost."""
        own = vars(type(record)).get("__replace__")  # not that of a base
        return own(record, **changes) if own else dataclasses.replace(record, **changes)

    def dataclass(kind=None, /, *, frozen=False, eq=True, repr=True, **options):  # noqa: A002
        """Decorate a class as `dataclasses.dataclass` does."""
        if kind is None:
            return lambda kind: dataclass(kind, frozen=frozen, eq=eq, repr=repr, **options)
        own = vars(kind)
        if eq and not frozen and "__hash__" not in own:
            kind.__hash__ = None
        wanted = {
            "__init__": True, "__replace__": True, "__eq__": eq, "__hash__": eq and frozen,
        }  # fmt: skip
        compiled = [name for name, is_wanted in wanted.items() if is_wanted and name not in own]
        if repr and kind.__repr__ is object.__repr__:
            kind.__repr__ = _show_fields
        # without a docstring, the standard decorator would compose a signature
        kind.__doc__ = kind.__doc__ or kind.__name__
        # of those with bases, the standard decorator compares what is frozen
        options["frozen"] = frozen and hasattr(kind, "__dataclass_params__")
        # for each annotation that is a text, it would search for the classes that make no field
        types = kind.__annotations__
        kind.__annotations__ = {k: t if "ClassVar" in str(t) else object for k, t in types.items()}
        kind = dataclasses.dataclass(init=False, repr=False, eq=False, **options)(kind)
        kind.__dataclass_params__.frozen = frozen
        kind.__annotations__ = types
        kind.__dataclass_params__.frozen = frozen
        for name, type_ in types.items():
            kind.__dataclass_fields__[name].type = type_
        for name in compiled:
            setattr(kind, name, _compiled_when_called(kind, name, frozen))
        if frozen:
            kind.__setattr__ = kind.__delattr__ = _refuse_assignment
            kind.__getstate__ = lambda self: [getattr(self, each.name) for each in fields(self)]
            kind.__setstate__ = _restore_fields
        return kind


def _compiled_when_called(kind: Any, name: str, frozen: bool) -> object:
    def first(self: object, *arguments: object, **keywords: object) -> Any:
        source, values = _SOURCES[name](kind, frozen)
        exec(source, values)  # noqa: S102 - made of the names of fields
        values[name].__qualname__ = f"{kind.__qualname__}.{name}"
        setattr(kind, name, values[name])
        return values[name](self, *arguments, **keywords)

    return first


def _initial(kind: Any, frozen: bool) -> tuple[str, dict[str, Any]]:
    values: dict[str, object] = {"_set": object.__setattr__, "_absent": MISSING}
    places: list[str] = ["self"]
    keywords: list[str] = []
    body = ["pass"]
    for each in fields(kind):
        name = value = parameter = each.name
        if each.default_factory is not MISSING:
            values[f"_make_{name}"], parameter = each.default_factory, f"{name}=_absent"
            value = f"_make_{name}() if {name} is _absent else {name}"
        elif each.default is not MISSING:
            values[f"_default_{name}"], parameter = each.default, f"{name}=_default_{name}"
        (keywords if each.kw_only else places).append(parameter)
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(kind, "__post_init__"):
        body.append("self.__post_init__()")
    signature = ", ".join([*places, *(["*"] if keywords else []), *keywords])
    return f"def __init__({signature}):\n " + "\n ".join(body), values


def _replacement(kind: Any, _frozen: bool) -> tuple[str, dict[str, Any]]:
    names = [each.name for each in fields(kind)]
    asked = ", ".join(f"{name}=_absent" for name in names)
    given = ", ".join(f"{name}=self.{name} if {name} is _absent else {name}" for name in names)
    asked = f"*, {asked}" if names else ""
    source = f"def __replace__(self, {asked}):\n return self.__class__({given})"
    return source, {"_absent": MISSING}


def _comparison(kind: Any, _frozen: bool) -> tuple[str, dict[str, Any]]:
    compared = [each for each in fields(kind) if each.compare]
    mine, others = ("".join(f"{of}.{f.name}, " for f in compared) for of in ("self", "other"))
    hashed = "".join(f"self.{f.name}, " for f in compared if f.hash is not False)
    return (
        f"""
def __eq__(self, other):
    return ({mine}) == ({others}) if other.__class__ is self.__class__ else NotImplemented
def __hash__(self):
    return hash(({hashed}))
""",
        {},
    )


_SOURCES = {
    "__init__": _initial, "__replace__": _replacement, "__eq__": _comparison,
    "__hash__": _comparison,
}  # fmt: skip
"""What returns the source of a method, and the values that it names."""


def _show_fields(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_assignment(_self: object, name: str, *_value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _restore_fields(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
