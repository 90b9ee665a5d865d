"""Tables of a lakehouse are counted as their rows, and reports state which version was read."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.needs import need

import fairgauge as fg
from fairgauge.errors import DataError

ASKED = {"label": "y", "prediction": "p", "score": "s", "weight": "w", "sensitive": ["g", "day"]}
ROWS = pa.table({
    "g": ["a", "b", None, "ü"] * 50, "y": [1, 0, 1, 1, 0] * 40, "p": [1, 0, 0, 1, 1] * 40,
    "s": [0.5, 0.25, None, float("nan"), 0.75] * 40, "w": [0.5, 1.25] * 100,
    "day": ["1", "2"] * 100, "unused": list(range(200)),
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
def iceberg(tmp_path, monkeypatch):
    need("pyiceberg", "sqlalchemy", "polars")
    from pyiceberg.catalog import load_catalog
    from pyiceberg.utils.config import Config

    prefix = "PYICEBERG_CATALOG__BANK__"
    monkeypatch.setenv(f"{prefix}TYPE", "sql")
    monkeypatch.setenv(f"{prefix}URI", f"sqlite:///{tmp_path}/catalog.db")
    monkeypatch.setenv(f"{prefix}WAREHOUSE", f"file://{tmp_path}/warehouse")
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())  # is read once a process
    catalog = load_catalog("bank")
    catalog.create_namespace("credit")
    table = catalog.create_table("credit.loans", schema=ROWS.schema)
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
        with pytest.raises(DataError, match=f"{address.partition(':')[0]}|snapshot"):
            fg.count(address, **ASKED)
