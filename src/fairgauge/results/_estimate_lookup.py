"""Looking up one estimate of a report: ``report["RD", "sex", "Female", {"threshold": 0.3}]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from fairgauge.enums import ClassKind, ScopeKind
from fairgauge.errors import alternatives, listing, nearest, quote
from fairgauge.results.scopes import Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairgauge.catalogue.lookup import Catalogue
    from fairgauge.results.estimates import Estimate

Choice: TypeAlias = Mapping[str, object]
Key: TypeAlias = "str | tuple[object, ...]"
"""A metric; a feature, by its name or its columns; a group, by its name or its values; a scope."""

_SUBJECT = 3
_MOST_NAMED = 6
_LONGEST = 200
_CHOICES: dict[str, Callable[[Estimate], object]] = {
    "scope": lambda each: each.scope.kind,
    "stratum": lambda each: each.stratum,
    "class_scope": lambda each: each.class_scope.kind,
    "class": lambda each: each.class_,
    "average": lambda each: each.class_scope.average,
    "threshold": lambda each: each.threshold,
}
"""What distinguishes estimates of one metric and group, by the names of the JSON format."""
_OF_SCOPE = {"scope", "stratum"}
_OF_CLASS = {"class_scope", "class", "average"}


def find_estimate(estimates: Sequence[Estimate], key: Key, catalogue: Catalogue) -> Estimate:
    """Return the estimate of a report that a key names; see `Report.__getitem__`."""
    parts = (key,) if isinstance(key, str) else tuple(key)
    subject, choice = _read(parts)
    try:
        metric = catalogue.metric(str(parts[0])).name
    except LookupError as error:
        raise KeyError(str(error)) from None
    subject = (metric, *subject[1:])
    named = _named([e for e in estimates if e.metric == metric], subject)
    matching = _preferred([each for each in named if _is(each, choice)], choice)
    if len(matching) == 1:
        return matching[0]
    asked = ", ".join(map(str, (metric, *parts[1:])))
    if matching:
        raise KeyError(
            f"{len(matching)} estimates match {quote(asked)}; choose one: {_keys(matching, choice)}"
        )
    raise KeyError(f"no estimate {quote(asked)}.{_instead(estimates, subject, named, choice)}")


def _named(estimates: Sequence[Estimate], subject: Sequence[object]) -> list[Estimate]:
    """Return the estimates of a feature and a group: of these names, or else of the values."""
    exactly = [e for e in estimates if _subject(e)[: len(subject)] == tuple(subject)]
    if exactly or len(subject) == 1:
        return exactly
    return [
        e
        for e in estimates
        if _is_feature(e, subject[1]) and (len(subject) < _SUBJECT or _is_group(e, subject[2]))
    ]


def _is_feature(each: Estimate, asked: object) -> bool:
    if each.feature == asked or each.feature_id is None:
        return each.feature == asked
    columns = tuple(asked) if isinstance(asked, (list, tuple)) else None
    return each.feature_id.columns == columns or each.feature_id.name() == asked


def _is_group(each: Estimate, asked: object) -> bool:
    if each.group == asked or each.group_id is None:
        return each.group == asked
    return each.group_id.has_values(asked)


def _read(parts: tuple[object, ...]) -> tuple[tuple[object, ...], Choice]:
    """Return what names the subject, and what chooses among its estimates."""
    choice = dict(parts[-1]) if isinstance(parts[-1], Mapping) else {}
    for name in choice:
        if name not in _CHOICES:
            allowed = ", ".join(_CHOICES)
            raise KeyError(
                f"cannot choose by {quote(name)}.{nearest(name, _CHOICES)} Allowed: {allowed}"
            )
    plain = [part for part in parts if not isinstance(part, Mapping)]
    scope = plain[_SUBJECT] if len(plain) > _SUBJECT else None
    if isinstance(scope, Scope):
        choice |= {"scope": scope.kind, "stratum": scope.stratum}
    elif scope is not None:
        choice["stratum"] = scope
    return tuple(plain[:_SUBJECT]), choice


def _subject(each: Estimate) -> tuple[object, ...]:
    return (each.metric, each.feature, each.group)


def _is(each: Estimate, choice: Choice) -> bool:
    return all(_CHOICES[name](each) == value for name, value in choice.items())


def _preferred(matching: list[Estimate], choice: Choice) -> list[Estimate]:
    """Return the estimates of all rows and of no class, where nothing else is chosen."""
    if _OF_SCOPE.isdisjoint(choice):
        matching = [each for each in matching if each.scope.kind is not ScopeKind.STRATUM]
        matching = _first(matching, "scope", ScopeKind.OVERALL)
    if _OF_CLASS.isdisjoint(choice):
        matching = _first(matching, "class_scope", ClassKind.NONE)
    if "class_scope" not in choice:  # the worst class has its name too
        matching = (
            _first(matching, "class_scope", ClassKind.CLASS) if "class" in choice else matching
        )
    return matching


def _first(matching: list[Estimate], name: str, value: object) -> list[Estimate]:
    return [each for each in matching if _CHOICES[name](each) == value] or matching


def _keys(matching: Sequence[Estimate], choice: Choice) -> str:
    """Return the keys of some estimates, with no more than distinguishes them."""
    parts = [_parts(each) for each in matching]
    differing = [i for i, of in enumerate(zip(*parts, strict=True)) if len(set(of)) > 1]
    keys = []
    for each, of in zip(matching[:_MOST_NAMED], parts, strict=False):
        last = dict(choice) | dict(of[i] for i in differing)
        key = [*_subject(each), *([last] if last else [])]
        text = ", ".join(map(repr, key))
        keys.append(f"[{text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}]")
    more = len(matching) - len(keys)
    return f"{', '.join(keys)} and {more} more" if more else alternatives(keys)


def _parts(each: Estimate) -> tuple[tuple[str, object], ...]:
    """Return the shortest choice of the scope, the class and the threshold of an estimate."""
    scope, of_class = each.scope, each.class_scope
    of_rows = ("scope", str(scope.kind)) if scope.stratum is None else ("stratum", scope.stratum)
    of_classes: tuple[str, object] = ("class_scope", str(of_class.kind))
    if of_class.kind in (ClassKind.CLASS, ClassKind.SELECTION):
        of_classes = ("class", of_class.name)
    elif of_class.average is not None:
        of_classes = ("average", str(of_class.average))
    return of_rows, of_classes, ("threshold", each.threshold)


def _instead(
    estimates: Sequence[Estimate],
    subject: tuple[object, ...],
    named: Sequence[Estimate],
    choice: Choice,
) -> str:
    """Return what there is instead of what was asked for."""
    for name, value in choice.items():
        known = list(dict.fromkeys(_CHOICES[name](e) for e in named))
        if known and value not in known:
            texts = [str(each) for each in known if each is not None]
            hint = nearest(value, texts) if isinstance(value, str) else ""
            has = f"the {name} {listing(texts, _MOST_NAMED)}" if texts else f"no {name}"
            return f"{hint} It has {has}"
    same = [e for e in estimates if _subject(e)[:2] == subject[:2]]
    if same and len(subject) == _SUBJECT:
        groups = list(dict.fromkeys(str(each.group) for each in same))
        return f"{nearest(str(subject[-1]), groups)} Its groups: {listing(groups, 5)}"
    metrics = list(dict.fromkeys(each.metric for each in estimates))
    if subject[0] not in metrics:
        more = f" Its metrics: {listing(metrics, _MOST_NAMED)}" if metrics else ""
        return f" The report does not have the metric (metrics={[subject[0]]}).{more}"
    known = [", ".join(map(str, _subject(each))) for each in estimates]
    return nearest(", ".join(map(str, subject)), known)
