"""The same people in files of many programs: one digest, labels as names, missing ones named."""

import bz2
import json
import random
import re
import zipfile
from base64 import b64decode, b64encode
from contextlib import nullcontext

import duckdb
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from tests.needs import need
from tests.sas_catalogue import write_catalogue

import fairgauge as fg
from fairgauge.cli import main

openpyxl = pytest.importorskip("openpyxl")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")

N = 1_000
RNG = np.random.default_rng(1)
CODES = pd.DataFrame(
    {
        "sex": RNG.choice([1.0, 2.0, 8.0, 9.0], N, p=[0.45, 0.48, 0.03, 0.04]),
        "ok": RNG.choice([0.0, 1.0], N),
        "score": RNG.random(N).round(3),
    }
)
LABELS = {"sex": {1: "Male", 2: "Female", 8: "Don't know", 9: "Refused"}, "ok": {0: "no", 1: "yes"}}
NAMED = pd.DataFrame(
    {
        "sex": CODES["sex"].map({1: "Male", 2: "Female"}),
        "ok": CODES["ok"].map(LABELS["ok"]),
        "score": CODES["score"],
    }
)
ASKED = {"prediction": "ok", "positive": "yes", "sensitive": "sex", "score": "score"}


def database(path, release):
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS of_release (STORAGE_VERSION '{release}')")
        connection.execute("CREATE TABLE of_release.people AS FROM NAMED")


def compressed(path, kind):
    plain = path.with_suffix("")
    NAMED.to_csv(plain, index=False)
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(plain, "folder/people.csv")
            archive.writestr("__MACOSX/people.csv", "x")
            archive.writestr("readme.pdf", "x")
    elif kind == "bz2":
        path.write_bytes(bz2.compress(plain.read_bytes()))
    else:
        with pa.CompressedOutputStream(str(path), "zstd") as held:
            held.write(plain.read_bytes())


WRITERS = {
    "a.csv": lambda p: NAMED.to_csv(p, index=False),
    "a.parquet": lambda p: NAMED.to_parquet(p),
    "a.arrow": lambda p: pl.from_pandas(NAMED).write_ipc(p),
    "a.jsonl": lambda p: NAMED.to_json(p, orient="records", lines=True),
    "a.xlsx": lambda p: NAMED.to_excel(p, index=False),
    "a.sav": lambda p: pyreadstat.write_sav(
        CODES, p, variable_value_labels=LABELS, missing_ranges={"sex": [{"lo": 8, "hi": 9}]}
    ),
    "a.zsav": lambda p: pyreadstat.write_sav(
        CODES, p, variable_value_labels=LABELS, missing_ranges={"sex": [8, 9]}, compress=True
    ),
    "a.dta": lambda p: pyreadstat.write_dta(
        CODES.assign(sex=CODES["sex"].astype(object).where(CODES["sex"] < 8, "r")),
        p,
        variable_value_labels=LABELS,
        missing_user_values={"sex": ["r"]},
    ),
    "5.xpt": lambda p: pyreadstat.write_xport(NAMED.fillna({"sex": ""}), p, file_format_version=5),
    "8.xpt": lambda p: pyreadstat.write_xport(NAMED.fillna({"sex": ""}), p, file_format_version=8),
    "1.duckdb": lambda p: database(p, "v1.0.0"),
    "2.duckdb": lambda p: database(p, "v2.0.0"),
    "a.csv.zip": lambda p: compressed(p, "zip"),
    "a.csv.bz2": lambda p: compressed(p, "bz2"),
    "a.csv.zst": lambda p: compressed(p, "zst"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_people_have_one_digest_in_every_format(name, tmp_path):
    path = tmp_path / name
    if name == "2.duckdb" and duckdb.__version__ < "2":
        pytest.skip("DuckDB 1 neither writes nor reads the files of DuckDB 2")
    WRITERS[name](path)
    rows = fg.sql(f"duckdb:///{path}", "people") if path.suffix == ".duckdb" else path
    found = fg.count(rows, **ASKED)
    assert found.digest == fg.count(NAMED, **ASKED).digest
    assert found.rows == N


WAITS = {"08:00:00": 8, "32:00:00": 32, "00:15:00": 0.25, "1000:00:00": 1000, None: np.nan}
WAITED = RNG.choice([*WAITS], N)
HOURS = pd.to_timedelta([WAITS[each] for each in WAITED], unit="h")
# days on which weeks begin that are counted from 1 January
MONTHS = pd.Series(pd.to_datetime(RNG.choice(["2025-12-03", "2026-01-01", "2026-07-02"], N)))
SIZES = ["small", "medium", "large"]
MOMENTS = pd.DataFrame(
    {
        "wait": HOURS, "month": MONTHS.dt.strftime("%Y-%m"), "week": MONTHS.dt.date,
        "size": pd.Categorical(RNG.choice(SIZES, N), SIZES, ordered=True),
        "score": RNG.choice([0.25, 0.5, np.nan], N), "ok": RNG.choice([1, 0], N),
    }
)  # fmt: skip
SECONDS = MOMENTS["wait"].dt.total_seconds()
TEXTS = MOMENTS.assign(
    wait=WAITED, week=MOMENTS["week"].astype(str), size=MOMENTS["size"].astype(str),
)  # fmt: skip
CODED = MOMENTS.assign(size=MOMENTS["size"].cat.codes.astype(float), ok=MOMENTS["ok"].astype(float))
OF_MOMENTS = {
    "prediction": "ok", "positive": 1, "sensitive": ["wait", "month", "week", "size", "score"],
    "where": "month >= 2026-01-01",
}  # fmt: skip


def since(epoch, unit="s"):
    return (MONTHS - pd.Timestamp(epoch)) / pd.Timedelta(1, unit)


def write_sav(path):
    seconds = since("1582-10-14")
    pyreadstat.write_sav(
        CODED.assign(wait=SECONDS, month=seconds, week=seconds), path,
        variable_format={"wait": "DTIME12", "month": "MOYR8", "week": "WKYR8"},
        variable_value_labels={"size": dict(enumerate(SIZES))},
    )  # fmt: skip


def write_dta(path):
    years = MONTHS.dt.year - 1960
    months = years * 12.0 + MONTHS.dt.month - 1
    weeks = years * 52 + (MONTHS.dt.day_of_year - 1) / 7
    pyreadstat.write_dta(
        CODED.assign(wait=SECONDS * 1000, month=months, week=weeks), path,
        variable_format={"wait": "%tcHH:MM:SS", "month": "%tm", "week": "%tw"},
        variable_value_labels={"size": dict(enumerate(SIZES))},
    )  # fmt: skip


def write_xpt(path):
    days = since("1960-01-01", "D")
    pyreadstat.write_xport(
        TEXTS.assign(wait=SECONDS, month=days, week=days), path,
        variable_format={"wait": "TIME12.", "month": "MONYY7.", "week": "DATE9."},
    )  # fmt: skip


def write_sas(path):
    if not hasattr(pyreadstat, "write_sas7bdat"):
        pytest.skip("of pyreadstat 1.3.8")
    days = since("1960-01-01", "D")
    pyreadstat.write_sas7bdat(
        TEXTS.assign(wait=SECONDS, month=days, week=days), path,
        variable_format={"wait": "TIME12.", "month": "MONYY7.", "week": "DATE9."},
    )  # fmt: skip


def write_sheet(path, **options):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(path) as book:
        formats = [book.add_format({"num_format": each}) for each in ("[h]:mm:ss", "h:mm")]
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, MOMENTS.columns)
        for i, row in enumerate(TEXTS.itertuples(index=False), 1):
            if HOURS[i - 1] is not pd.NaT:
                sheet.write_number(i, 0, HOURS[i - 1] / pd.Timedelta(1, "D"), formats[i % 2])
            sheet.write_row(i, 1, row[1:4])
            sheet.write_formula(i, 4, f"={row[4]}", None, "" if np.isnan(row[4]) else row[4])
            sheet.write_boolean(i, 5, row[5]) if i % 2 else sheet.write_number(i, 5, row[5])


MADE = {
    "a.sav": write_sav, "a.dta": write_dta, "a.xpt": write_xpt, "a.xlsx": write_sheet,
    "a.sas7bdat": write_sas,
    "a.feather": lambda p: MOMENTS.to_feather(p),
    "a.arrow": lambda p: pl.from_pandas(MOMENTS).write_ipc(p),  # sizes as views, by code
    "a.parquet": lambda p: MOMENTS.to_parquet(p),
    "b.parquet": lambda p: pl.from_pandas(MOMENTS).write_parquet(p),
    "c.parquet": lambda p: duckdb.sql("FROM MOMENTS").write_parquet(str(p)),
    "a.jsonl": lambda p: p.write_text("\n".join(map(json.dumps, TEXTS.to_dict("records")))),
}  # fmt: skip


@pytest.mark.parametrize("name", [*MADE, "relation"])
def test_durations_months_orders_nan_and_formulas_have_one_digest(name, tmp_path):
    """8 and 32 hours were one group, months numbers, and NaN in JSON lines a text."""
    rows = duckdb.sql("FROM MOMENTS") if name == "relation" else tmp_path / name
    if name != "relation":
        MADE[name](rows)
    found = fg.count(rows, **OF_MOMENTS)
    assert found.digest == fg.count(MOMENTS, **OF_MOMENTS).digest
    levels = {axis.column: [*values] for axis, values in found.levels.items()}
    assert {*levels["wait"]} == {*WAITS} - {None}
    if name in ("a.sav", "a.dta", "a.feather", "a.parquet", "relation"):
        assert levels["size"] == SIZES


OF_READERS = pd.DataFrame(
    {
        "sex": pd.Categorical(NAMED["sex"]), "ok": CODES["ok"] == 1,
        "size": MOMENTS["size"], "day": MOMENTS["week"], "amount": CODES["sex"].astype(int),
        "score": MOMENTS["score"],
    }
)  # fmt: skip
AVRO = {
    "sex": ["null", "string"], "ok": "boolean", "day": {"type": "int", "logicalType": "date"},
    "size": {"type": "enum", "name": "sizes", "symbols": SIZES}, "amount": "long",
    "score": ["null", "double"],
}  # fmt: skip


def read_orc(path):
    orc = pytest.importorskip("pyarrow.orc")
    texts = OF_READERS.astype({"sex": object, "size": str})
    orc.write_table(pa.Table.from_pandas(texts, preserve_index=False), path)
    return orc.read_table(path)


def read_avro(path, by):
    need("fastavro")
    import fastavro

    fields = [{"name": name, "type": kind} for name, kind in AVRO.items()]
    rows = OF_READERS.astype(object).where(OF_READERS.notna(), None).to_dict("records")
    with path.open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "row", "fields": fields}, rows)
    if by == "polars":
        return pl.read_avro(path)
    with path.open("rb") as file:
        return pl.DataFrame([*fastavro.reader(file)])


def read_arff(path):
    arff = pytest.importorskip("scipy.io.arff")
    kinds = {"sex": "{Female,Male}", "ok": "{True,False}", "size": "{small,medium,large}",
             "day": "date yyyy-MM-dd", "amount": "integer", "score": "real"}  # fmt: skip
    head = [f"@attribute {name} {kind}" for name, kind in kinds.items()]
    texts = OF_READERS.astype(object).where(OF_READERS.notna(), "?").astype(str)
    rows = [",".join(row) for row in texts.itertuples(index=False)]
    path.write_text("\n".join(["@relation rows", *head, "@data", *rows]))
    frame = pd.DataFrame(arff.loadarff(path)[0])  # texts are bytes, of which a missing one is ?
    (found,) = fg.audit(frame, prediction="ok", positive="True", sensitive="sex").doubts
    assert (found.code, found.values) == ("missing_marker", ("?",))
    return frame.replace({b"?": None})


def read_ods(path):
    need("odf")
    OF_READERS.to_excel(path, engine="odf", index=False)
    return pd.read_excel(path, engine="odf")


def read_rds(path):
    need("pyreadr")
    import pyreadr

    pyreadr.write_rds(path, OF_READERS)
    (read,) = pyreadr.read_r(path).values()
    return read


READERS = {
    "a.orc": read_orc, "a.avro": lambda p: read_avro(p, "fastavro"),
    "b.avro": lambda p: read_avro(p, "polars"), "a.arff": read_arff, "a.ods": read_ods,
    "a.rds": read_rds,
}  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_frames_of_other_readers_hold_what_their_files_do(name, tmp_path):
    """Of formats that are not read, the frame of their reader has the values that were written."""
    asked = {"prediction": "ok", "positive": ["True"], "score": "score",
             "sensitive": ["sex", "size", "day", "amount"]}  # fmt: skip
    found = fg.count(READERS[name](tmp_path / name), **asked)
    texts = OF_READERS.astype({"size": str, "ok": str if name == "a.arff" else bool})
    assert found.digest == fg.count(texts, **asked).digest
    with pytest.raises(fg.DataError, match="a format that is not read: "):
        fg.count(tmp_path / name, **asked)


def test_codes_beside_labels_name_values_too(tmp_path):
    WRITERS["a.sav"](tmp_path / "a.sav")
    found = [
        fg.audit(
            tmp_path / "a.sav", prediction="ok", positive=yes, sensitive="sex",
            reference={"sex": male}, where={"ok": [no, yes]}, recode={"sex": {"W": [female]}},
            rules=[fg.rule("DI", at_least=0.5, groups=["W", str(female)])],
        )
        for no, yes, male, female in (("no", "yes", "Male", "Female"), (0, 1, 1, 2))
    ]  # fmt: skip
    assert found[0].spec == found[1].spec
    assert found[0]["selection_rate.ratio", "sex", "W"].reference.group == "Male"
    without = fg.audit(tmp_path / "a.sav", **ASKED | {"positive": 1}, exclude_groups=["2"])
    assert {each.group for each in without.groups} == {"Male"}


def test_what_a_file_declares_missing_is_named_with_its_reason(tmp_path):
    WRITERS["a.sav"](tmp_path / "a.sav")
    report = fg.audit(tmp_path / "a.sav", **ASKED)
    (note,) = [each for each in report.diagnostics if each.code == "declared_missing"]
    held = CODES["sex"].map(LABELS["sex"]).value_counts()
    assert dict(zip(note["reasons"], note["rows_of"], strict=True)) == {
        each: held[each] for each in ("Don't know", "Refused")
    }
    assert f"Refused {held['Refused']}" in note.message


def test_a_catalogue_of_sas_names_values_and_letters_are_reasons(tmp_path):
    """A data set with a catalogue next to it was not read at all."""
    if not hasattr(pyreadstat, "write_sas7bdat"):
        pytest.skip("of pyreadstat 1.3.8")
    write_catalogue(tmp_path / "a.sas7bcat")
    sex = pd.Series([2.0, 1.0, "R", np.nan] * 40, dtype=object)
    pyreadstat.write_sas7bdat(
        pd.DataFrame({"sex": sex, "ok": [1.0, 0.0] * 80}), tmp_path / "a.sas7bdat",
        variable_format={"sex": "SEXF"}, missing_user_values={"sex": ["R"]},
    )  # fmt: skip
    report = fg.audit(tmp_path / "a.sas7bdat", prediction="ok", positive=1, sensitive="sex")
    assert [(each.group, each.n) for each in report.groups] == [("Female", 40), ("Mäle", 40)]
    assert "'sex' is missing where the file declares it: R 40" in map(str, report.diagnostics)


def test_labelled_values_keep_the_order_of_their_codes_and_columns_their_labels(tmp_path):
    codes = pd.DataFrame(
        {"size": [3.0, 1.0, 2.0, 9.0] * 50, "ok": [0.0, 1.0] * 100, "DWGT": [1.0, 2.0] * 100}
    ).assign(WTSSALL=1.0)
    named = {1: "large", 2: "middle", 3: "small", 9: "gone"}
    pyreadstat.write_sav(
        codes, tmp_path / "a.sav", column_labels=["Size of the firm", "", "", ""],
        variable_value_labels={"size": named},
    )  # fmt: skip
    asked = {"prediction": "ok", "positive": 1}
    report = fg.audit(tmp_path / "a.sav", **asked, sensitive="size")
    assert [e.group for e in report.groups if e.group in named.values()] == [*named.values()]
    (note,) = [each for each in report.diagnostics if each.code == "column_label"]
    assert (note.feature, note["label"]) == ("size", "Size of the firm")
    assert note["values"][:2] == ("1 large", "2 middle")
    (note,) = [each for each in report.diagnostics if each.code == "unused_weights"]
    assert note["values"] == ("DWGT", "WTSSALL")
    weighted = fg.audit(tmp_path / "a.sav", **asked, sensitive="size", weight="DWGT")
    assert "unused_weights" not in {each.code for each in weighted.diagnostics}
    stated = fg.audit(tmp_path / "a.sav", **asked, sensitive={"column": "size", "order": ["gone"]})
    assert stated.groups[0].group == "gone"


def test_labels_of_two_codes_and_codes_without_a_label_stay_groups(tmp_path):
    codes = pd.DataFrame({"g": [1.0, 8.0, 9.0, 5.0] * 50, "ok": [0.0, 1.0] * 100})
    pyreadstat.write_sav(
        codes, tmp_path / "a.sav",
        variable_value_labels={"g": {1: "One", 8: "Other", 9: "Other"}},
    )  # fmt: skip
    report = fg.audit(tmp_path / "a.sav", prediction="ok", positive=1, sensitive="g")
    assert {each.group for each in report.groups} == {"One", "Other (8)", "Other (9)", "5"}


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labels_that_are_another_code_stand_with_their_own(suffix, tmp_path):
    """Whoever has code 1, labelled "2", was counted with those of code 2, and 3 with an own 7."""
    codes = pd.DataFrame({"g": [1.0, 2.0, 3.0, 7.0, 4.0] * 40, "ok": [0.0, 1.0] * 100})
    write = pyreadstat.write_sav if suffix == ".sav" else pyreadstat.write_dta
    labels = {"g": {1: "2", 2: "1", 3: "7", 4: "4"}}
    write(codes, tmp_path / f"a{suffix}", variable_value_labels=labels)
    asked = {"prediction": "ok", "positive": 1, "sensitive": "g"}
    report = fg.audit(tmp_path / f"a{suffix}", **asked)
    assert {each.group: each.n for each in report.groups if each.group} == dict.fromkeys(
        ["2 (1)", "1 (2)", "7 (3)", "4", "7"], 40
    )


@pytest.mark.parametrize("version", [5, 8])
def test_a_transport_file_of_several_data_sets_is_refused(version, tmp_path):
    """The cells of the second were read as rows of the first."""
    written = []
    for name in ("people", "visits"):
        path = tmp_path / f"{name}.xpt"
        pyreadstat.write_xport(NAMED[["score"]], path, table_name=name, file_format_version=version)
        written.append(path.read_bytes())
    member = written[1].index(b"HEADER RECORD*******MEMB")
    (tmp_path / "a.xpt").write_bytes(written[0] + written[1][member:])
    with pytest.raises(fg.DataError, match="holds several data sets; write each to a file"):
        fg.count(tmp_path / "a.xpt", **ASKED)


def test_numbers_of_which_a_few_have_labels_stay_numbers(tmp_path):
    rows = pd.DataFrame({"age": [20.0 + i % 60 for i in range(600)], "ok": [0.0, 1.0, 1.0] * 200})
    pyreadstat.write_sav(
        rows, tmp_path / "a.sav", variable_value_labels={"age": {79: "79 or more"}}
    )
    report = fg.audit(
        tmp_path / "a.sav", prediction="ok", positive=1,
        sensitive={"column": "age", "cuts": [40, 60]},
    )  # fmt: skip
    assert sum(each.n for each in report.groups) == 600


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".sas7bdat", ".xpt", ".xlsx", ".zip", ".bz2"])
def test_a_damaged_file_is_one_error(suffix, tmp_path):
    path = tmp_path / f"rows.csv{suffix}"
    path.write_bytes(b"not what it should be" * 40)
    with pytest.raises(fg.DataError, match=r"cannot (read|unpack) "):
        fg.count(path, **ASKED)


def test_archives_of_no_table_or_several_name_what_they_hold(tmp_path):
    for names, message in ((["a.csv", "b.csv"], "2 tables"), (["a.pdf"], "no table")):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for name in names:
                archive.writestr(name, "x")
        with pytest.raises(fg.DataError, match=f"{message} .*{names[0]}"):
            fg.count(tmp_path / "a.zip", **ASKED)


def test_a_workbook_with_several_sheets_names_them_and_one_is_chosen(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"note": ["x"]}).to_excel(book, sheet_name="About", index=False)
        NAMED.to_excel(book, sheet_name="People", index=False, startrow=3)
    with pytest.raises(fg.DataError, match="2 sheets with rows, 'About', 'People'"):
        fg.count(path, **ASKED)
    expected = fg.count(NAMED, **ASKED).digest
    assert fg.count(f"{path}#People", **ASKED).digest == expected
    with pytest.raises(fg.DataError, match="no sheet 'Peple'"):
        fg.count(f"{path}#Peple", **ASKED)
    asked = ["audit", str(path), "--sheet", "People", "--prediction", "ok", "--positive", "yes"]
    done = CliRunner().invoke(main, [*asked, "--sensitive", "sex", "--quiet"])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, [*asked, "--header-row", "4", "--sensitive", "sex", "--quiet"])
    assert done.exit_code == 0, done.output
    for row, message in ((2, "no row that names every column"), (9_999, "has no row 9,999")):
        with pytest.raises(fg.DataError, match=message):
            fg.count(f"{path}#People#{row}", **ASKED)


def test_a_sheet_is_read_whole_whatever_size_it_states(tmp_path):
    """Programs write that a sheet ends at A1, and openpyxl then reads one row in silence."""
    NAMED.to_excel(tmp_path / "a.xlsx", index=False)
    with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
        parts = {name: book.read(name) for name in book.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', parts[sheet])
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)
    assert fg.count(tmp_path / "a.xlsx", **ASKED).rows == N


def test_floats_of_stata_are_the_decimals_that_they_stand_for(tmp_path):
    """What `generate` makes is of 32 bits: nobody reached a threshold of 0.7."""
    rows = pd.DataFrame({"g": ["a", "b"] * 50, "ok": [1, 0, 0, 1] * 25})
    rows["s"] = rows["t"] = np.array([0.7, 0.1, 16777216, 1 / 3] * 25, dtype="float32")
    rows.to_stata(tmp_path / "a.dta", write_index=False)
    asked = {"label": "ok", "score": "s", "threshold": 0.7, "score_range": (0, 1e8)}
    asked |= {"positive": 1, "sensitive": ["g", "t"]}
    assert fg.count(tmp_path / "a.dta", **asked).digest == fg.count(rows, **asked).digest


CELLS = {
    "an empty text": [("a", 1), ("#N/A", 0), ("", 1)],
    "a formula that failed": [("a", 1), ("#N/A", 0), ("b", 0)],
    "texts stay texts": [("01", 1), ("1", 0)],
}


@pytest.mark.parametrize("rows", CELLS.values(), ids=CELLS)
def test_cells_keep_their_types_and_failed_formulas_have_no_value(rows, tmp_path):
    book = openpyxl.Workbook()
    for row in [("g", "ok"), *rows * 50]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    report = fg.audit(tmp_path / "a.xlsx", prediction="ok", positive=1, sensitive="g")
    assert {each.group: each.n for each in report.groups} == {
        group: 50 for group, _ in rows if group not in ("#N/A", "")
    }


@pytest.mark.parametrize("engine", ["openpyxl", "xlsxwriter"])
def test_a_formula_without_its_result_is_named(engine, tmp_path):
    """Programs that write workbooks store none, or 0, which was read."""
    rows = pd.DataFrame({"g": ["a", "b"] * 50, "ok": ["=1+0", "=1-1"] * 50})
    rows.to_excel(tmp_path / "a.xlsx", index=False, engine=engine)
    with pytest.raises(fg.DataError, match="formulas without their results"):
        fg.count(tmp_path / "a.xlsx", prediction="ok", positive=1, sensitive="g")


def test_formulas_of_a_header_and_of_a_total_without_results_are_named(tmp_path):
    """A header of formulas, and a last row of nothing else, ended in an internal error."""
    pd.DataFrame({"g": ["a", "b"] * 50, "ok": [1, "=1-1"] * 50}).to_excel(
        tmp_path / "a.xlsx", index=False
    )
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    book.active["A1"] = '="g"'
    book.active["B102"] = "=SUM(B2:B101)"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(fg.DataError, match=r"formulas without their results \('ok'\)"):
        fg.count(tmp_path / "a.xlsx", prediction="ok", positive=1, sensitive="")


def shift(path, rows, columns, cells=()):
    book = openpyxl.load_workbook(path)
    if rows:
        book.active.insert_rows(1, rows)
    for column in columns:
        book.active.insert_cols(column)
    for place, value in cells:
        book.active[place] = value
    book.save(path)


@pytest.mark.parametrize(
    ("rows", "columns", "cells"),
    [
        (3, [1, 1], [("A1", "Applicants of 2026")]),  # a table that begins in C4
        (0, [2, 2, 4], []),  # columns without a cell between those of the table
        (2, [], [("F1", "as of May"), ("G1", "draft")]),
        (0, [], [("E1", "remarks"), ("E2", "late")]),
    ],
)
def test_tables_may_stand_anywhere_on_a_sheet(rows, columns, cells, tmp_path):
    """A column without a name, or a title right of the table, left no header."""
    for index in (False, True):
        NAMED.to_excel(tmp_path / "a.xlsx", index=index)
        shift(tmp_path / "a.xlsx", rows, columns, cells)
        assert fg.count(tmp_path / "a.xlsx", **ASKED).digest == fg.count(NAMED, **ASKED).digest


def test_numbers_name_columns_below_a_title_and_cells_that_name_all_but_one_are_no_title(tmp_path):
    """The first row of people was the header where a column had no name."""
    years = NAMED.rename(columns={"score": 2026})
    years.to_excel(tmp_path / "a.xlsx", index=False, startrow=1)
    shift(tmp_path / "a.xlsx", 0, [], [("A1", "A title")])
    asked = ASKED | {"score": "2026"}
    assert fg.count(tmp_path / "a.xlsx", **asked).digest == fg.count(years, **asked).digest
    shift(tmp_path / "a.xlsx", 0, [], [("B2", None)])
    with pytest.raises(fg.DataError, match="no row that names every column"):
        fg.count(tmp_path / "a.xlsx", **asked)


@pytest.mark.parametrize("groups", [False, True])
def test_a_table_of_texts_with_an_index_has_its_header(groups, tmp_path):
    """The first row of people was the header: its cells are texts, and one more."""
    texts = pd.DataFrame({"sex": ["F", "M"] * 50, "ok": ["yes", "no"] * 50})
    texts.index = [f"p{i}" for i in range(100)]
    if groups:  # a line of groups of columns stands above names, which stand in no row below
        texts.index.name = "id"
        texts.columns = pd.MultiIndex.from_tuples([("person", "sex"), ("outcome", "ok")])
    texts.to_excel(tmp_path / "a.xlsx")
    if groups:
        book = openpyxl.load_workbook(tmp_path / "a.xlsx")
        book.active.delete_rows(3)
        book.active["A2"] = "id"
        book.save(tmp_path / "a.xlsx")
    found = fg.count(tmp_path / "a.xlsx", prediction="ok", positive="yes", sensitive="sex")
    assert found.rows == 100


@pytest.mark.parametrize("merged", ["A3:A92", "A1:C1"])
def test_merged_cells_of_several_rows_are_refused(merged, tmp_path):
    """Rows below the first had no group; a title may be merged."""
    book = openpyxl.Workbook()
    for row in [("A title",), ("g", "ok"), *[(g, i % 3 // 2) for g in "ab" for i in range(90)]]:
        book.active.append(row)
    book.active.merge_cells(merged)
    book.save(tmp_path / "a.xlsx")
    asked = {"prediction": "ok", "positive": 1, "sensitive": "g"}
    if merged == "A1:C1":
        assert fg.audit(tmp_path / "a.xlsx", **asked).data.rows == 180
        return
    with pytest.raises(fg.DataError, match=r"merged cells of several rows.*'A3'.*unmerge them"):
        fg.audit(tmp_path / "a.xlsx", **asked)


@pytest.mark.parametrize(
    "write",
    [
        NAMED.to_excel,  # with an index, whose column has no name
        NAMED.assign(comments=None).set_index("sex").to_excel,  # a column of a name alone
    ],
)
def test_columns_of_a_name_or_of_cells_alone_leave_the_header_one(write, tmp_path):
    """The first row of people was taken for the names of the columns."""
    write(tmp_path / "a.xlsx")
    assert fg.count(tmp_path / "a.xlsx", **ASKED).digest == fg.count(NAMED, **ASKED).digest


def test_hidden_sheets_are_not_asked_about_and_hidden_rows_are_rows(tmp_path):
    NAMED.to_excel(tmp_path / "a.xlsx", index=False)
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    book.create_sheet("Lists").append(("M", "F"))
    book["Lists"].sheet_state, book.active.row_dimensions[7].hidden = "hidden", True
    book.save(tmp_path / "a.xlsx")
    assert fg.count(tmp_path / "a.xlsx", **ASKED).digest == fg.count(NAMED, **ASKED).digest


_OPEN, _ISO = b"http://schemas.openxmlformats.org", b"http://purl.oclc.org/ooxml"
STRICT = {
    _OPEN + b"/spreadsheetml/2006/main": _ISO + b"/spreadsheetml/main",
    _OPEN + b"/officeDocument/2006/relationships": _ISO + b"/officeDocument/relationships",
}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("password.xlsx", "has a password; save it without one"),
        ("strict.xlsx", "no sheet is found; save it as an Excel workbook"),
        ("a.feather", r"not an Arrow file \(of Feather, version 2\)"),
    ],
)
def test_files_that_are_not_read_name_the_way_out(name, message, tmp_path):
    path = tmp_path / name
    path.write_bytes({"p": bytes.fromhex("d0cf11e0a1b11ae1"), "a": b"FEA1"}.get(name[0], b"") * 90)
    if name == "strict.xlsx":
        NAMED.to_excel(tmp_path / "a.xlsx", index=False)
        with zipfile.ZipFile(tmp_path / "a.xlsx") as book, zipfile.ZipFile(path, "w") as strict:
            for part in book.namelist():
                held = book.read(part)
                for transitional, own in STRICT.items():
                    held = held.replace(transitional, own)
                strict.writestr(part, held)
    with pytest.raises(fg.DataError, match=message):
        fg.count(path, **ASKED)


def test_a_text_of_several_lines_above_a_header_is_refused(tmp_path):
    """A row was lost: DuckDB skips the lines of a text otherwise."""
    (tmp_path / "a.csv").write_text('"A title\nof two lines"\n\ng,ok\n' + "a,1\nb,0\n" * 50)
    with pytest.raises(fg.FairgaugeError):
        fg.count(tmp_path / "a.csv", prediction="ok", positive=1, sensitive="g")


ABOVE = ["sep=;\n", "# made on Monday\n# by us\n", "Applicants of 2026\n\n", "\n\n", "A title,,\n",
         "sep=;\r\n\r\n", "\ufeff# made\r\n", '"A title, with a comma"\n',
         "Acme\nExported,2026-01-12\n\n", "By,Dana,,\n"]  # fmt: skip


@pytest.mark.parametrize("above", ABOVE)
def test_lines_above_a_header_are_no_rows_and_are_stated(above, tmp_path):
    path = tmp_path / "a.csv"  # above a wide header, pairs are titles too
    sep = ";" if above.startswith("sep") else ","
    NAMED.assign(of="personnel").to_csv(path, index=False, sep=sep)
    path.write_bytes((above + path.read_text()).encode())
    report = fg.audit(path, **ASKED)
    (note,) = [each for each in report.diagnostics if each.code == "lines_above"]
    assert note["lines"] == above.count("\n")
    assert report.data.fingerprint == fg.audit(NAMED, **ASKED).data.fingerprint


@pytest.mark.parametrize("text", ["a\n1\n2\n", "a,b\n1,2\n", '"x, y",b\n1,2\n', "1,2\n3,4\n"])
def test_a_header_in_its_place_stays_there(text, tmp_path):
    from fairgauge.scan import open_source

    (tmp_path / "a.csv").write_text(text)
    header = pl.read_csv(tmp_path / "a.csv").columns
    assert list(open_source(tmp_path / "a.csv").columns) == header


def test_decimal_commas_between_semicolons_are_points(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("group;points\n" + "a;66,5\na;-1,25\nb;70\nb;1,2,3\n" * 30)
    found = fg.count(path, prediction="group", positive="a", sensitive="points")
    levels = next(v for axis, v in found.levels.items() if axis.column == "points")
    assert {str(each) for each in levels} == {"66.5", "-1.25", "70", "1,2,3"}


@pytest.mark.parametrize(
    ("header", "pay", "unclear"),
    [
        ("sex;pay", ("950", "1.100"), True),
        ("sex,pay", ("950", "1.100"), True),
        ("sex;pay", ("950", "1,100"), True),
        ("sex;pay", ("950,5", "1.100"), True),
        ("sex;pay", ("45.000", "-1.052.300"), True),
        ("sex\tpay", ("1.100", ""), False),  # with three decimals each
        ("sex,pay", ("1.100", "0.250"), False),
        ("sex;pay", ("1.100", "2.5"), False),
        ("sex;pay", ("1.100", "1100"), False),
        ("sex;pay", ("1,100", "2,5"), False),
    ],
)
def test_thousands_that_may_be_decimals_are_no_numbers(header, pay, unclear, tmp_path):
    """950 and 1.100 were read as 950 and 1.1: who earned more was said to earn less."""
    path, mark = tmp_path / "a.csv", header[3]
    for quotes in ("", '"'):
        rows = "".join(f"{quotes}{sex}{quotes}{mark}{quotes}{pay[i % 2]}{quotes}\n"
                       for i, sex in enumerate("FMFFMM" * 20))  # fmt: skip
        path.write_text(f"{header}\n{rows}")
        cut = {"column": "pay", "cuts": [900]}
        for asked in (
            {"label": "pay", "task": "regression", "sensitive": "sex"},
            {"prediction": "sex", "positive": "F", "sensitive": cut},
        ):
            refused = pytest.raises(fg.FairgaugeError, match="must hold numbers")
            with refused if unclear else nullcontext():
                fg.audit(path, **asked)


def test_keys_inside_objects_are_columns_with_dots(tmp_path):
    rows = [{"doc": {"cat": "ab"[i % 2], "more": {"x": i % 3}}, "ok": i % 5 == 0, "doc.own": "k"}
            for i in range(300)]  # fmt: skip
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    asked = {"prediction": "ok", "positive": True}
    report = fg.audit(path, **asked, sensitive=["doc.cat", "doc.more.x"])
    assert {each.group for each in report.groups if each.feature == "doc.cat"} == {"a", "b"}
    assert {each.n for each in report.groups if each.feature == "doc.more.x"} == {100}
    own = [{"a.b": "own", "a": {"b": "inside"}, "ok": 1}, {"a.b": "own", "a": {"b": "y"}, "ok": 0}]
    path.write_text("\n".join(map(json.dumps, own * 60)))
    assert {g.group for g in fg.audit(path, **asked | {"positive": 1}, sensitive="a.b").groups} == {
        "own"
    }


def test_the_line_of_a_header_can_be_stated(tmp_path):
    """A title of several cells is taken for the header; what is stated holds."""
    path = tmp_path / "rows.csv"
    rows = "".join(f"{'ab'[i % 2]},{i % 3 // 2}\n" for i in range(60))
    path.write_text("Decisions,of 2026\n\ngroup,ok\n" + rows)
    with pytest.raises(fg.SpecError, match="no column 'ok'"):
        fg.count(path, prediction="ok", sensitive="group")
    found = fg.count(f"{path}#3", prediction="ok", sensitive="group")
    assert found.rows == 60
    asked = ["audit", str(path), "--header-row", "3", "--prediction", "ok", "--sensitive", "group"]
    assert CliRunner().invoke(main, [*asked, "--quiet"]).exit_code == 0
    with pytest.raises(fg.DataError, match="no line 900 among its first 63"):
        fg.count(f"{path}#900", prediction="ok", sensitive="group")


def test_types_of_arrow_that_are_damaged_in_a_parquet_file_are_refused_in_words(tmp_path):
    table = pa.table({"p": [1, 0], "g": ["a", "b"], "d": pa.array([1, 2], pa.duration("s"))})
    path, chance, refused = tmp_path / "a.parquet", random.Random(93), 0
    pa.parquet.write_table(table, path)
    content, written = path.read_bytes(), pa.parquet.read_metadata(path).metadata[b"ARROW:schema"]
    whole = b64decode(written)
    places = range(0, len(whole) - 4, 12)
    changed = (whole[:at] + chance.randbytes(4) + whole[at + 4 :] for at in places)
    for held in (b"!" + written[1:], *map(b64encode, changed)):
        path.write_bytes(content.replace(written, held))
        try:
            fg.audit(str(path), prediction="p", sensitive="g")
        except fg.FairgaugeError:
            refused += 1
    assert refused


def test_a_damaged_file_of_a_statistics_package_is_refused_in_words(tmp_path, monkeypatch):
    """A column without a name, which a damaged file may have, was an internal error."""
    read, path = pyreadstat.read_dta, tmp_path / "a.dta"
    WRITERS["a.dta"](path)

    def read_damaged(*given, **options):
        columns, about = read(*given, **options)
        about.column_names[0] = None
        return columns, about

    monkeypatch.setattr(pyreadstat, "read_dta", read_damaged)
    with pytest.raises(fg.DataError, match=r"cannot read '.*a.dta': expected string"):
        fg.audit(path, label="y", sensitive="sex")
