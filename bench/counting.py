"""Counts what happens in data sets, which are drawn in chunks, each from a seed of its own.

What is counted is kept in a file of ``evidence``: a record of every design. A command adds chunks
to it until every design has enough data sets, writes the file after each chunk, and may be stopped
at any time.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

EVIDENCE = Path(__file__).parent.parent / "evidence"
_ALONE = 20

Record = dict[str, Any]
Occurrences = dict[str, bool]
"""What happened in one audit; what could not happen, such as coverage without an adequate interval,
is absent."""


@dataclass(frozen=True)
class Design:
    """One design.

    Attributes
    ----------
    of : which part of a review it is from.
    setting : what is drawn.
    wanted : of every number that is counted, or of the one that matters.
    measure : draws so many data sets, audits them and yields what happened in each.
    chunk : data sets that are drawn at once.
    """

    of: str
    setting: str
    wanted: str
    measure: Callable[[np.random.Generator, int], Iterator[tuple[str, bool]]]
    chunk: int


def alone(of: str, setting: str, wanted: str, read: Callable[..., Occurrences]) -> Design:
    """Return a design of which every data set has an audit of its own."""

    def measure(rng: np.random.Generator, size: int) -> Iterator[tuple[str, bool]]:
        for _ in range(size):
            yield from read(rng).items()

    return Design(of, setting, wanted, measure, _ALONE)


def _name(record: Record) -> str:
    return " ".join(record[key] for key in ("design", "of", "setting") if key in record)


def count_chunks(
    doc: str | None,
    file: str,
    records: Sequence[Record],
    unit: str,
    add_chunk: Callable[[int, Record], None],
    as_text: Callable[[Any], str] = lambda records: json.dumps(records, indent=1),
) -> list[Record]:
    """Add chunks to the design that is counted least, until all have enough; return the records.

    ``records`` are those of designs that are not counted yet, ``unit`` is the key of what they
    count; ``add_chunk`` adds a chunk to the record of the design at a place.
    """
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--sets", type=int, default=2000, help="data sets wanted of each design")
    parser.add_argument("--design", default="", help="only designs whose name begins so")
    parser.add_argument("--anew", action="store_true", help="forget what was counted in them")
    parser.add_argument("-o", "--output", type=Path, default=EVIDENCE / file)
    options = parser.parse_args()
    read = json.loads(options.output.read_text("utf-8")) if options.output.exists() else []
    known = {_name(each): each for each in read}
    asked = [i for i, each in enumerate(records) if _name(each).startswith(options.design)]
    forgotten = set(asked) if options.anew else set()
    counted = [
        new
        if i in forgotten
        else known.get(_name(new), new) | {k: of for k, of in new.items() if k == "wanted"}
        for i, new in enumerate(records)
    ]
    while unfinished := [i for i in asked if counted[i][unit] < options.sets]:
        i = min(unfinished, key=lambda i: counted[i][unit])
        record, before, started = counted[i], counted[i][unit], time.process_time()
        add_chunk(i, record)
        cost = (time.process_time() - started) / (record[unit] - before)
        unfinished_file = options.output.with_suffix(".part")
        unfinished_file.write_text(as_text(counted) + "\n", encoding="utf-8")
        unfinished_file.replace(options.output)
        print(f"{_name(record)}: {record[unit]}, {cost:.3f} s each", flush=True)
    return counted


def count_designs(doc: str | None, file: str, designs: Sequence[Design]) -> list[Record]:
    """Count what happens in the audits of designs, and of how many each could; see above."""

    def add_chunk(i: int, record: Record) -> None:
        design = designs[i]
        seed = [13, record["chunks"], *f"{design.of} {design.setting}".encode()]
        for name, happened in design.measure(np.random.default_rng(seed), design.chunk):
            of = record["counts"].setdefault(name, [0, 0])
            of[0] += bool(happened)
            of[1] += 1
        record["audits"] += design.chunk
        record["chunks"] += 1

    records: list[Record] = [
        {"of": each.of, "setting": each.setting, "wanted": each.wanted,
         "audits": 0, "chunks": 0, "counts": {}}
        for each in designs
    ]  # fmt: skip
    return count_chunks(doc, file, records, "audits", add_chunk)


def print_table(records: Sequence[Record]) -> None:
    """Print what was counted in designs, and whether it is as wanted."""
    print("| of | design | wanted | measured, in per cent | as wanted |")
    for each in (record for record in records if record["counts"]):
        shares = (f"{name} {100 * k / n:.1f}" for name, (k, n) in each["counts"].items())
        row = (each["of"], each["setting"], each["wanted"], "; ".join(shares))
        print(f"| {' | '.join(row)} | {'yes' if as_wanted(each) else 'NO'} |")


_WANTED = re.compile(
    r"(?:(?!at most |about )(?P<what>[a-zA-Z ,]+?) )?"
    r"(?P<way>at most |about )?(?P<share>[\d.]+)(?P<more> or more)?"
)
_ABOUT = 0.04
"""Of a share that is wanted "about": how far from it another may be, beside sampling error."""


def as_wanted(record: Record) -> bool:
    """Return whether what was measured is what is wanted, within three standard errors.

    What is wanted names the events that it is of, by their first words; without, it is of all.
    """
    asked = _WANTED.fullmatch(record["wanted"])
    assert asked is not None, record["wanted"]
    named = (asked["what"] or "").split(", ")
    share = float(asked["share"]) / 100
    for name, (happened, possible) in record["counts"].items():
        if any(name.startswith(each) for each in named):
            error = 3 * (share * (1 - share) / possible) ** 0.5
            above = happened / possible - share
            near = error + (_ABOUT * share if asked["way"] == "about " else 0.0)
            high_enough = asked["way"] == "at most " or share == 0 or above >= -near
            low_enough = bool(asked["more"]) or above <= near
            if not (high_enough and low_enough):
                return False
    return True
