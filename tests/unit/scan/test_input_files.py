"""Files as people have them: right numbers, or one clear message."""

import gc
import gzip
import io
import re
import sqlite3
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, ipc
from tests.needs import POSIX

import fairgauge as fg
from fairgauge.errors import DataError
from fairgauge.scan import _duckdb_relation
from fairgauge.scan._database import open_database
from fairgauge.scan.input_files import FORMATS, WAYS_OUT


@pytest.fixture
def write(tmp_path):
    """Write a file and return its path."""

    def write(content: str | bytes, name: str = "rows.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def cells(data: Any, **options: Any) -> dict[tuple[Any, ...], float]:
    cube = fg.count(data, **({"label": "y", "sensitive": "g"} | options))
    table = cube.tables[0]
    levels = [(*cube.levels[axis], None) for axis in table.axes]
    keys = [tuple(values[i] for values, i in zip(levels, row, strict=True)) for row in table.codes]
    return dict(zip(keys, table.sums["rows"].tolist(), strict=True))


READ_RIGHT = {
    "byte order mark": ("\ufeffg,y\na,1\n", {("a", 1): 1}),
    "CRLF": ("g,y\r\na,1\r\nb,0\r\n", {("a", 1): 1, ("b", 0): 1}),
    "no line end at the end": ("g,y\na,1\nb,0", {("a", 1): 1, ("b", 0): 1}),
    "blank lines": ("g,y\na,1\n\nb,0\n\n", {("a", 1): 1, ("b", 0): 1}),
    "lines in quotes": ('g,y\n"a\nb",1\n"c\r\nd",0\n', {("a\nb", 1): 1, ("c\r\nd", 0): 1}),
    "quotes in quotes": ('g,y\n"say ""a""",1\n', {('say "a"', 1): 1}),
    "a quote inside": ('g,y\na"b,1\n', {('a"b', 1): 1}),
    "semicolons": ('g;y\n"1,5";1\na,b;0\n', {("1.5", 1): 1, ("a,b", 0): 1}),
    "tabs": ("g\ty\na\t1\n", {("a", 1): 1}),
    "bars": ("g|y\na|1\n", {("a", 1): 1}),
    "empty is missing": ("g,y\n,0\na,\n", {(None, 0): 1, ("a", None): 1}),
    "empty is missing, quoted too": ('g,y\n"",1\n,0\n', {(None, 1): 1, (None, 0): 1}),
    "NA and null are text": ("g,y\nNA,1\nnull,0\n", {("NA", 1): 1, ("null", 0): 1}),
    "yes and no are text": ("g,y\nyes,true\nno,false\n", {("yes", "true"): 1, ("no", "false"): 1}),
    "leading zeros are text": ("g,y\n01,1\n1,0\n", {("01", 1): 1, ("1", 0): 1}),
    "one number": ("g,y\n1,1\n1.0,0\n1e0,1\n", {(1, 1): 2, (1, 0): 1}),
    "a comment sign": ("g,y\n#a,1\n", {("#a", 1): 1}),
    "blanks are kept": ("g,y\n a ,1\na,1\n", {(" a ", 1): 1, ("a", 1): 1}),
    "more columns than asked": ("x,g,z,y\n1,a,2,1\n", {("a", 1): 1}),
}  # fmt: skip


@pytest.mark.parametrize("what", READ_RIGHT)
def test_csv_read_right(write, what):
    content, expected = READ_RIGHT[what]
    assert cells(write(content)) == expected


def test_long_ids_never_merge(write):
    ones = "1" * 29
    assert len(cells(write(f"g,y\n{ones}1,1\n{ones}2,1\n"))) == 2
    assert len(cells(write(f'{{"g":{ones}1,"y":1}}\n{{"g":{ones}2,"y":1}}\n', "r.jsonl"))) == 2


def test_a_csv_column_is_typed_by_all_of_its_rows(write):
    found = cells(write("g,y\n" + "1,1\n" * 300_000 + "x,0\n"))
    assert found == {("1", 1): 300_000, ("x", 0): 1}


def test_long_lines(write):
    assert len(cells(write(f"g,y\n{'z' * 3_000_000},1\n"))) == 1
    with pytest.raises(DataError, match=r"has a line of more than 4,194,304 characters"):
        cells(write(f"g,y\n{'z' * 5_000_000},1\n"))


REFUSED = {
    "empty": ("", r"'.*rows.csv' is empty"),
    "no header": ("\n\n", r"'.*rows.csv' has no header: its first lines are empty"),
    "header only": ("g,y\n", "the data have no rows"),
    "twice": ("g,g,y\na,b,1\n", r"'.*rows.csv' has the column 'g' twice"),
    "no names": (
        "g,,\na,1,\n",
        r"leaves 2 of 3 without a name \(it has 'g'\); name each column, or",
    ),
    "short line": ("g,y\na,1\nb\n", r"rows.csv': line 3: the header has 2 columns, this line 1$"),
    "long line": ("g,y\na,1\nb,0,1\n", r"rows.csv': line 3: the header has 2 columns, this line 3"),
    "open quote": ('g,y\na,1\n"b,0\n', r"rows.csv': line 3: a quote is not closed"),
    "open quote inside": ('g,y\na,1\n"b,0\nc,1\nd,1\n', r"rows.csv': line 3: "),
    "open quote in header": ('g,"y\na,1\n', "the header of .* cannot be read: a quote is not"),
    "text after a quote": ('g,y\n"a"b,1\nc,0\n', r"line 2: a quote is not closed, or text follows"),
    "latin": (b"g,y\n\xe9,1\n", r"rows.csv' is not UTF-8 text; .* iconv -f windows-1252 -t"),
    "latin, late": (
        b"g,y\n" + b"a,1\n" * 3_000 + b"\xe9,1\n",
        "line 3002: not UTF-8 text; .* windows-1252",
    ),
    "mixed line ends": ("g,y\r\na,1\nb,0\r\n", "line ends are not those of a CSV file"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_csv_refused(write, what):
    content, message = REFUSED[what]
    with pytest.raises(DataError, match=message):
        cells(write(content))


def test_gzip(write):
    whole = gzip.compress("".join(f"{i % 7},1\n" for i in range(100_000)).encode())
    with pytest.raises(DataError, match="is truncated, or not a gzip file"):
        cells(write(whole[:-20], "rows.csv.gz"))
    with pytest.raises(DataError, match="is truncated, or not a gzip file"):
        cells(write("g,y\na,1\n", "rows.csv.gz"))
    assert cells(write(gzip.compress(b"g,y\na,1\n"), "rows.csv.gz")) == {("a", 1): 1}
    assert cells(write(gzip.compress(b'{"g":"a","y":1}\n'), "rows.jsonl.gz")) == {("a", 1): 1}


JSON_RIGHT = {
    "missing keys": ('{"g":"a","y":1}\n{"y":0}\n', {("a", 1): 1, (None, 0): 1}),
    "null": ('{"g":null,"y":1}\n', {(None, 1): 1}),
    "the text null": ('{"g":"null","y":1}\n', {("null", 1): 1}),
    "no line end at the end": ('{"g":"a","y":1}\n{"g":"b","y":0}', {("a", 1): 1, ("b", 0): 1}),
    "numbers as texts": ('{"g":"1","y":"1"}\n{"g":2,"y":0}\n', {(1, 1): 1, (2, 0): 1}),
    "one number": ('{"g":1.0,"y":1}\n{"g":1,"y":1}\n{"g":1e0,"y":1}\n', {(1, 1): 3}),
    "negative zero": ('{"g":-0.0,"y":1}\n{"g":0,"y":1}\n', {(0, 1): 2}),
    "escapes": ('{"g":"\\u00e4\\n\\"","y":1}\n', {('ä\n"', 1): 1}),
    "CRLF and blank lines": ('{"g":"a","y":1}\r\n\r\n{"g":"a","y":1}\r\n', {("a", 1): 2}),
    "a list in .jsonl": ('[{"g":"a","y":1},\n{"g":"b","y":1}]', {("a", 1): 1, ("b", 1): 1}),
    "nested columns that are not asked": ('{"g":"a","y":1,"z":{"a":[1]}}\n', {("a", 1): 1}),
}  # fmt: skip


@pytest.mark.parametrize("what", JSON_RIGHT)
def test_json_lines_read_right(write, what):
    content, expected = JSON_RIGHT[what]
    assert cells(write(content, "rows.jsonl")) == expected


@pytest.mark.parametrize(
    "content", ['[{"g":"a","y":1}, {"g":"b","y":0}]', '{"g":"a","y":1}\n{"g":"b",\n"y":0}\n']
)
def test_json_files(write, content):
    assert cells(write(content, "rows.json")) == {("a", 1): 1, ("b", 0): 1}


JSON_REFUSED = {
    "cut off": ('{"g":"a","y":1}\n{"g":"b","y"', "Malformed JSON"),
    "malformed": ('{"g":"a","y":1}\n{"g":b}\n{"g":"a","y":1}\n', "Malformed JSON"),
    "cut off in the first": ('{"g":"a",', "holds no JSON objects with columns, or is truncated"),
    "no objects": ("[]", "holds no JSON objects with columns"),
    "a number": ("[1, 2]", "must hold objects, each a row, not '1'"),
    "a list cut off": ('[{"g":"a","y":1},{"g":"b","y":1}', "Malformed JSON"),
    "a key twice": ('{"g":1,"g":2,"y":1}\n', "has the column 'g' twice"),
    "nested": ('{"g":{"a":1},"y":1}\n', r"'g' \(feature\) holds values that are not plain"),
    "two types": ('{"g":true,"y":1}\n{"g":"true","y":0}\n', "'true' as two types"),
    "latin": (b'{"g":"\xe9","y":1}\n', "is not UTF-8 text; .* windows-1252"),
}


@pytest.mark.parametrize("what", JSON_REFUSED)
def test_json_refused(write, what):
    content, message = JSON_REFUSED[what]
    name = "rows.json" if isinstance(content, str) and content[0] == "[" else "rows.jsonl"
    with pytest.raises(DataError, match=message):
        cells(write(content, name))


def test_parquet_refused(tmp_path, write):
    path = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"g": ["a"] * 1_000, "y": [1] * 1_000}), path)
    whole = path.read_bytes()
    for content in (whole[:-100], b"g,y\na,1\n", b"PAR1"):
        with pytest.raises(DataError, match=r"rows.parquet' is truncated, or not a Parquet file"):
            cells(write(content, "rows.parquet"))
    with pytest.raises(DataError, match=r"cannot read '.*rows.parquet'"):
        cells(write(whole[:60] + b"\x00" * 40 + whole[100:], "rows.parquet"))
    # a garbled footer is refused, or, where only what nobody reads is hit, read right
    garbled = write(whole[:-60] + b"\x07" * 40 + whole[-20:], "rows.parquet")
    try:
        assert cells(garbled) == {("a", 1): 1_000}
    except DataError as error:
        assert "rows.parquet" in str(error)  # noqa: PT017 - either is right


def test_arrow_files(tmp_path, write):
    table = pa.table({"g": ["a", "b"], "y": [1, 0]})
    feather.write_feather(table, tmp_path / "rows.feather")
    with ipc.new_stream(tmp_path / "rows.arrow", table.schema) as stream:
        stream.write_table(table)
    for name in ("rows.feather", "rows.arrow"):
        assert cells(tmp_path / name) == {("a", 1): 1, ("b", 0): 1}
    whole = (tmp_path / "rows.feather").read_bytes()
    for content in (whole[:-50], b"hello"):
        with pytest.raises(DataError, match=r"is truncated, or not an Arrow file"):
            cells(write(content, "cut.feather"))


def test_several_files_with_their_columns_in_another_order(write):
    one = write("g,y\na,1\n", "1.csv")
    two = write("y;g\n0;b\n", "2.csv")
    assert cells([one, two]) == {("a", 1): 1, ("b", 0): 1}
    assert cells(str(one.parent / "*.csv")) == {("a", 1): 1, ("b", 0): 1}
    assert cells([str(one.parent / "*.csv"), one]) == {("a", 1): 1, ("b", 0): 1}


@pytest.mark.parametrize(
    ("name", "one", "two", "message"),
    [
        ("csv", "g,y\na,1\n", "g,x\na,1\n", r"2.csv' lacks 'y', unlike "),
        ("csv", "g,y\na,1\n", "g,y,z\na,1,2\n", r"2.csv' also has 'z', unlike "),
        ("csv", "g,y\na,1\n", "g,y,y\na,1,2\n", r"2.csv' has the column 'y' twice"),
        ("jsonl", '{"g":1,"y":1}\n', '{"g":1,"z":1}\n', r"2.jsonl' lacks 'y'"),
    ],
)
def test_a_second_file_with_other_columns(write, name, one, two, message):
    paths = [write(one, f"1.{name}"), write(two, f"2.{name}")]
    with pytest.raises(DataError, match=message):
        cells(paths)


TWICE = pa.table([[1, 0], [1, 0], ["a", "b"]], names=["y", "y", "g"])


def _written_twice(suffix, text):
    def write(folder):
        (folder / f"t.{suffix}").write_text(text)
        return str(folder / f"t.{suffix}")

    return write


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (lambda _: TWICE, "the frame"),
        (lambda _: TWICE.to_pandas(), "the frame"),
        (lambda _: duckdb.sql("SELECT 1 AS y, 0 AS y, 'a' AS g"), "the relation"),
        (_written_twice("csv", "y,y,g\n1,1,a\n"), "'.*t.csv'"),
        (_written_twice("jsonl", '{"y": 1, "y": 0, "g": "a"}\n'), "'.*t.jsonl'"),
    ],
)  # fmt: skip
def test_a_column_that_is_there_twice(tmp_path, data, name):
    with pytest.raises(DataError, match=f"^{name} has the column 'y' twice; rename one of them$"):
        cells(data(tmp_path))


def test_parquet_files_of_different_types_and_columns(tmp_path):
    pq.write_table(pa.table({"g": ["a"], "y": [1], "w": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"w": [1.5], "y": [0], "g": ["b"]}), tmp_path / "2.parquet")
    cube = fg.count(tmp_path, label="y", sensitive="g", weight="w")
    assert sorted(cube.tables[0].sums["w"].tolist()) == [1, 1.5]
    pq.write_table(pa.table({"y": [0], "g": ["b"]}), tmp_path / "3.parquet")
    with pytest.raises(DataError, match=r"3.parquet' lacks 'w', unlike "):
        fg.count(tmp_path, label="y", sensitive="g")


def test_a_folder_in_partitions(tmp_path):
    for country, year in [("DE", "01"), ("DE", "1"), ("FR", "1")]:
        folder = tmp_path / f"country={country}" / f"year={year}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"y": [1, 0]}), folder / "part.parquet")
    assert cells(tmp_path, sensitive="country") == {
        ("DE", 0): 2, ("DE", 1): 2, ("FR", 0): 1, ("FR", 1): 1,
    }  # fmt: skip
    assert cells(tmp_path, sensitive="year") == {
        ("01", 0): 1, ("01", 1): 1, ("1", 0): 2, ("1", 1): 2,
    }  # fmt: skip


@pytest.mark.parametrize("large", [0, 1 << 40])
def test_words_among_numbers_in_partitions_are_refused(monkeypatch, tmp_path, large):
    monkeypatch.setattr(_duckdb_relation, "_LARGE", large)
    for score in ("0.2", "high"):
        (tmp_path / f"s={score}").mkdir()
        pq.write_table(pa.table({"y": [1, 0]}), tmp_path / f"s={score}" / "part.parquet")
    with pytest.raises(DataError, match="column 's' must hold numbers, but has 'high'"):
        fg.count(tmp_path, label="y", score="s", sensitive="y")


def test_a_glob_of_folders(write, tmp_path):
    for day in ("06", "07"):
        folder = tmp_path / "lake" / f"day={day}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"y": [1, 0]}), folder / "part.parquet")
    lake = str(tmp_path / "lake")
    of_folder = cells(lake, sensitive="day")
    assert of_folder == {("06", 0): 1, ("06", 1): 1, ("07", 0): 1, ("07", 1): 1}
    for pattern in ("*", "day=0?", "**", "*/*.parquet"):
        assert cells(f"{lake}/{pattern}", sensitive="day") == of_folder
    pq.write_table(pa.table({"y": [1], "day": ["08"]}), tmp_path / "lake" / "new.parquet")
    assert cells(f"{lake}/*", sensitive="day") == {("08", 1): 1}  # files go before folders


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "it's.csv", "ä b.csv"])
def test_names_of_files_mean_themselves(write, name):
    path = write("g,y\na,1\n", name)
    write("g,y\nother,1\n", "a1.csv")
    assert cells(path) == {("a", 1): 1}


@POSIX
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl", "dta"])
@pytest.mark.parametrize("folder", ["~", "file:"])
def test_no_folder_is_taken_for_another(tmp_path, monkeypatch, folder, kind):
    """Readers took a folder called "~" for that of the person, and read a file of theirs."""
    (tmp_path / "home").mkdir()
    (tmp_path / "sent" / folder).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "sent")
    save = {
        "csv": pd.DataFrame.to_csv, "parquet": pd.DataFrame.to_parquet,
        "jsonl": partial(pd.DataFrame.to_json, orient="records", lines=True),
        "dta": pd.DataFrame.to_stata,
    }  # fmt: skip
    for group, place in (("sent", f"{tmp_path}/sent/{folder}"), ("home", f"{tmp_path}/home")):
        save[kind](pd.DataFrame({"g": [group], "y": [1]}), f"{place}/x.{kind}")
    assert cells(f"*/x.{kind}") == {("sent", 1): 1}


def test_files_that_are_not_there(write, tmp_path):
    with pytest.raises(DataError, match=r"no file '.*nothing.csv'"):
        cells(tmp_path / "nothing.csv")
    with pytest.raises(DataError, match=r"no file '.*\*.csv'"):
        cells(str(tmp_path / "*.csv"))
    with pytest.raises(DataError, match=r"the folder '.*' holds no .parquet files"):
        cells(tmp_path)
    with pytest.raises(DataError, match="files of different formats cannot be read together"):
        cells([write("g,y\na,1\n", "1.csv"), write('{"g":1,"y":1}', "2.jsonl")])


@pytest.mark.parametrize(("suffix", "way"), [
    ("xls", "save it as .xlsx"), ("ods", "save it as .xlsx"), ("rds", "haven::write_sav"),
    ("7z", "unpack it"), ("tar.gz", "unpack it"), ("pkl", "give the frame"),
    ("orc", "give the frame"), ("accdb", "save its table as .csv"), ("pdf", "save its table"),
    ("sas7bcat", "name the .sas7bdat file"), ("what", "known are .csv, .tsv"),
    ("", "known are .csv, .tsv"),
])  # fmt: skip
def test_an_error_names_the_way_out_of_every_format_that_is_not_read(suffix, way, write):
    assert not WAYS_OUT.keys() & FORMATS.keys()
    with pytest.raises(DataError, match=rf"has a format that is not read: .*{re.escape(way)}"):
        fg.count(write("g,y\na,1\n", f"rows.{suffix}".rstrip(".")), label="y", sensitive="g")


@pytest.mark.parametrize("content", [
    b"g,y\na,1\n", b'{"g":"a","y":1}\n', gzip.compress(b"g,y\na,1\n", mtime=0), b"",
])  # fmt: skip
def test_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    if content:
        assert cells("-") == {("a", 1): 1}
        return
    with pytest.raises(DataError, match="standard input is empty"):
        cells("-")


@pytest.mark.parametrize("data", [None, 5, 2.5, b"g,y", object()])
def test_what_is_no_data(data):
    wanted = r"(cannot audit data .*|there are no data); give a frame .*, a path, .* or arrays by"
    with pytest.raises(DataError, match=wanted):
        cells(data)


@pytest.mark.parametrize("spelling", ["+0.25", ".25", "0.2500000000000001", " 0.25", "2.5e-1"])
def test_scores_of_any_spelling_count(write, spelling):
    rng = np.random.default_rng(3)
    scores = rng.random(300).tolist()
    labels = [int(rng.random() < score) for score in scores]

    def areas(score):
        texts = [score if i == 7 else repr(each) for i, each in enumerate(scores)]
        rows = (f"{'ab'[i % 2]},{labels[i]},{text}\n" for i, text in enumerate(texts))
        report = fg.audit(write("g,y,s\n" + "".join(rows)), label="y", positive=1, score="s",
                          sensitive="g", metrics=["roc_auc"])  # fmt: skip
        return [group.rates["roc_auc"].value for group in report.groups]

    assert None not in areas("0.25")
    assert areas(spelling) == pytest.approx(areas("0.25"), abs=1e-12)


# ---- databases that are read: how a connection ends
def test_a_file_of_sqlite_is_forgotten_in_any_thread(tmp_path: Path) -> None:
    """The collector closes a connection in the thread that runs it, where SQLite may refuse."""
    pytest.importorskip("ibis")
    with sqlite3.connect(tmp_path / "rows.db") as connection:
        connection.execute("CREATE TABLE people (g TEXT)")
    connection.close()
    held = [open_database(f"sqlite:///{tmp_path}/rows.db", "people")]

    def forget() -> None:
        held.clear()
        gc.collect()

    thread = threading.Thread(target=forget)
    thread.start()
    thread.join()


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_one_statement_is_counted_or_none(engine: str, tmp_path: Path) -> None:
    """Of two SELECTs DuckDB returned the last, and a report was of its rows alone."""
    pytest.importorskip("ibis")
    file = tmp_path / "rows.db"
    connect = sqlite3.connect if engine == "sqlite" else duckdb.connect
    connection = connect(str(file))  # type: ignore[operator]
    connection.execute("CREATE TABLE people (g TEXT)")
    connection.commit()
    connection.close()
    url = f"{engine}:///{file}"
    for two in ("SELECT * FROM people; SELECT 1 AS g", "SELECT 1; DROP TABLE people;"):
        with pytest.raises(DataError, match="holds 2 statements; write one SELECT"):
            open_database(url, two)
    for one in (
        "SELECT * FROM people",
        "SELECT * FROM people; ",
        "SELECT g FROM people WHERE g <> ';';",
    ):
        assert open_database(url, one).columns == ("g",)


@pytest.mark.parametrize("scheme", ["duckdb", "sqlite", "DuckDB", "SQLite"])
@pytest.mark.parametrize("log", ["delete", "wal"])
def test_a_file_is_opened_for_reading_alone(scheme: str, log: str, tmp_path: Path) -> None:
    """SQLite wrote what a journal beside a file holds into it, and removed the journal."""
    pytest.importorskip("ibis")
    file, lite = tmp_path / "rows #1.db", scheme.lower() == "sqlite"
    connection = sqlite3.connect(file) if lite else duckdb.connect(file)
    if lite:
        connection.execute(f"PRAGMA journal_mode = {log}")
    connection.execute("CREATE TABLE people AS SELECT 'a' AS g")
    connection.commit()
    connection.close()

    def kept() -> dict[str, bytes]:
        return {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    before = kept()
    source = open_database(f"{scheme}:///{file}", "people")
    assert source.columns == ("g",)
    assert kept() == before
    if lite:
        con = source.table.get_backend().con  # type: ignore[attr-defined]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            con.execute("CREATE TABLE other (g TEXT)")
        for end in ("-journal", "-wal"):
            (tmp_path / f"rows #1.db{end}").write_bytes(b"")
            with pytest.raises(DataError, match=r"has a journal beside it .* copy the file alone"):
                open_database(f"{scheme}:///{file}", "people")
            (tmp_path / f"rows #1.db{end}").unlink()
    assert kept() == before
