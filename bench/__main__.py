"""``python -m bench``: ratios of CPU time, each of one alternating run.

docs/benchmarks.md states them, with the cause of each that is short of its target.

``--against COMMIT`` measures the works of fairgauge alone, in this checkout and in that of the
commit in turn, and prints the ratios. Ratios hold on busy machines too; seconds do not.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import billion, checks, growth, peers
from bench.data import DATA, rows_file
from bench.measure import ROOT, Cost, best, ours, whole
from bench.page import Line, Section, shown

_KINDS = (
    "pandas_codes", "pandas_categories", "pandas_objects", "pandas_own_objects", "pandas_str",
    "polars_categories", "polars", "pyarrow",
)  # fmt: skip
_FASTER_THAN = {"fairlearn": 2_000, "smclarify": 250, "aif360": 80, "aequitas": 7}
_LONG = 10
"""Seconds of CPU after which a peer is measured once."""
_MILLION = 1_000_000
_CODE = {"python -c pass": "pass", "import numpy, duckdb": "import numpy, duckdb"}
_ROWS_OF = {"json": 1_000, "html": 50_000}


def main() -> None:
    """Run every section and say which targets are met."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["checks", "growth"], help="one section alone")
    parser.add_argument("--quick", action="store_true", help="fewer rows")
    parser.add_argument("--against", metavar="COMMIT", help="another build, beside this one")
    parser.add_argument("--tries", type=int, default=5, help="runs of each work")
    options = parser.parse_args()
    if options.what:
        print(shown({"checks": checks, "growth": growth}[options.what].section(options.tries)))
        return
    rows = _MILLION if options.quick else 10 * _MILLION
    if options.against:
        against(options.against, rows, options.tries)
        return
    measures = (scans, other_places, questions, inputs, compare_with_peers, start)
    for measure in measures:
        print(shown(measure(rows, options.tries)), flush=True)
    print(shown(checks.section(options.tries)))
    if not options.quick:
        print(shown(billion.section()))


def ratio(what: str, over: Cost, under: Cost, most: float) -> Line:
    """Return the line of a ratio of CPU times that is to be so much at most."""
    value = over.cpu / under.cpu
    return Line(what, value=f"{value:.2f}", target=f"at most {most}", met=value <= most)


def against(commit: str, rows: int, tries: int) -> None:
    """Print what works cost in this checkout, as multiples of what they cost in another."""
    works = (
        ("warm_audit",), ("audit_frame", _MILLION), ("cube", rows), ("count_file", rows, ".csv"),
        ("command", "help"), ("command", "complete"), ("command", "json"), ("command", "html"),
    )  # fmt: skip
    for size in (1_000, 50_000, rows):
        rows_file(size, ".csv")
    rows_file(rows)
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "other"
        subprocess.run(["git", "worktree", "add", "--detach", there, commit], cwd=ROOT, check=True)
        try:
            for work in works:
                measured = command if work[0] == "command" else ours
                asked = work[1:] if work[0] == "command" else work
                pairs = [
                    [measured(*asked, source=root / "src") for root in (ROOT, there)]
                    for _ in range(tries)
                ]
                here, other = (best([pair[i] for pair in pairs]) for i in (0, 1))
                print(f"{' '.join(map(str, work)):32} {here.cpu / other.cpu:.2f}", flush=True)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", there], cwd=ROOT, check=True)


def command(kind: str, source: Path = ROOT / "src") -> Cost:
    """Measure a command from its start to its end."""
    if kind in _CODE:
        return whole([sys.executable, "-c", _CODE[kind]])
    asked = ["--label", "label", "--prediction", "prediction", "--positive", "1"]
    report = str(DATA / f"report.{kind}")
    more = {"PYTHONPATH": str(source)}
    words = ["audit", str(DATA / f"people-{_ROWS_OF.get(kind)}.csv"), *asked, "--sensitive", "race"]
    words += ["-o", report]
    if kind == "complete":
        more |= {"_FAIRGAUGE_COMPLETE": "bash_complete"}
        more |= {"COMP_WORDS": "fairgauge co", "COMP_CWORD": "1"}
    words = {"help": ["--help"], "complete": []}.get(kind, words)
    return whole([sys.executable, "-m", "fairgauge", *words], more)


def scans(rows: int, tries: int) -> Section:
    """Three features and their intersection, weighted, from Parquet; beside a bare scan."""
    rows_file(rows)
    pairs = [(ours("bare_scan", rows), ours("cube", rows)) for _ in range(tries)]
    bare, counted = (best([pair[i] for pair in pairs]) for i in (0, 1))
    lines = [
        Line("a bare scan of the columns", bare, rows=rows),
        Line("counted", counted, rows=rows),
        ratio("CPU, counted / bare", counted, bare, 1.1),
    ]
    return Section(f"{rows:,} rows of Parquet: three features, intersection, weights", lines)


def other_places(rows: int, tries: int) -> Section:
    """Count the same features from ``s3://`` over loopback, and from Arrow; beside bare reads."""
    from fsspec import filesystem
    from tests.object_servers import s3_bucket

    lines = []
    with s3_bucket("bench") as bucket:
        for size in (1_000, rows):
            filesystem("s3").put(str(rows_file(size)), f"{bucket}/{rows_file(size).name}")
            rows_file(size, ".arrow")
        for name, place, bare in (
            ("s3://", bucket, ("bare_scan", rows, bucket)),
            ("Arrow", ".arrow", ("bare_arrow", rows)),
        ):
            pairs = [(ours(*bare), ours("cube", rows, place)) for _ in range(tries)]
            read, counted = (best([pair[i] for pair in pairs]) for i in (0, 1))
            lines += [
                Line(f"{name}: a bare read of the columns", read, rows=rows),
                Line(f"{name}: counted", counted, rows=rows),
                ratio(f"{name}: CPU, counted / bare", counted, read, 1.3),
            ]
    return Section(f"{rows:,} rows from a store of objects, and from Arrow", lines)


def questions(rows: int, tries: int) -> Section:
    """``find`` of ten times the rows and ``why``, from Parquet; beside a bare scan."""
    lines = []
    for name, what, of, most in (
        ("find", "978,200 subgroups", 10 * rows, 20),
        ("why", "four controls", rows, 3),
    ):
        rows_file(of, wide=True)
        pairs = [(ours("bare_wide", of, name), ours(name, of)) for _ in range(min(tries, 3))]
        bare, answered = (best([pair[i] for pair in pairs]) for i in (0, 1))
        lines += [
            Line(f"{name}: a bare scan of the columns of {of:,} rows", bare, rows=of),
            Line(f"{name}: {what}", answered),
            ratio(f"CPU, {name} / bare", answered, bare, most),
        ]
    return Section("Questions that read many rows", lines)


def inputs(rows: int, tries: int) -> Section:
    """One feature, label and prediction from every kind of input."""
    works = [("count_frame", rows, kind) for kind in _KINDS]
    for suffix in (".parquet", ".csv"):
        rows_file(rows, suffix)
        works.append(("count_file", rows, suffix))
    costs = {work[2]: best([ours(*work) for _ in range(tries)]) for work in works}
    lines = [Line(kind.replace("_", " "), cost, rows=rows) for kind, cost in costs.items()]
    bare = best([ours("bare_read", rows) for _ in range(tries)])
    lines += [
        Line("DuckDB alone reads the .csv", bare, rows=rows),
        ratio("CPU, counted / read", costs[".csv"], bare, 1.1),
    ]
    return Section(f"Each input: one feature of {rows:,} rows", lines)


def compare_with_peers(rows: int, tries: int) -> Section:
    """Clarify's metrics of one feature in a frame of texts, beside the peers; values first."""
    del rows
    table = rows_file(_MILLION, ".csv")
    rows_file(_MILLION)
    found = {peer: python for peer in peers.PEERS if (python := peers.python_of(peer))}
    mine, theirs = [], {peer: [] for peer in found}
    for _ in range(tries):
        mine.append(ours("audit_frame", _MILLION))
        for peer, costs in theirs.items():
            if not costs or costs[0].cpu < _LONG:
                costs.append(peers.run(peer, found[peer], table))
    for peer, costs in theirs.items():
        if not peers.same(mine[0].answer, costs[0].answer):
            raise AssertionError(f"{peer}: {costs[0].answer}; fairgauge: {mine[0].answer}")
    one = best(mine)
    lines = [Line("fairgauge, with intervals", one, rows=_MILLION)]
    for peer, python in found.items():
        cost, least = best(theirs[peer]), _FASTER_THAN.get(peer, 0)
        times, target = cost.cpu / one.cpu, f"at least {least:,}" if least else ""
        lines += [
            Line(f"{peer} {peers.version_of(peer, python)}", cost, rows=_MILLION),
            Line("CPU, theirs / ours", value=f"{times:,.1f}", target=target, met=times >= least),
        ]
    lines += [Line(f"{peer}: could not be installed") for peer in peers.PEERS if peer not in found]
    return Section(f"One report of {_MILLION:,} rows in a pandas frame of text objects", lines)


def start(rows: int, tries: int) -> Section:
    """Whole commands, from a cold start, beside Python's own."""
    del rows
    for size in (1_000, 50_000):
        rows_file(size, ".csv")
    every = ("python -c pass", "import numpy, duckdb", "help", "complete", "json", "html")
    tried = [{kind: command(kind) for kind in every} for _ in range(tries)]
    cost = {kind: best([each[kind] for each in tried]) for kind in every}
    bare, libraries = cost["python -c pass"], cost["import numpy, duckdb"]
    lines = [
        *(Line(name, each) for name, each in cost.items()),
        ratio("fairgauge --help / python -c pass", cost["help"], bare, 4),
        ratio("completion / python -c pass", cost["complete"], bare, 4),
        ratio("1,000 rows of CSV to JSON / imports", cost["json"], libraries, 1.5),
        ratio("50,000 rows of CSV to HTML / imports", cost["html"], libraries, 3),
    ]
    return Section("Commands, from start to end", lines)


if __name__ == "__main__":
    main()
