"""A user's own metrics in texts and files: defined by their cells, or named by an import path.

Only a command imports what a file names, and only of a specification file that its user allows to
(``--allow-code``): whatever else is read may be a stranger's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from fairgauge.catalogue.across import Spread
from fairgauge.catalogue.cells import Cells
from fairgauge.catalogue.comparisons import Contrast, Metric
from fairgauge.catalogue.own import quotient, rate
from fairgauge.catalogue.statistics import Quotient, Rate, Statistic
from fairgauge.errors import Problem, SpecError, nearest, quote, shown

_IMPORT_PATH = re.compile(
    r"(?P<module>[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)(\.(?P<by>\w+))?"
)
_TERM = re.compile(r"\s*((?P<times>\d{1,6})\s*\*?\s*)?(?P<cell>TP|FP|FN|TN|n)\s*")
KEYS = ("name", "of", "among", "over", "under", "better", "says", "cite", "compared")
"""What a file states of a metric of one's own."""
ALLOW = "--allow-code"
"""The option that lets a specification file name code."""


class NotAMetric(LookupError):  # noqa: N818 - named for what is wrong
    """Something else stands where a metric is asked for."""


def metric_or_name(asked: object) -> str | Statistic | Metric:
    """Return a metric as it is, what cells or an import path define, or the name of one.

    ``package.module:name`` is a metric in a module, ``package.module:name.ratio`` what compares it.
    The program has imported the module before: a name alone imports nothing.

    Raises
    ------
    LookupError
        The module is not imported, or has no such metric; or it is no name at all.
    """
    if isinstance(asked, (Statistic, Metric)):
        return asked
    if isinstance(asked, Mapping):
        return _defined(asked)
    if not isinstance(asked, str):
        wrap = "; make it one: fairgauge.statistic(...)" if callable(asked) else ""
        raise NotAMetric(f"must be a metric or the name of one, not {shown(asked)}{wrap}")
    found = _IMPORT_PATH.fullmatch(asked)
    if not found:
        return asked
    value = _found(found["module"], found["name"])
    if not found["by"]:
        return value
    if not isinstance(value, Statistic):
        raise NotAMetric(f"{quote(asked)}: {value.name} is itself a comparison")
    return value.compared(found["by"])


def definition(row: Statistic | Metric) -> dict[str, Any] | None:
    """Return a rate or a quotient of a user, or a comparison of one, as a file states it.

    There is none of other functions of cells.

    >>> from fairgauge.catalogue.cells import FN, TP
    >>> missed = rate("missed", of=FN, among=TP + FN, better="lower").compared("ratio")
    >>> {key: value for key, value in definition(missed).items() if key in ("of", "compared")}
    {'of': 'FN', 'compared': 'ratio'}
    >>> metric_or_name(definition(missed)) == missed
    True
    """
    of = row.of if isinstance(row, (Contrast, Spread)) else row
    if isinstance(of, Rate):
        sums = {"of": str(of.of), "among": str(of.among)}
    elif isinstance(of, Quotient):
        sums = {"over": str(of.over), "under": str(of.under)}
    else:
        return None
    about: dict[str, Any] = {"better": str(of.better), "says": of.says, "cite": list(of.cite)}
    by = {"compared": row.by} if isinstance(row, (Contrast, Spread)) else {}
    return {"name": of.name, **sums, **about, **by}


def import_paths(names: Iterable[object]) -> list[str]:
    """Return the import paths in names of metrics and texts of rules, each once.

    >>> import_paths(["AD", "house.metrics:missed.ratio <= 1.25", {"name": "mine"}])
    ['house.metrics:missed.ratio']
    """
    texts = (each for each in names if isinstance(each, str))
    return list(dict.fromkeys(found[0] for each in texts for found in _IMPORT_PATH.finditer(each)))


def not_imported(paths: Iterable[str]) -> list[str]:
    """Return the modules of import paths that the program has not imported, each once."""
    modules = dict.fromkeys(path.partition(":")[0] for path in paths)
    return [module for module in modules if module not in sys.modules]


def import_beside(module: str, folder: Path) -> None:
    """Import a module of a folder, which need not be on the Python path.

    Raises
    ------
    SpecError
        The folder has no such module, or it cannot be imported.
    """
    where = str(folder.resolve())
    if PathFinder.find_spec(module.partition(".")[0], [where]) is None:
        message = f"allows the modules beside the specification, and {module} is not in {folder}"
        raise SpecError(Problem(ALLOW, message))
    sys.path.insert(0, where)
    try:
        import_module(module)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise SpecError(Problem(ALLOW, f"cannot import {quote(module)} ({reason})")) from error
    finally:
        sys.path.remove(where)


def _found(module: str, name: str) -> Statistic | Metric:
    holder = sys.modules.get(module)
    if holder is None:
        raise LookupError(
            f"{quote(f'{module}:{name}')} is code, and nothing is imported because a file or a "
            f"text names it: allow it in a specification file beside {module} ({ALLOW}), or import "
            f"{module} first in Python"
        )
    if name not in vars(holder):
        raise LookupError(f"module {module} has no {quote(name)}.{nearest(name, vars(holder))}")
    value = vars(holder)[name]
    if not isinstance(value, (Statistic, Metric)):
        raise NotAMetric(
            f"{module}:{name} is of type {type(value).__name__}, not a metric; make one with "
            "fairgauge.rate, fairgauge.quotient or fairgauge.statistic"
        )
    return value


def _defined(keys: Mapping[Any, Any]) -> Statistic | Metric:
    """Return the metric that a file defines by its cells."""
    made: Any = rate if "of" in keys or "among" in keys else quotient
    sums = ("of", "among") if made is rate else ("over", "under")
    others = {key: keys[key] for key in keys if key not in ("name", "compared", *sums)}
    for key, value in keys.items():
        words = value if key == "cite" and isinstance(value, list) else [value]
        if key not in KEYS or not all(isinstance(each, str) for each in words):
            raise NotAMetric(
                f"takes texts of {', '.join(KEYS)}, not {quote(key)} = {shown(value)}; a rate has "
                "of and among, a quotient over and under"
            )
    if missing := [key for key in ("name", *sums) if key not in keys]:
        raise NotAMetric(
            f"lacks {missing[0]}: a metric of its own has {', '.join(('name', *sums))}"
        )
    try:
        row = made(keys["name"], **{key: _cells(keys[key]) for key in sums}, **others)
    except SpecError as error:
        raise NotAMetric(str(error)) from None
    compared: Statistic | Metric = row.compared(keys["compared"]) if "compared" in keys else row
    return compared


def _cells(text: str) -> Cells:
    """Return the sum of cells that a text states.

    >>> print(_cells("5 * FN + FP"), "and", _cells("n"))
    FP + 5 FN and n
    """
    total = Cells()
    for part in text.split("+"):
        term = _TERM.fullmatch(part)
        if term is None:
            raise NotAMetric(
                f"cannot read {quote(text)}; write a sum of cells: 5 FN + FP, TP + TN, n"
            )
        times = int(term["times"] or 1)
        cells = ("TP", "FP", "FN", "TN") if term["cell"] == "n" else (term["cell"],)
        total += Cells(**{cell.lower(): times for cell in cells})
    return total
