"""A damaged or an oversized file ends in time and memory, with an exit code and one message.

As a script it tries N files of each of five kinds in this process:
``python -m tests.properties.test_damaged_files SEED N``, which names those that end wrongly.
"""

import bz2
import gzip
import json
import os
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.needs import EVERY_CASE

from fairgauge.cli import main
from fairgauge.scan import input_files
from fairgauge_check import table_files

SECONDS, BYTES = 10, 500_000_000
KINDS = ("rows", "packed", "saved", "asked", "published")
CASES = 250 if EVERY_CASE else 13
SEEDS = ("1", "2", "3") if EVERY_CASE else ("2",)

ROWS = {"y": [1, 0, 1, 0, 1] * 20, "p": [1, 1, 0, 0, 1] * 20, "sex": ["F", "F", "M", "M", "é"] * 20}
ASKED = ["--label", "y", "--prediction", "p", "--sensitive", "sex"]
PUBLISHED = [
    ("sex", "n", "selected", "selection rate", "impact ratio"),
    ("F", "100", "30", "30%", "0.75"),
    ("M", "120", "48", "40%", "1.00"),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_of_every_kind(seed):
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    asked = [sys.executable, __file__, seed, str(CASES)]
    done = subprocess.run(asked, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not [each for each in done.stdout.splitlines() if " at most " not in each], done.stdout


def test_every_reader_has_a_row_in_the_page_on_trust():
    page = Path(__file__).parents[2] / "docs" / "explanations" / "trust.md"
    text = page.read_text(encoding="utf-8").lower()
    named = {*input_files.FORMATS, *input_files.ARCHIVES, *table_files.SUFFIXES} - TEXTS
    assert not [suffix for suffix in named if f"`{suffix}`" not in text]


@pytest.mark.parametrize("command", [["audit", "a.xlsx", *ASKED], ["check", "a.xlsx"]], ids=str)
def test_no_part_of_a_workbook_declares_a_document_type(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files("packed" if command[0] == "audit" else "published")
    with zipfile.ZipFile("a.xlsx") as book:
        parts = {each: book.read(each) for each in book.namelist()}
    for name, encoding in product(parts, ["utf-8", "utf-16"]):
        root = re.sub(r"^\s*<\?.*?\?>", "", parts[name].decode())
        declared = f"<?xml version='1.0'?><!-- {'.' * 9_000} --><!DOCTYPE any>{root}"
        with zipfile.ZipFile("a.xlsx", "w") as book:
            for each, content in (parts | {name: declared.encode(encoding)}).items():
                book.writestr(each, content)
        done = CliRunner().invoke(main, command)
        assert (done.exit_code, "declares a document type" in done.stderr) == (2, True), name


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET, STRINGS, STYLES = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"


@pytest.mark.parametrize(("part", "kind", "before", "tags"), [
    (STRINGS, "sharedStrings", "<sst><si>", "<r/>"), (STYLES, "styles", "<styleSheet>", "<xf/>"),
    (STRINGS, "worksheet", "<sst><si>", "<r/>" * 9 + "<row/>"),
    (STRINGS, "sharedStrings", "<sst>", "<row><r/></row>"),
    (STYLES, "worksheet", "<styleSheet>", "<row><xf/></row>"),
    (SHEET, "worksheet", "<worksheet><sheetData><row>", "<c/>"),
    (SHEET, "worksheet", "<worksheet><sheetData><row>", "<c/>" * 9 + "<row/>"),
    (SHEET, "worksheet", "<worksheet><sheetData>", "<c/>" * 9 + "<row/>"),
    (SHEET, "worksheet", "<worksheet><sheetData>", "<rowx><c/></rowx>"),
    (SHEET, "worksheet", "<worksheet><sheetData>", "<row r='1'/>"),
    (SHEET, "worksheet", "<worksheet><sheetData>", "<c a='' b='' c='' d=''/>"),
    (SHEET, "worksheet", "<worksheet><sheetData/><mergeCells>", "<mergeCell ref='A1:Z9'/>"),
    (SHEET, "worksheet", "<worksheet><sheetData/><mergeCells>", "<mergeCell ref='Z9:A1'/>"),
    ("xl/workbook.xml", "worksheet", "<workbook><sheets>", "<row><sheet/></row>"),
    (SHEET, "worksheet", "<worksheet><sheetData><row><c ", "a='' "),
])  # fmt: skip
def test_a_reader_holds_so_many_elements_of_a_workbook(
    part, kind, before, tags, tmp_path, monkeypatch
):
    """The names of parts, and tags that looked like rows, let some 20 kB take gigabytes."""
    monkeypatch.chdir(tmp_path)
    files("published")
    with zipfile.ZipFile("a.xlsx") as book:
        parts = {each: book.read(each).decode() for each in book.namelist()}
    types, of = "[Content_Types].xml", f'PartName="/{part}" ContentType="application/vnd.openxml'
    stated = f'<Override {of}formats-officedocument.spreadsheetml.{kind}+xml"'
    parts[types] = re.sub(rf'<Override PartName="/{part}"[^>]*"', stated, parts[types])
    if part not in parts:
        parts[types] = parts[types].replace("</Types>", f"{stated}/></Types>")
    many = tags * (14_000_000 // len(tags))
    with zipfile.ZipFile("a.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in (
            parts | {part: before.replace(">", f" xmlns='{MAIN}'>", 1) + many}
        ).items():
            book.writestr(name, text)
    done = CliRunner().invoke(main, ["audit", "a.xlsx", *ASKED])
    assert (done.exit_code, "has too many elements" in done.stderr) == (2, True), done.output


def files(kind: str) -> dict[str, list[str]]:
    """Write a whole file of every format of a kind; return the command that reads each."""
    import polars as pl

    import fairgauge as fg

    table = pl.DataFrame(ROWS)
    table.write_csv("rows.csv")
    if kind == "rows":
        table.write_csv("a.csv")
        table.write_csv("a.tsv", separator="\t")
        table.write_ndjson("a.jsonl")
        Path("a.json").write_text(json.dumps(table.to_dicts()))
        table.write_parquet("a.parquet")
        table.write_ipc("a.arrow", compression="uncompressed")
        names = ("a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.arrow")
        return {name: ["audit", name, *ASKED] for name in names}
    if kind == "packed":
        write_packed(table)
        with closing(sqlite3.connect("a.db")) as base, base:
            base.execute("CREATE TABLE rows (y, p, sex)")
            base.executemany("INSERT INTO rows VALUES (?, ?, ?)", table.rows())
        names = ("a.zip", "a.csv.bz2", "a.csv.zst", "a.csv.gz", "a.xlsx", "a.eval", *STATISTICAL)
        found = {name: ["audit", name, *ASKED] for name in names}
        return found | {"a.db": ["audit", "sqlite:///a.db", "--table", "rows", *ASKED]}
    if kind == "saved":
        cube = fg.count(table, label="y", prediction="p", sensitive="sex", rules=["DI >= 0.8"])
        cube.save("a.cube.json")
        report = fg.audit(cube)
        report.save("a.json")
        fg.seal(report, cube, "a.fairgauge")
        fg.History("history").add("2026-01-01", cube)
        return {
            "a.cube.json": ["audit", "a.cube.json"],
            "a.json": ["render", "a.json"],
            "a.fairgauge": ["verify", "a.fairgauge"],
            "history/period=2026-01-01/counts.cube.json": ["monitor", "doctor", "history"],
        }
    if kind == "asked":
        keys: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": ["sex"]}
        keys |= {"rules": ["DI >= 0.8"], "recode": {"sex": {"F": ["F", "é"]}}}
        Path("a.json").write_text(json.dumps(keys))
        Path("a.yaml").write_text(
            "label: y\nprediction: p\nsensitive: [sex]\nrules: ['DI >= 0.8']\n"
        )
        Path("a.toml").write_text('label = "y"\nprediction = "p"\nsensitive = ["sex"]\n')
        Path("recode.csv").write_text("sex,category\nF,women\nM,men\né,\n")
        clarify = {"dataset_type": "text/csv", "label": "y", "headers": [*ROWS],
                   "dataset_uri": "rows.csv", "label_values_or_threshold": [1],
                   "facet": [{"name_or_index": "sex", "value_or_threshold": ["F"]}],
                   "methods": {"pre_training_bias": {"methods": "all"}}}  # fmt: skip
        Path("clarify.json").write_text(json.dumps(clarify))
        Path("vertex.yaml").write_text("target_field_name: y\npredictions: rows.csv\n")
        found = {name: ["audit", "rows.csv", "-c", name] for name in ("a.json", "a.yaml", "a.toml")}
        return found | {
            "recode.csv": ["audit", "rows.csv", *ASKED, "--recode", "recode.csv"],
            "clarify.json": ["clarify", "clarify.json"],
            "vertex.yaml": ["vertex", "vertex.yaml"],
        }
    import openpyxl

    book = openpyxl.Workbook()
    for row in PUBLISHED:
        book.active.append(row)
    book.active.merge_cells("A4:C5")
    book.save("a.xlsx")
    cells = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in PUBLISHED)
    for name, text in {
        "a.html": f"<table>{cells}</table>",
        "a.md": "\n".join("|" + "|".join(row) + "|" for row in PUBLISHED),
        "b.csv": "\n".join(",".join(row) for row in PUBLISHED),
    }.items():
        Path(name).write_text(text)
    return {name: ["check", name] for name in ("a.html", "a.md", "b.csv", "a.xlsx")}


# of CSV, JSON lines, Parquet, Arrow, HTML and Markdown, which the page calls so
TEXTS = {".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".arrow",
         ".feather", ".ipc", ".html", ".htm", ".md"}  # fmt: skip
STATISTICAL = ("a.sav", "a.dta", "a.xpt")


def write_packed(table: Any) -> None:
    """Write rows as archives, a workbook, a log of an evaluation, files of statistics packages."""
    import pandas as pd
    import pyarrow as pa
    import pyreadstat

    rows = Path("rows.csv").read_bytes()
    Path("a.csv.bz2").write_bytes(bz2.compress(rows))
    Path("a.csv.gz").write_bytes(gzip.compress(rows))
    with pa.CompressedOutputStream("a.csv.zst", "zstd") as file:
        file.write(rows)
    with zipfile.ZipFile("a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", rows)
    table.write_excel("a.xlsx")
    with zipfile.ZipFile("a.eval", "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("_journal/start.json", '{"eval": {"task": "t", "model": "m"}}')
        for i, row in enumerate(table.to_dicts()):
            log.writestr(f"samples/{i}_epoch_1.json", json.dumps({"id": i, "metadata": row}))
    frame = pd.DataFrame(ROWS)
    for name in STATISTICAL:
        kind = name[2:].replace("xpt", "xport")
        getattr(pyreadstat, f"write_{kind}")(frame, name)


NASTY = [b"[" * 100_000, b"{" * 5_000, b"9" * 6_000, b"\x00" * 50, b'"', b"|" * 100_000, b"1e999",
         b"NaN", b"-1", b"null", b"<td rowspan=99 colspan=99>", b"\xff\xfe", b",\n" * 50_000,
         b"\\ud800", b"9999999999999999999", b"'", b"&", b"true", b'{"a":1}']  # fmt: skip


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return a content that is cut, changed, mixed or many times as large."""
    at, to = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    nasty = chance.choice(NASTY)
    changes: list[Callable[[], bytes]] = [
        lambda: content[:at],
        lambda: content[:at] + content[to:],
        lambda: content[:at] + nasty + content[at:],
        lambda: content[:at] + nasty + content[to:],
        lambda: content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :],
        lambda: content[:at] + content[at:to] * chance.choice([2, 50]) + content[to:],
        lambda: content[:at] + content[at:to] * (3_000_000 // max(to - at, 1)) + content[to:],
        lambda: chance.randbytes(min(len(content), 1_000)),
        lambda: b"",
    ]
    return chance.choice(changes)()


def damaged_value(found: Any, chance: random.Random) -> Any:
    """Return plain values of which one is of another type, or gone."""
    if not isinstance(found, (dict, list)) or not found or chance.random() < 0.1:
        return chance.choice([None, -1, 1e308, "x", [], {}, True, "stranger:code", [[1]], "1" * 50])
    key = chance.choice(list(found) if isinstance(found, dict) else range(len(found)))
    changed = damaged_value(found[key], chance)
    if isinstance(found, dict):
        others = {k: v for k, v in found.items() if k != key}
        return {**found, key: changed} if chance.random() < 0.9 else others
    return [*found[:key], changed, *found[key + 1 :]]


def tried(name: str, command: list[str]) -> str:
    """Return what is wrong with how a command ends; nothing is."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    done = CliRunner().invoke(main, command)
    signal.setitimer(signal.ITIMER_PROF, 0)
    messages = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    if done.exit_code not in (0, 1, 2, 3) or len(messages) != (done.exit_code == 2):
        return f"{name}: exit {done.exit_code}, {messages} {done.exception!r}"
    if any("way it should not" in line for line in messages):
        return f"{name}: {messages}"
    return ""


def out_of_time(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds")


def most_memory() -> int:
    """Return the most bytes that this process had; the count of a child begins at its parent's."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def main_of_process(kind: str, seed: str, cases: str) -> None:
    """Try some files, and print those that end wrongly, with the seed that makes them again."""
    signal.signal(signal.SIGPROF, out_of_time)
    chance = random.Random(seed)
    commands = files(kind)
    whole = {name: Path(name).read_bytes() for name in commands}
    for case in range(int(cases)):
        name = list(commands)[case % len(commands)]
        path, content = Path(name), whole[name]
        if case < len(commands):  # each format once, and of 5 GB that take no place
            with path.open("r+b") as file:
                file.truncate(5_000_000_000)
        elif name.endswith(".json") and chance.random() < 0.7:
            found = damaged_value(json.loads(content), chance)
            if name.endswith(".cube.json"):
                from fairgauge.cube.cube import _digest

                values = found if isinstance(found, dict) else {}
                counts = {k: v for k, v in values.items() if k != "digest"}
                found = counts | {"digest": _digest(counts)}
            path.write_text(json.dumps(found))
        else:
            path.write_bytes(damaged(content, chance))
        if wrong := tried(name, commands[name]):
            print(f"{kind} {seed}, case {case}: {wrong}")
            if folder := os.environ.get("KEEP"):
                Path(folder, f"{kind}-{case}-{path.name}").write_bytes(path.read_bytes()[: 10**7])
        path.write_bytes(content)
        peak = most_memory()
        if peak > BYTES:
            print(f"{kind} {seed}, case {case}: {name}: {peak:,} bytes")
            break
    print(f"{cases} files, at most {peak:,} bytes")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind in KINDS:
            main_of_process(kind, *sys.argv[1:])
