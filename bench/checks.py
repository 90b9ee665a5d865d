"""``python -m bench checks``: what the checks of an audit of a million rows cost.

Each use is audited with all checks, without those that replace lists of words, and without any, in
turn in one process; of each the least CPU time counts. Eight columns are in the file that nobody
asks for.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.data import DATA
from bench.measure import ours
from bench.page import Line, Section

TARGET, TARGET_OF_ALL = 1.03, 1.05
FRAMES = "in pandas"
_GROUPS = {"sensitive": ["race", "sex"], "rules": "selection_rate.ratio >= 0.5"}
_DECIDED: dict[str, Any] = {"prediction": "decision", "positive": 1, **_GROUPS}
_AVERAGED: dict[str, Any] = {"label": "amount", "task": "regression", "sensitive": ["race", "sex"],
                             "rules": "mean_label.ratio >= 0.5"}  # fmt: skip
USES: dict[str, dict[str, Any]] = {
    "decisions": _DECIDED | {"label": "label"},
    "a cut column": _DECIDED | {"sensitive": ["race", {"column": "age", "cuts": [30, 45, 60]}]},
    "a condition on amounts": _DECIDED | {"where": "income < 90000"},
    "weights": _DECIDED | {"weight": "weight"},
    "averages": _AVERAGED,
    "averages with weights": _AVERAGED | {"weight": "weight"},
    "averages with counts": _AVERAGED | {"label": "successes", "count": "cases"},
    "scores": {"score": "score", "label": "label", "positive": 1, "sensitive": ["race", "sex"]},
}
_ROWS = """
SELECT ['White', 'Black', 'Asian', 'Hispanic', 'Other'][1 + h % 5] AS race,
       ['Female', 'Male'][1 + (h // 5) % 2] AS sex,
       18 + (h // 10) % 70 AS age,
       CAST((h // 700) % 100 < 40 + h % 5 * 2 AS INTEGER) AS label,
       CAST((h // 70000) % 100 < 45 + h % 5 * 3 AS INTEGER) AS decision,
       ((h // 7000000) % 10007) / 10007.0::DOUBLE AS score,
       0.5 + ((h // 7000) % 100) / 100.0::DOUBLE AS weight,
       round(exp(6 + ((h // 11) % 4000) / 1000.0), 2) AS amount,
       1 + (h // 13) % 40 AS cases, (h // 17) % 7 AS successes,
       round(exp(9 + ((h // 19) % 3000) / 1000.0)) AS income,
       i AS id, 'P' || (h // 23) % 1000000 AS code, round(((g // 3) % 100000) / 7.0, 2) AS price,
       (g // 5) % 200 AS branch, i // 40 AS batch, (g % 100000) - 50000 AS change,
       DATE '2020-01-01' + CAST((g // 7) % 1500 AS INTEGER) AS day,
       chr(CAST(65 + g % 26 AS INTEGER)) AS grade
FROM (SELECT i, CAST(hash(i) >> 1 AS BIGINT) AS h, CAST(hash(i + 77) >> 1 AS BIGINT) AS g
      FROM range({rows}) AS t(i))
"""


def people(rows: int, suffix: str) -> Path:
    """Return a file of so many rows, made if it is not there yet."""
    import duckdb

    DATA.mkdir(exist_ok=True)
    path = DATA / f"checked-{rows}{suffix}"
    if not path.exists():
        unfinished = path.with_name(f"unfinished-{path.name}")
        duckdb.sql(f"COPY ({_ROWS.format(rows=rows)}) TO '{unfinished}'")
        unfinished.replace(path)
    return path


def without_codes(plan: Callable[..., Any]) -> Callable[..., Any]:
    """Return a planner that does not count codes among numbers."""
    from fairgauge.enums import Role
    from fairgauge.start.records import replace

    def plain(*of: Any) -> Any:
        made = plan(*of)
        kept = [axis for axis in made.axes if axis.role is not Role.CODES]
        tables = [[made.axes[i] for i in table] for table in made.tables]
        tables = [table for table in tables if all(axis in kept for axis in table)]
        places = tuple(tuple(map(kept.index, table)) for table in tables)
        return replace(made, axes=tuple(kept), tables=places)

    return plain


@contextmanager
def switched_off(what: str) -> Iterator[None]:
    """Audit without some of the checks: the new ones, one of them, or all."""
    from fairgauge.api import _first_rows, audit
    from fairgauge.checks import coded_numbers
    from fairgauge.rowwise.row_metrics import RowReader
    from fairgauge.start.records import replace

    def nothing(*_: Any) -> tuple[()]:
        return ()

    new: dict[str, tuple[Any, str, Any]] = {
        "codes": (_first_rows, "plan", without_codes(_first_rows.plan)),
        "people": (_first_rows, "columns_that_repeat_people", nothing),
        "lists": (RowReader, "_rows_of_lists", nothing),
        **{name: (coded_numbers, name, nothing)
           for name in ("groups_that_overlap", "places_as_scores", "rates_with_counts",
                        "exposure_as_weight")},
    }  # fmt: skip
    every = new | {
        "likely_mistakes": (audit, "likely_mistakes", nothing),
        "notes_of_files": (audit, "notes_of_files", nothing),
        "noted": (audit, "with_noted_rows", lambda *of: replace(of[2], question=of[3])),
    }
    off = {"nothing": {}, "new": new, "all": every}.get(what, {what: every.get(what)})
    with ExitStack() as stack:
        for owner, name, other in filter(None, off.values()):
            stack.enter_context(patch.object(owner, name, other))
        yield


def ratios(use: str, suffix: str, tries: int, *off: str, rows: int = 1_000_000) -> dict[str, float]:
    """Return the CPU time of an audit with all checks, divided by that with some switched off."""
    import fairgauge as fg

    asked, least = USES[use], dict[str, float]()
    few, data = (_frame(n) if suffix == FRAMES else people(n, suffix) for n in (2_000, rows))
    fg.audit(few, **asked)
    for _ in range(tries):
        for what in ("nothing", *off):
            with switched_off(what):
                start = time.process_time()
                fg.audit(data, **asked)
                cpu = time.process_time() - start
            least[what] = min(least.get(what, cpu), cpu)
    return {what: least["nothing"] / least[what] for what in off} | {"seconds": least["nothing"]}


def _frame(rows: int) -> Any:
    import pandas as pd

    return pd.read_parquet(people(rows, ".parquet"))


def section(tries: int) -> Section:
    """Measure every use, from CSV, from Parquet and in frames, each in a process of its own."""
    lines = []
    for suffix in (".csv", ".parquet", FRAMES):
        for use in USES:
            found = json.loads(ours("checks", use, suffix, tries).answer)
            for what, most in (("new", TARGET), ("all", TARGET_OF_ALL)):
                lines.append(Line(f"{use}, {suffix}: {what} checks", value=f"{found[what]:.3f}",
                                  target=f"at most {most}", met=found[what] <= most))  # fmt: skip
    return Section("Checks: CPU of an audit of a million rows, with / without", lines)
