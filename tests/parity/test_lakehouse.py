"""Tables of a lakehouse are counted as their rows, and reports state which version was read."""

import os

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.needs import need

import fairgauge as fg
from fairgauge.errors import DataError

ASKED = {"label": "y", "prediction": "p", "score": "s", "weight": "w", "sensitive": ["g", "day"]}
ROWS = pa.table({
    "g": ["a", "b", None, "ü"] * 50, "y": [1, 0, 1, 1, 0] * 40, "p": [1, 0, 0, 1, 1] * 40,
    "s": [0.5, 0.25, None, float("nan"), 0.75] * 40, "w": [0.5, 1.25] * 100,
    "day": ["1", "2"] * 100, "unused": [i + 0.5 for i in range(200)],
})  # fmt: skip


@pytest.fixture
def delta(tmp_path):
    need("deltalake", "polars")
    import deltalake

    where = str(tmp_path / "loans")
    deltalake.write_deltalake(where, ROWS, partition_by=["day"])
    deltalake.write_deltalake(where, ROWS, mode="append")
    deltalake.DeltaTable(where).delete("y = 0")
    return where


@pytest.fixture
def iceberg(iceberg_catalog):
    table = iceberg_catalog.create_table("credit.loans", schema=ROWS.schema)
    table.append(ROWS)
    table.append(ROWS)
    return table


def test_a_version_of_a_delta_table(delta):
    twice = pa.concat_tables([ROWS, ROWS])
    for address, rows, version in (
        (f"delta:{delta}@0", ROWS, 0),
        (f"delta:{delta}@1", twice, 1),
        (f"delta:{delta}", twice.filter(pc.equal(twice["y"], 1)), 2),
    ):
        assert fg.count(address, **ASKED) == fg.count(rows, **ASKED), address
        stated = fg.audit(address, **ASKED).data.source
        assert stated == f"delta:{delta} as of version {version}"


def test_a_snapshot_of_an_iceberg_table(iceberg):
    first, second = (each.snapshot_id for each in iceberg.metadata.snapshots)
    for version, rows, number in (
        ("", pa.concat_tables([ROWS, ROWS]), second),
        (f"@{first}", ROWS, first),
    ):
        address = f"iceberg:bank.credit.loans{version}"
        assert fg.count(address, **ASKED) == fg.count(rows, **ASKED)
        stated = fg.audit(address, **ASKED).data.source
        assert stated == f"iceberg:bank.credit.loans as of snapshot {number}"


def test_the_version_is_in_the_sealed_evidence(delta, tmp_path):
    need("cryptography")
    asked = {"label": "y", "prediction": "p", "sensitive": "g"}
    report, counts = tmp_path / "r.json", tmp_path / "c.cube.json"
    fg.audit(f"delta:{delta}@1", **asked).save(report)
    fg.count(f"delta:{delta}@1", **asked).save(counts)
    bundle = tmp_path / "loans.fairgauge"
    fg.seal(report, counts, bundle)
    assert fg.verify(bundle).report.data.source.endswith("loans as of version 1")


def test_tables_that_are_not_there(delta, iceberg):
    del iceberg
    for address in (f"delta:{delta}x", f"delta:{delta}@9", "iceberg:bank.credit.loans@9",
                    "iceberg:bank.credit.none", "iceberg:no.such.table"):  # fmt: skip
        with pytest.raises(DataError, match=f"(?i){address.partition(':')[0]}|snapshot"):
            fg.count(address, **ASKED)


def test_the_files_of_a_table_are_not_its_rows(delta, iceberg):
    """They hold rows of former versions, which were deleted or replaced."""
    for named in (f"{delta}/day=*/*.parquet", f"{delta}/day=1", [delta, "other.parquet"]):
        with pytest.raises(DataError, match=rf"loans' is a Delta table.*: delta:{delta}$"):
            fg.count(named, **ASKED)
    where = iceberg.location().removeprefix("file://")
    with pytest.raises(DataError, match=r"is an Iceberg table.* in its catalogue: iceberg"):
        fg.count(f"{where}/data/*.parquet", **ASKED)
    with pytest.raises(DataError, match=r"is an Iceberg table.* in its catalogue: iceberg"):
        fg.count(where, **ASKED)


def test_the_folder_of_a_delta_table_is_the_table(delta, monkeypatch):
    """A folder is counted as of the newest version, which the report states."""
    left = pa.concat_tables([ROWS, ROWS]).filter(pc.equal(pa.concat_tables([ROWS, ROWS])["y"], 1))
    for folder in (delta, f"{delta}/"):
        assert fg.count(folder, **ASKED) == fg.count(left, **ASKED), folder
    assert fg.audit(delta, **ASKED).data.source == f"delta:{delta} as of version 2"
    monkeypatch.chdir(delta)
    assert fg.audit(".", **ASKED).data.source == "delta:. as of version 2"


def test_columns_of_a_delta_table_that_are_mapped(tmp_path):
    """Data files lie in folders of two letters, below the log."""
    need("deltalake", "polars")
    import deltalake

    where = tmp_path / "loans"
    deltalake.write_deltalake(where, ROWS)
    (where / "Xy").mkdir()
    for file in where.glob("*.parquet"):
        file.rename(where / "Xy" / file.name)
    for named in (where / "Xy", str(where / "*" / "*.parquet"), tmp_path):
        with pytest.raises(DataError, match=rf"is a Delta table.*: delta:{where}$"):
            fg.count(named, **ASKED)


def test_a_delta_table_in_s3(s3, delta, monkeypatch, tmp_path):
    """With credentials of a profile, of a server that is not Amazon's."""
    import s3fs

    s3fs.S3FileSystem().put(delta, f"{s3}/loans", recursive=True)
    whole = pa.concat_tables([ROWS, ROWS])
    address = f"delta:{s3}/loans"
    assert fg.count(f"{address}@1", **ASKED) == fg.count(whole, **ASKED)
    keys = "aws_access_key_id = none\naws_secret_access_key = none\nregion = us-east-1\n"
    (tmp_path / "credentials").write_text(f"[risk]\n{keys}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    with pytest.raises(DataError, match=r"there are no credentials; credentials come from AWS_P"):
        fg.count(address, **ASKED)
    monkeypatch.setenv("AWS_PROFILE", "risk")
    assert fg.audit(address, **ASKED).data.source == f"{address} as of version 2"
    for wrong, message in (
        (f"{address}@9", "has no version 9.* its last is 2"),
        (f"delta:{s3}/nothing", "there is no Delta table 's3://people/nothing'"),
        ("delta:s3://no-such-bucket/a", "there is no such object or bucket"),
    ):
        with pytest.raises(DataError, match=message):
            fg.count(wrong, **ASKED)
    assert fg.audit(f"{s3}/loans", **ASKED).data.source == f"{address} as of version 2"
    for inside in (f"{s3}/loans/day=1", f"{s3}/loans/*/*.parquet"):
        with pytest.raises(DataError, match=r"is a Delta table.*delta:s3://people/loans$"):
            fg.count(inside, **ASKED)


def test_an_iceberg_table_in_s3(s3, iceberg_catalog):
    from pyiceberg.catalog import load_catalog

    del iceberg_catalog
    catalog = load_catalog("bank", **{"s3.endpoint": os.environ["AWS_ENDPOINT_URL"]})
    table = catalog.create_table("credit.far", schema=ROWS.schema, location=f"{s3}/far")
    table.append(ROWS)
    with pytest.raises(DataError, match=r"is an Iceberg table.* in its catalogue: iceberg"):
        fg.count(f"{s3}/far", **ASKED)


@pytest.mark.parametrize("mark", [".hoodie/hoodie.properties", "ducklake-0197cbb1.parquet"])
def test_other_tables_in_a_store(s3, mark, tmp_path):
    import s3fs

    pq.write_table(ROWS, tmp_path / "part.parquet")
    content = (tmp_path / "part.parquet").read_bytes()
    name = mark.strip(".").partition("-")[0].partition("/")[0]
    s3fs.S3FileSystem().pipe({f"{s3}/{name}/a/{e}": content for e in (mark, "x/y/part.parquet")})
    named = [f"{s3}/{name}", f"{s3}/{name}/a", f"{s3}/{name}/a/*.parquet"]
    for each in named[:2] if name == "hoodie" else named:
        with pytest.raises(DataError, match=r"is a (Hudi|DuckLake) table, whose files"):
            fg.count(each, **ASKED)


def test_left_over_objects(s3, tmp_path):
    import s3fs

    pq.write_table(ROWS, tmp_path / "part.parquet")
    content = (tmp_path / "part.parquet").read_bytes()
    names = ("_x=1/0.parquet", "_temporary/0/1.parquet", ".tmp/1.parquet", "_1.parquet")
    s3fs.S3FileSystem().pipe({f"{s3}/leftovers/{each}": content for each in names})
    report = fg.audit(f"{s3}/leftovers", **ASKED)
    stated = [each["files"] for each in report.diagnostics if each.code == "skipped_files"]
    assert (report.data.rows, stated) == (200, [3])
    assert fg.count(f"{s3}/leftovers/_temporary", **ASKED).rows == 200
