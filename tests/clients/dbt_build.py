"""Builds a dbt project in its own environment; prints the statuses and the table of verdicts."""

import json
import os
import sys

folder = sys.argv[1]
os.environ["LENDING_DB"] = f"{folder}/lending.duckdb"

import duckdb  # noqa: E402 - dbt reads the variable
from dbt.cli.main import dbtRunner  # noqa: E402

places = ["--project-dir", folder, "--profiles-dir", folder]
outcome = dbtRunner().invoke(["--quiet", "build", *places])
statuses = {each.node.name: str(each.status) for each in outcome.result.results}
with duckdb.connect(os.environ["LENDING_DB"]) as connection:
    query = 'SELECT rule, "group", outcome FROM fairness_verdicts'
    verdicts = connection.execute(query).fetchall()
print()
print(json.dumps({"statuses": statuses, "verdicts": verdicts}))
