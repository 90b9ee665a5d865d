"""A damaged or an oversized file ends in time and memory, with an exit code and one message.

Every file is read in a process of its own, which the system ends when its CPU time is over. As a
script it tries N files, as many of every reader, and prints how each reader's ended:
``python -m tests.properties.test_damaged_files SEED N``.
"""

import bz2
import contextlib
import gzip
import importlib
import io
import json
import os
import pkgutil
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.needs import EVERY_CASE, POSIX, need
from tests.sas_catalogue import write_catalogue

import fairgauge
from fairgauge.cli import main
from fairgauge.cube.cube import _digest
from fairgauge.scan import input_files
from fairgauge.scan._narwhals import _explain_frame_errors
from fairgauge.sharing import sealing
from fairgauge_check import table_files

SECONDS, BYTES = 10, 500_000_000
KINDS = ("rows", "packed", "stores", "saved", "asked", "published")
CASES = 1_000 if EVERY_CASE else 200
SEEDS = ("1", "2", "3") if EVERY_CASE else ("2",)

LIBRARIES = ("duckdb", "deltalake", "polars", "pandas", "pyreadstat", "openpyxl", "sqlalchemy",
             "pyiceberg.catalog.sql", "pyiceberg.table")  # fmt: skip

ROWS = {"y": [1, 0, 1, 0, 1] * 20, "p": [1, 1, 0, 0, 1] * 20, "sex": ["F", "F", "M", "M", "é"] * 20}
ASKED = ["--label", "y", "--prediction", "p", "--sensitive", "sex"]
PUBLISHED = [
    ("sex", "n", "selected", "selection rate", "impact ratio"),
    ("F", "100", "30", "30%", "0.75"),
    ("M", "120", "48", "40%", "1.00"),
]


@POSIX
@pytest.mark.parametrize("seed", SEEDS)
def test_of_every_kind(seed):
    need("deltalake", "duckdb", "pyiceberg", "pyreadstat", "sqlalchemy")
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    asked = [sys.executable, __file__, seed, str(CASES)]
    done = subprocess.run(asked, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert not [each for each in lines if not each.startswith("ended: ")], done.stdout
    assert len(lines) > 40


def test_every_reader_has_a_row_in_the_page_on_trust():
    page = Path(__file__).parents[2] / "docs" / "explanations" / "trust.md"
    text = page.read_text(encoding="utf-8").lower()
    named = {*input_files.FORMATS, *input_files.ARCHIVES, *table_files.SUFFIXES} - TEXTS
    assert not [suffix for suffix in named if f"`{suffix}`" not in text]


def test_parts_of_a_log_that_overlap_are_not_read_one_by_one(tmp_path, monkeypatch):
    """Each of them was read whole: 20 MB took an hour."""
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("a.eval", "w") as log:
        log.writestr("_journal/start.json", '{"eval": {}}')
        log.writestr("samples/1.json", json.dumps({"id": 1, "metadata": {"y": 1}}) + " " * 9_000)
        log.filelist += log.filelist[-1:] * 9
    done = CliRunner().invoke(main, ["audit", "a.eval", "--label", "metadata.y"])
    assert (done.exit_code, "its parts overlap" in done.stderr) == (2, True), done.output


@POSIX
def test_a_pipe_among_files_is_not_waited_for(tmp_path):
    (tmp_path / "a.csv").write_text("y,g\n1,a\n0,b\n")
    os.mkfifo(tmp_path / "b.csv")
    with pytest.raises(fairgauge.DataError, match=r"b\.csv' is a pipe or a device"):
        fairgauge.audit(f"{tmp_path}/*.csv", label="y", sensitive="g")


@pytest.mark.parametrize("command", [["audit", "a.xlsx", *ASKED], ["check", "a.xlsx"]], ids=str)
@pytest.mark.parametrize("twice", [False, True])
def test_a_part_of_a_workbook_is_as_large_as_its_readings(command, twice, tmp_path, monkeypatch):
    """5,000 sheets that were one part, in 20 kB, took minutes."""
    monkeypatch.chdir(tmp_path)
    files("packed" if command[0] == "audit" else "published")
    with zipfile.ZipFile("a.xlsx") as book:
        parts = {each: book.read(each).decode() for each in book.namelist()}
    parts[SHEET] = parts[SHEET].replace("<sheetData>", f"{' ' * 10**6}<sheetData>")
    books, names = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
    sheet, named = (
        re.search(f"<{tag} [^>]*{of}[^>]*/>", parts[of_part])[0]  # type: ignore[index]
        for tag, of, of_part in (("sheet", "r:id", books), ("Relationship", "sheet1.xml", names))
    )
    at = re.search('r:id="(.*?)"', sheet)[1]  # type: ignore[index]
    many = [(f"s{i}", at if twice else f"{at}_{i}") for i in range(300)]
    for name, one in ((books, sheet), (names, named)):
        again = (
            re.sub(f'"{at}"', f'"{of}"', re.sub(' name="[^"]*"', f' name="{title}"', one))
            for title, of in (many[:1] if twice and name == names else many)
        )
        parts[name] = parts[name].replace(one, "".join(again))
    with zipfile.ZipFile("a.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in parts.items():
            book.writestr(name, text)
    done = CliRunner().invoke(main, command)
    refused = "names a sheet twice" if twice else "it unpacks to 3"
    assert (done.exit_code, refused in done.stderr) == (2, True), done.output


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


def test_what_polars_raises_that_is_no_exception_is_in_words():
    """Its own checks of a part of a Delta table that was cut off ended so."""
    raised = type("PanicException", (BaseException,), {})
    with pytest.raises(fairgauge.DataError, match="cannot count the table: cut off"):  # noqa: SIM117
        with _explain_frame_errors("table"):
            raise raised("cut off")
    with pytest.raises(KeyboardInterrupt), _explain_frame_errors("table"):
        raise KeyboardInterrupt


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

    table = pl.DataFrame(ROWS)
    table.write_csv("rows.csv")
    return WRITERS[kind](table)


def write_rows(table: Any) -> dict[str, list[str]]:
    table.write_csv("a.csv")
    table.write_csv("a.tsv", separator="\t")
    table.write_ndjson("a.jsonl")
    Path("a.json").write_text(json.dumps(table.to_dicts()))
    table.write_parquet("a.parquet")
    table.write_ipc("a.arrow", compression="uncompressed")
    table.write_ipc("a.feather", compression="lz4")
    names = ("a.csv", "a.tsv", "a.jsonl", "a.json", "a.parquet", "a.arrow", "a.feather")
    return {name: ["audit", name, *ASKED] for name in names}


def write_packed(table: Any) -> dict[str, list[str]]:
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
    shutil.copy("a.xlsx", "a.xlsm")
    with zipfile.ZipFile("a.eval", "w", zipfile.ZIP_DEFLATED) as log:
        log.writestr("_journal/start.json", '{"eval": {"task": "t", "model": "m"}}')
        for i, row in enumerate(table.to_dicts()):
            log.writestr(f"samples/{i}_epoch_1.json", json.dumps({"id": i, "metadata": row}))
    frame = pd.DataFrame(ROWS)
    for name in STATISTICAL:
        kind = name[2:].replace("xpt", "xport").replace("zsav", "sav")
        more = {"compress": True} if name == "a.zsav" else {}
        rows_of_kind = frame.replace("é", "E") if kind == "por" else frame
        getattr(pyreadstat, f"write_{kind}")(rows_of_kind, name, **more)
    write_catalogue(Path("b.sas7bcat"))
    coded = frame.assign(sex=[1.0, 2.0] * 50)
    pyreadstat.write_sas7bdat(coded, "b.sas7bdat", variable_format={"sex": "SEXF"})
    names = ("a.zip", "a.csv.bz2", "a.csv.zst", "a.csv.gz", "a.xlsx", "a.xlsm", "a.eval")
    named = {name: ["audit", name, *ASKED] for name in (*names, *STATISTICAL)}
    return named | {"b.sas7bcat": ["audit", "b.sas7bdat", *ASKED]}


def write_stores(table: Any) -> dict[str, list[str]]:
    """Write rows as databases, and as a table of a lakehouse."""
    import deltalake
    import duckdb
    from pyiceberg.catalog import load_catalog

    with closing(sqlite3.connect("a.db")) as base, base:
        base.execute("CREATE TABLE rows (y, p, sex)")
        base.executemany("INSERT INTO rows VALUES (?, ?, ?)", table.rows())
    with duckdb.connect("a.duckdb") as base:
        base.execute("CREATE TABLE rows AS SELECT * FROM 'rows.csv'")
    deltalake.write_deltalake("delta", table.to_arrow())
    deltalake.write_deltalake("delta", table.to_arrow(), mode="append")
    (log,) = Path("delta/_delta_log").glob("*1.json")
    part = min(Path("delta").glob("*.parquet"))
    catalogue = load_catalog("bank")
    catalogue.create_namespace("credit")
    lake = catalogue.create_table("credit.rows", schema=table.to_arrow().schema)
    lake.append(table.to_arrow())
    location = Path(lake.location().removeprefix("file://")).relative_to(Path.cwd())
    parts = ("metadata/*.json", "metadata/snap-*.avro", "metadata/*-m0.avro", "data/*.parquet")
    of_lake = [max(location.glob(each)) for each in parts]
    databases = {"a.db": "sqlite:///a.db", "a.duckdb": "duckdb:///a.duckdb"}
    return {
        **{name: ["audit", url, "--table", "rows", *ASKED] for name, url in databases.items()},
        **{str(each): ["audit", "delta:delta", *ASKED] for each in (log, part)},
        **{str(each): ["audit", "iceberg:bank.credit.rows", *ASKED] for each in of_lake},
    }


def write_saved(table: Any) -> dict[str, list[str]]:
    """Write counts, results, bundles and a history with a baseline."""
    import fairgauge as fg

    asked = {"label": "y", "prediction": "p", "sensitive": "sex"}
    cube = fg.count(table, **asked, rules=["DI >= 0.8"])
    cube.save("a.cube.json")
    shutil.copy("a.cube.json", "b.cube.json")
    shutil.copy("a.cube.json", "c.cube.json")
    report = fg.audit(cube)
    report.save("a.json")
    shutil.copy("a.json", "b.json")
    fg.compare(report, report).save("compared.json")
    fg.seal(report, cube, "a.fairgauge")
    fg.seal(report, cube, "b.fairgauge")
    safe = fg.protect(fg.count(table, **asked), 10)
    safe.save("protected.cube.json")
    history = fg.History("history")
    history.add("2026-01-01", cube)
    history.add("2026-01-02", cube)
    limit = {"metric": "selection_rate.difference", "within": 0.1, "of": "a.cube.json"}
    Path("monitor.json").write_text(json.dumps(asked | {"monitor": {"rules": [limit]}}))
    status = ["monitor", "status", "history"]
    fg.monitor(history, "monitor.json").save("monitored.json")
    run = ["monitor", "run", "history", "rows.csv", "--period", "2026-01-02", "--replace"]
    CliRunner().invoke(main, [*run, "-c", "monitor.json"])
    (baseline,) = Path("history").glob("_baseline=*/counts.cube.json")
    return {
        "a.cube.json": ["audit", "a.cube.json"],
        "b.cube.json": ["merge", "b.cube.json", "a.cube.json"],
        "c.cube.json": ["explore", "c.cube.json", "-o", "c.html"],
        "protected.cube.json": ["audit", "protected.cube.json"], "a.json": ["render", "a.json"],
        "b.json": ["compare", "a.json", "b.json"],
        "compared.json": ["render", "compared.json", "--format", "html"],
        "monitored.json": ["render", "monitored.json", "--format", "html"],
        "a.fairgauge": ["verify", "a.fairgauge"],
        "b.fairgauge": ["render", "b.fairgauge", "--format", "junit"],
        "history/period=2026-01-01/counts.cube.json": ["monitor", "doctor", "history"],
        "history/period=2026-01-02/counts.cube.json": status, "history/_monitor.json": status,
        str(baseline): status,
    }  # fmt: skip


def write_asked(table: Any) -> dict[str, list[str]]:
    """Write specifications, and what they name."""
    keys: dict[str, Any] = {"label": "y", "prediction": "p", "sensitive": ["sex"]}
    keys |= {"rules": ["DI >= 0.8"], "recode": {"sex": {"F": ["F", "é"]}}}
    Path("a.json").write_text(json.dumps(keys))
    Path("a.yaml").write_text("label: y\nprediction: p\nsensitive: [sex]\nrules: ['DI >= 0.8']\n")
    Path("a.toml").write_text('label = "y"\nprediction = "p"\nsensitive = ["sex"]\n')
    Path("recode.csv").write_text("sex,category\nF,women\nM,men\né,\n")
    Path("chances.csv").write_text("sex,a,b\nF,0.5,0.5\nM,0.1,0.9\né,1,0\n")
    race = {"columns": {"A": "a", "B": "b"}, "table": "chances.csv", "on": "sex"}
    del keys["sensitive"], keys["recode"], keys["label"]
    Path("estimated.json").write_text(json.dumps(keys | {"probabilities": {"race": race}}))
    Path("words.toml").write_text('unknown = ["é"]\n')
    clarify = {"dataset_type": "text/csv", "label": "y", "headers": [*ROWS],
               "dataset_uri": "rows.csv", "label_values_or_threshold": [1],
               "facet": [{"name_or_index": "sex", "value_or_threshold": ["F"]}],
               "methods": {"pre_training_bias": {"methods": "all"}}}  # fmt: skip
    Path("clarify.json").write_text(json.dumps(clarify))
    Path("vertex.yaml").write_text("target_field_name: y\npredictions: rows.csv\n")
    Path("preset.toml").write_text(
        'title = "A"\nsource = "B"\ndate = "2026-01-01"\n[options]\nrules = ["DI >= 0.8"]\n'
    )
    del table
    found = {name: ["audit", "rows.csv", "-c", name] for name in ("a.json", "a.yaml", "a.toml")}
    return found | {
        "recode.csv": ["audit", "rows.csv", *ASKED, "--recode", "recode.csv"],
        "estimated.json": ["audit", "rows.csv", "-c", "estimated.json"],
        "chances.csv": ["audit", "rows.csv", "-c", "estimated.json"],
        "preset.toml": ["audit", "rows.csv", *ASKED, "--preset", "preset.toml"],
        "clarify.json": ["clarify", "clarify.json"],
        "vertex.yaml": ["vertex", "vertex.yaml"],
    }


def write_published(table: Any) -> dict[str, list[str]]:
    """Write a table of selection rates in every format that ``check`` reads."""
    import openpyxl

    del table
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
        "b.tsv": "\n".join("\t".join(row) for row in PUBLISHED),
        "columns.toml": 'n = ["n"]\nselected = ["selected"]\n',
    }.items():
        Path(name).write_text(text)
    stated = ["--n", "n", "--selected", "selected", "--rate", "selection rate"]
    stated += ["--ratio", "impact ratio", "--group", "sex"]
    names = ("a.html", "a.md", "b.csv", "b.tsv", "a.xlsx")
    found = {name: ["check", name, *stated] for name in names}
    return found | {"columns.toml": ["check", "a.md", "--columns", "columns.toml"]}


WRITERS = {
    "rows": write_rows, "packed": write_packed, "stores": write_stores, "saved": write_saved,
    "asked": write_asked, "published": write_published,
}  # fmt: skip
# of CSV, JSON lines, Parquet, Arrow, HTML and Markdown, which the page calls so
TEXTS = {".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".arrow",
         ".feather", ".ipc", ".html", ".htm", ".md"}  # fmt: skip
STATISTICAL = ("a.sav", "a.zsav", "a.por", "a.dta", "a.xpt", "a.sas7bdat")


NASTY = [b"[" * 100_000, b"{" * 5_000, b"9" * 6_000, b"\x00" * 50, b'"', b"|" * 100_000, b"1e999",
         b"NaN", b"-1", b"null", b"<td rowspan=99 colspan=99>", b"\xff\xfe", b",\n" * 50_000,
         b"\\ud800", b"9999999999999999999", b"'", b"&", b"true", b'{"a":1}']  # fmt: skip


def damaged(content: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return a content that is cut, changed, mixed or many times as large."""
    at, to = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    nasty, other = chance.choice(NASTY), chance.choice(others)
    head = chance.choice([4, 16, 100])
    bits = {chance.randrange(len(content) * 8 + 8) for _ in "abc"}
    changes: list[Callable[[], bytes]] = [
        lambda: content[:at],
        lambda: content[:at] + content[to:],
        lambda: content[:at] + nasty + content[at:],
        lambda: content[:at] + nasty + content[to:],
        lambda: content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :],
        lambda: content[:at] + content[at:to] * chance.choice([2, 50]) + content[to:],
        lambda: content[:at] + content[at:to] * (3_000_000 // max(to - at, 1)) + content[to:],
        lambda: bytes(
            byte ^ sum(1 << bit % 8 for bit in bits if bit // 8 == i)
            for i, byte in enumerate(content)
        ),
        lambda: content[:at] + other[at:to] + content[to:],  # blocks of another file
        lambda: other[:head] + content[head:],
        lambda: chance.randbytes(min(len(content), 1_000)),
        lambda: b"",
    ]
    return chance.choice(changes)()


def damaged_inside(name: str, content: bytes, chance: random.Random, others: list[bytes]) -> bytes:
    """Return an archive whose parts are damaged, and whose sums are right; other files damaged."""
    for suffix, (unpack, pack) in PACKED.items():
        if name.endswith(suffix):
            return pack(damaged(unpack(content), chance, others))
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return damaged(content, chance, others)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    part = chance.choice([each for each in parts if each != sealing.MANIFEST])
    if part.endswith(".json") and chance.random() < 0.7:
        parts[part] = json.dumps(damaged_value(json.loads(parts[part]), chance)).encode()
    else:
        parts[part] = damaged(parts[part], chance, others)
    if sealing.MANIFEST in parts:
        manifest = json.loads(parts[sealing.MANIFEST])
        manifest["parts"][part] = sealing.digest(parts[part])
        parts[sealing.MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for each, text in parts.items():
            archive.writestr(each, text)
    return packed.getvalue()


PACKED: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".bz2": (bz2.decompress, bz2.compress), ".gz": (gzip.decompress, gzip.compress)
}  # fmt: skip


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


def apart(of: Callable[[], object]) -> tuple[int, str, int]:
    """Return the exit code, the standard error and the memory of a process that calls this."""
    if not (process := os.fork()):
        signal.alarm(20 * SECONDS)  # as it may wait for what never comes
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(f"{HERE}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        code = 70
        try:
            of()
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 70
        except BaseException:  # which the parent prints
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status, used = os.wait4(process, 0)
    errors = Path(HERE, "stderr").read_text("utf-8", "replace")
    return os.waitstatus_to_exitcode(status), errors, used.ru_maxrss * 1024


def tried(command: list[str]) -> tuple[int, str]:
    """Return how a command ends, and what is wrong with that."""
    code, errors, memory = apart(lambda: main(command))
    messages = [line for line in errors.splitlines() if line.startswith("Error: ")]
    if code not in (0, 1, 2, 3) or len(messages) != (code == 2) or "Traceback" in errors:
        return code, f"exit {code}, {errors[-1500:]!r}"
    if any("way it should not" in line for line in messages):
        return code, errors
    return code, f"{memory:,} bytes" if memory > BYTES else ""


def write_all() -> None:
    """Write the whole files of every kind, and the commands that read them."""
    commands = []
    for kind in KINDS:
        Path(kind).mkdir()
        with contextlib.chdir(kind):
            commands += [(kind, name, command) for name, command in files(kind).items()]
    Path("commands.json").write_text(json.dumps(commands))


def main_of_process(seed: str, cases: str) -> None:
    """Try some files, and print those that end wrongly, with the seed that makes them again."""
    for each in pkgutil.walk_packages(fairgauge.__path__, "fairgauge."):
        if not each.name.startswith(("fairgauge.integrations", "fairgauge.__main__")):
            importlib.import_module(each.name)  # once, and not in every process
    os.environ |= {
        "PYICEBERG_CATALOG__BANK__TYPE": "sql",
        "PYICEBERG_CATALOG__BANK__URI": f"sqlite:///{HERE}/stores/lake.db",
        "PYICEBERG_CATALOG__BANK__WAREHOUSE": f"file://{HERE}/stores/warehouse",
    }
    for name in LIBRARIES:
        importlib.import_module(name)
    chance = random.Random(seed)
    code, errors, _ = apart(write_all)  # threads that it begins are none of the others' processes
    assert code == 0, errors
    commands = json.loads(Path("commands.json").read_text())
    readers = {(kind, name): command for kind, name, command in commands}
    whole = {key: Path(*key).read_bytes() for key in readers}
    ended: dict[tuple[str, str], Counter[int]] = {key: Counter() for key in readers}
    others = [*whole.values()]
    for case in range(int(cases)):
        kind, name = key = list(readers)[case % len(readers)]
        path, content = Path(name), whole[key]
        with contextlib.chdir(kind):
            # each format once as a pipe, and of 5 GB that take no place; a lake's are read whole
            if len(readers) <= case < 2 * len(readers) and kind != "stores":
                path.unlink()
                os.mkfifo(path)
            elif case < len(readers) and "warehouse" not in name:
                with path.open("r+b") as file:
                    file.truncate(5_000_000 if name.endswith(".gz") else 5_000_000_000)
            elif "_delta_log" in name and chance.random() < 0.7:
                lines = [json.loads(line) for line in content.splitlines()]
                found = damaged_value(lines, chance)
                path.write_text(
                    "\n".join(map(json.dumps, found if isinstance(found, list) else []))
                )
            elif name.endswith(".json") and "_delta" not in name and chance.random() < 0.7:
                found = damaged_value(json.loads(content), chance)
                if name.endswith(".cube.json"):
                    values = found if isinstance(found, dict) else {}
                    counts = {k: v for k, v in values.items() if k != "digest"}
                    found = counts | {"digest": _digest(counts)}
                path.write_text(json.dumps(found))
            elif chance.random() < 0.5:
                path.write_bytes(damaged_inside(name, content, chance, others))
            else:
                path.write_bytes(damaged(content, chance, others))
            code, wrong = tried(readers[key])
            ended[key][code] += 1
            if wrong:
                print(f"{kind}/{name} {seed}, case {case}: {wrong}")
                if path.is_file() and (folder := os.environ.get("KEEP")):
                    kept = path.read_bytes()[: 10**7]
                    Path(folder, f"{kind}-{seed}-{case}-{path.name}").write_bytes(kept)
            path.unlink()
            path.write_bytes(content)
    for (kind, name), codes in ended.items():
        print(f"ended: {kind}/{name}", *(f"{n} with {code}" for code, n in sorted(codes.items())))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as HERE:
        os.chdir(HERE)
        main_of_process(*sys.argv[1:])
