"""Runs a query of Snowflake by fakesnow: snowflake_query.py QUERY.sql ROWS.parquet ANSWER.csv."""

import csv
import sys
from pathlib import Path

import fakesnow
import snowflake.connector

query, rows, answer = map(Path, sys.argv[1:])
with fakesnow.patch(), snowflake.connector.connect(database="db", schema="s") as connection:
    cursor = connection.cursor()
    cursor.execute(
        "CREATE TABLE people "
        "(g VARCHAR, y BIGINT, s DOUBLE, b BOOLEAN, d DATE, m NUMBER(9, 2), w DOUBLE)"
    )
    cursor.execute(f"INSERT INTO people SELECT * FROM read_parquet('{rows}')")  # of DuckDB, below
    found = cursor.execute(query.read_text(encoding="utf-8").strip().rstrip(";")).fetchall()
    with answer.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[column.name for column in cursor.description], *found])
