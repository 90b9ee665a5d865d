"""``python -m bench growth``: what costs when one thing of an audit grows and all others stay.

Each work is run at four sizes, each in a fresh process, warm. The slope is of the logarithm of CPU
by that of size, over the two largest: at 1, twice the size costs twice as much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.measure import best, ours
from bench.page import Line, Section

Work = Callable[[], Any]
_ASKED: dict[str, Any] = {"label": "y", "prediction": "p", "positive": 1, "sensitive": "g"}
_FEW = 2_000
_MOST_SECONDS = 60.0


def _rows(rows: int, **more: Any) -> dict[str, Any]:
    # numbers that every version of numpy draws alike
    drawn = np.random.Generator(np.random.PCG64(98))
    label = drawn.integers(0, 2, rows)
    return {
        "g": np.array([*"abcde"], dtype=object)[drawn.integers(0, 5, rows)],
        "y": label,
        "p": (drawn.random(rows) < 0.4 + 0.2 * label).astype(np.int64),
        **{name: make(drawn, rows) for name, make in more.items()},
    }


def _frame(rows: int, **more: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(_rows(rows, **more))


def _audit(frame: Callable[[int], Any], rows: int, **asked: Any) -> Work:
    import fairgauge as fg

    data, first = frame(rows), frame(min(rows, _FEW))
    fg.audit(first, **_ASKED | asked)
    return lambda: fg.audit(data, **_ASKED | asked)


def _scores(values: int, rows: int = 1_000_000) -> Work:
    def frame(n: int) -> Any:
        return _frame(n, s=lambda drawn, rows: drawn.integers(0, values, rows) / values)

    return _audit(frame, rows, score="s", prediction=None, threshold=0.5)


def _people(people: int) -> Work:
    def frame(n: int) -> Any:
        return _frame(n, id=lambda drawn, rows: drawn.permutation(rows) // 2)

    return _audit(frame, 2 * people, person="id", label=None)


def _clusters(clusters: int, rows: int = 1_000_000) -> Work:
    def frame(n: int) -> Any:
        return _frame(n, id=lambda drawn, rows: drawn.permutation(rows) % min(clusters, rows))

    return _audit(frame, rows, cluster="id")


def _classes(classes: int) -> Work:
    import fairgauge as fg

    def rows(n: int) -> dict[str, Any]:
        drawn = np.random.Generator(np.random.PCG64(98))
        label = drawn.integers(0, n, 50_000)
        right = drawn.random(50_000) < 0.7
        return {
            "g": np.array([*"abcde"], dtype=object)[drawn.integers(0, 5, 50_000)],
            "y": label,
            "p": np.where(right, label, drawn.integers(0, n, 50_000)),
        }

    data = rows(classes)
    asked = {"label": "y", "prediction": "p", "sensitive": "g", "task": "multiclass"}
    fg.audit(rows(3), **asked)
    return lambda: fg.audit(data, **asked)


def _counts(groups: int, each: int = 400) -> Any:
    import fairgauge as fg

    drawn = np.random.Generator(np.random.PCG64(98))
    cells = drawn.multinomial(each, [0.3, 0.2, 0.2, 0.3], groups).tolist()
    named = {
        f"g{i:04}": dict(zip(("tp", "fp", "fn", "tn"), of, strict=True))
        for i, of in enumerate(cells)
    }
    return fg.confusion("g", named)


def _groups(groups: int, metrics: str = "all") -> Work:
    import fairgauge as fg

    cube = _counts(groups)
    fg.audit(_counts(2), metrics=metrics)
    return lambda: fg.audit(cube, metrics=metrics)


def _strata(strata: int, kind: str = "") -> Work:
    import fairgauge as fg
    from fairgauge.render import render

    def cube(n: int) -> Any:
        rows = _rows(max(20 * n, 2_000), s=lambda drawn, rows: drawn.integers(0, n, rows))
        return fg.count(rows, **_ASKED, strata="s", max_groups=max(n, 1_000))

    counted = cube(strata)
    report = fg.audit(cube(2))
    if kind:
        render(report, kind)
        report = fg.audit(counted)
        return lambda: render(report, kind)
    return lambda: fg.audit(counted)


WORKS: dict[str, tuple[Callable[[int], Work], tuple[int, ...]]] = {
    "scores": (_scores, (10, 1_000, 100_000, 1_000_000)),
    "people": (_people, (1_000, 10_000, 100_000, 1_000_000)),
    "clusters": (_clusters, (1_000, 10_000, 100_000, 1_000_000)),
    "classes": (_classes, (3, 10, 30, 100)),
    "groups": (_groups, (10, 100, 300, 1_000)),
    "strata": (_strata, (10, 100, 1_000, 5_000)),
}


_FEW_OF = {"scores": (100, 1_000), "people": (500, 5_000), "clusters": (500, 5_000)}
_FEW_OF |= {"classes": (5, 20), "groups": (10, 40), "strata": (10, 40)}


def calls_for_one_more(calls: Callable[[Work], int]) -> dict[str, int]:
    """Return by how many calls of our own functions each work grows with its size."""
    more = {}
    for name, sizes in _FEW_OF.items():
        make = partial(_scores, rows=5_000) if name == "scores" else WORKS[name][0]
        make = partial(_clusters, rows=5_000) if name == "clusters" else make
        few, many = (calls(make(size)) for size in sizes)
        more[name] = max(0, round((many - few) / (sizes[1] - sizes[0])))
    return more


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the slope of log cost by log size between the last two sizes."""
    return math.log(costs[-1] / costs[-2]) / math.log(sizes[-1] / sizes[-2])


def section(tries: int) -> Section:
    """Measure every work at four sizes, each in processes of its own."""
    lines = []
    for name, (_, sizes) in WORKS.items():
        costs = [best([ours("growth", name, size) for _ in range(tries)]) for size in sizes]
        steep = slope(sizes, [cost.cpu for cost in costs])
        reached = sizes[-1] * (_MOST_SECONDS / costs[-1].cpu) ** (1 / max(steep, 1.0))
        lines += [Line(f"{name}: {n:,}", c) for n, c in zip(sizes, costs, strict=True)]
        stated = f"{steep:.2f}; 60 s at some {reached:.0e}"
        lines.append(Line(f"{name}: slope", value=stated, target="at most 1.1", met=steep <= 1.1))
    return Section("Growth: what costs when one thing is larger", lines)
