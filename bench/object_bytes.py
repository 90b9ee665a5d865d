"""``python -m bench.object_bytes``: what is fetched of Parquet in S3, beside the columns asked for.

A server of S3 runs on this machine (moto's, which ``tests/prepare`` installs).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
from tests.object_servers import s3_bucket

import fairgauge as fg
from bench.billion import ASKED
from bench.data import ROWS
from bench.measure import OBJECT_BYTES, count_object_bytes
from fairgauge.object_stores import write_object

FILES, ROWS_OF_EACH = 4, 1_000_000
QUESTIONS = {
    "label, race": {"label": "label", "sensitive": "race", "positive": 1},
    "label, score, weight, race, sex, age": ASKED,
}


def main() -> None:
    """Print the bytes of the files, those of the columns and footers, and those that are read."""
    count_object_bytes()
    with s3_bucket("bench") as bucket, tempfile.TemporaryDirectory() as folder:
        for i in range(FILES):
            path = Path(folder) / f"part-{i}.parquet"
            rows = ROWS.format(seed=2026 + i, rows=ROWS_OF_EACH)
            duckdb.sql(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
            write_object(f"{bucket}/loans/{path.name}", path.read_bytes())
        files = f"{folder}/*.parquet"
        whole = sum(path.stat().st_size for path in Path(folder).iterdir())
        footers = sum(
            int.from_bytes(path.read_bytes()[-8:-4], "little") + 8
            for path in Path(folder).iterdir()
        )
        print(f"{FILES} files of {ROWS_OF_EACH:,} rows: {whole:,} bytes, footers {footers:,}")
        for names, asked in QUESTIONS.items():
            listed = ", ".join(f"'{name}'" for name in names.split(", "))
            ((columns,),) = duckdb.sql(
                f"SELECT sum(total_compressed_size) FROM parquet_metadata('{files}') "
                f"WHERE path_in_schema IN ({listed})"
            ).fetchall()
            before = OBJECT_BYTES[0]
            fg.count(f"{bucket}/loans", **asked)
            read = OBJECT_BYTES[0] - before
            print(f"{names}: columns {columns:,}, read {read:,}: {read - columns:,} more")


if __name__ == "__main__":
    main()
