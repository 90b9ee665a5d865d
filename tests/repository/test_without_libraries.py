"""Every command, function and format without each library that the core does not need.

What needs a library ends with the line that installs it, and everything else does its work.
"""

import json
import sqlite3
import subprocess
import sys

import pandas as pd
import polars as pl
import pytest
from click import Context
from tests.every_result import loans

import fairgauge as fg
from fairgauge.cli import main

REMOTE = ("s3://bucket/a.csv", "gs://bucket/a.csv", "az://bucket/a.csv")
REMOTE += ("https://127.0.0.1:1/a.csv",)
# by extra and library, what needs it
NEEDED = {
    ("arrow", "pyarrow"): ["audit a.feather", "audit a.csv.zst", "audit --probabilities"],
    ("cloud", "fsspec"): [f"audit {name}" for name in REMOTE],
    ("cloud", "s3fs"): ["audit s3://bucket/a.csv"],
    ("cloud", "gcsfs"): ["audit gs://bucket/a.csv"],
    ("cloud", "adlfs"): ["audit az://bucket/a.csv"],
    ("cloud", "aiohttp"): ["audit https://127.0.0.1:1/a.csv"],
    ("cloud-formats", "jmespath"): ["clarify JMESPath"],
    ("cloud-formats", "pydantic"): ["clarify", "clarify JMESPath", "clarify-monitor", "vertex"],
    ("lake", "deltalake"): ["audit table", "audit delta:table"],
    ("lake", "pyiceberg"): ["audit iceberg:catalogue.table"],
    ("mlflow", "mlflow"): ["fg.mlflow"],
    ("pandas", "pandas"): ["to_pandas"],
    ("postgres", "psycopg"): ["audit postgres"],
    ("plot", "matplotlib"): ["plot"],
    ("polars", "polars"): ["to_polars"],
    ("regression", "statsmodels"): ["why --control"],
    ("seal", "cryptography"): ["seal --key"],
    ("spark", "pyspark"): ["audit --spark"],
    ("sql", "ibis"): ["audit sqlite"],
    ("sql", "sqlglot"): ["show-sql"],
    ("survey", "pyreadstat"): ["audit a.sav", "audit a.dta"],
    ("xlsx", "openpyxl"): ["audit a.xlsx", "check a.xlsx", "fg.check"],
    ("xlsx", "xlsxwriter"): ["audit -o r.xlsx"],
}
ASKED = ["--prediction", "approved", "--positive", "yes", "--sensitive", "sex"]
SCORED = ["--label", "repaid", "--score", "score", "--threshold", "0.5", *ASKED[2:]]
FILES = [
    *("a.csv", "a.jsonl", "a.parquet", "a.feather", "a.xlsx", "a.sav", "a.dta", "a.csv.zst"),
    *("table", *REMOTE, "delta:table", "iceberg:catalogue.table"),
]
COMMANDS = {
    **{f"audit {name}": ["audit", name, *ASKED] for name in FILES},
    **{
        f"audit -o {name}": ["audit", "a.csv", *ASKED, "-o", name]
        for name in ("r.json", "r.html", "r.md", "r.csv", "r.xml", "r.xlsx")
    },
    "audit sqlite": ["audit", "sqlite:///a.sqlite", "--table", "loans", *ASKED],
    "audit postgres": ["audit", "postgresql://x@127.0.0.1:1/x", "--table", "loans", *ASKED],
    "audit --spark": ["audit", "a.parquet", "--spark", "local[1]", *ASKED],
    "show-sql": ["count", "--show-sql", "--dialect", "mysql", "--columns", "a.csv", *ASKED],
    "audit --probabilities": [
        *("audit", "a.csv", *ASKED[:4], "--probabilities", "race: black=black, rest=rest"),
    ],
    "count": ["count", "a.csv", *ASKED, "-o", "new.cube.json"],
    "merge": ["merge", "a.cube.json", "b.cube.json", "-o", "c.cube.json"],
    "protect": ["protect", "a.cube.json", "--min-cell", "5", "-o", "p.cube.json"],
    "seal": ["seal", "saved.json", "a.cube.json", "-o", "s.fairgauge"],
    "seal --key": ["seal", "saved.json", "a.cube.json", "-o", "s.fairgauge", "--key", "key.pem"],
    "verify": ["verify", "a.fairgauge"], "render": ["render", "saved.json"],
    "schema": ["schema", "report"], "compare": ["compare", "saved.json", "saved.json"],
    "compare-models": ["compare-models", "a.csv", *ASKED, "--candidate", "other"],
    "alternatives": [
        *("alternatives", "a.csv", *ASKED, "--label", "repaid", "--candidate", "other"),
        *("--margin", "accuracy=0.02"),
    ],
    "find": ["find", "a.csv", *ASKED[:4], "--sensitive", "sex,race", "--metrics", "selection_rate"],
    "why": ["why", "a.csv", *ASKED, "--strata", "race"],
    "why --control": ["why", "a.csv", *ASKED, "--strata", "race", "--control", "region"],
    "thresholds": ["thresholds", "a.csv", *SCORED, "--rule", "selection_rate.ratio >= 0.5"],
    "pairs": ["pairs", "a.csv", *ASKED, "--item", "item", "--variant", "name"],
    "plan": ["plan", "--rate", "0.5"], "page": ["page", "-o", "page.html"],
    "explore": ["explore", "a.csv", *ASKED, "-o", "explore.html"], "demo": ["demo", "-o", "demo"],
    "choose": ["choose", "--help"], "presets": ["presets"], "metrics": ["metrics", "DI"],
    "validate": ["validate", "a.csv", "-c", "a.toml"],
    "monitor": ["monitor", "run", "history", "a.csv", "--period", "2026-01-01", "-c", "a.toml"],
    "check a.csv": ["check", "t.csv", "--n", "n", "--selected", "hired"],
    "check a.xlsx": ["check", "t.xlsx", "--n", "n", "--selected", "hired"],
    "clarify": ["clarify", "clarify.json", "-o", "clarify"],
    "clarify JMESPath": ["clarify", "jmespath.json", "-o", "clarify"],
    "clarify-monitor": ["clarify-monitor", "clarify.json", "--baseline", "x.json"],
    "vertex": ["vertex", "vertex.json"],
}  # fmt: skip
FUNCTIONS = {
    "to_pandas": "fg.load('saved.json').to_pandas()",
    "plot": "fg.load('saved.json').plot()",
    "to_polars": "fg.load('saved.json').to_polars()",
    "fg.mlflow": "fg.mlflow.log_report(fg.load('saved.json'))",
    "smclarify": "__import__('fairgauge_cloud.smclarify.bias.report')",
    "fg.check": "fg.check('t.xlsx')",
    "audit with all metrics": "fg.audit('a.csv', label='repaid', prediction='approved', "
    "score='score', positive='yes', sensitive='sex', features=['score'], metrics=['all'], "
    "method='exact').save('all.html')",
    **{
        f"example of {name}": f"run_example({name!r})"
        for name in fg.__all__
        if " polars as pl" not in (getattr(fg, name).__doc__ or "")
    },
}
SCRIPT = """
import contextlib, doctest, importlib.abc, io, json, sys
absent, cases, functions = json.loads(sys.stdin.read())
for name in [*sys.modules]:
    if name.partition(".")[0] in absent:
        raise SystemExit(f"{name} is imported at the start")

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in absent else find(name, *rest)
sys.meta_path.insert(0, Absent())
import fairgauge as fg
from fairgauge.cli import main
found = {}
for case, args in cases.items():
    out, code = io.StringIO(), None
    with contextlib.redirect_stderr(out), contextlib.redirect_stdout(out):
        try:
            main(args)
        except SystemExit as end:
            code = end.code
    found[case] = code, out.getvalue()[-700:]
def run_example(name):
    within = {}
    for each in doctest.DocTestParser().get_examples(getattr(fg, name).__doc__ or ""):
        exec(compile(each.source, name, "single"), within)

for case, text in functions.items():
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            eval(text)
        found[case] = 0, ""
    except fg.FairgaugeError as error:
        found[case] = 2, str(error)
    except Exception as error:
        found[case] = -1, repr(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write the loans in every format, and what commands read beside them."""
    folder = tmp_path_factory.mktemp("loans")
    deltalake, pyreadstat = pytest.importorskip("deltalake"), pytest.importorskip("pyreadstat")
    pytest.importorskip("openpyxl")
    made = {
        "black": 0.25, "rest": 0.75, "other": "approved", "item": pl.int_range(600) // 9,
        "name": pl.col("sex") + "?",
    }  # fmt: skip
    frame = loans().head(600).with_columns(**made)
    rows = frame.to_pandas()
    rows.to_csv(folder / "a.csv", index=False)
    rows.to_csv(folder / "a.csv.zst", index=False)
    rows.to_json(folder / "a.jsonl", orient="records", lines=True)
    rows.to_excel(folder / "a.xlsx", index=False)
    frame.write_parquet(folder / "a.parquet")
    rows.to_feather(folder / "a.feather")
    pyreadstat.write_sav(rows, folder / "a.sav")
    pyreadstat.write_dta(rows, folder / "a.dta")
    deltalake.write_deltalake(folder / "table", frame)
    with sqlite3.connect(folder / "a.sqlite") as connection:
        rows.to_sql("loans", connection, index=False)
    hired = pd.DataFrame({"group": ["a", "b"], "n": [80, 40], "hired": [48, 12]})
    hired.to_csv(folder / "t.csv", index=False)
    hired.to_excel(folder / "t.xlsx", index=False)
    asked = {"prediction": "approved", "positive": "yes", "sensitive": "sex"}
    counts = fg.count(frame, **asked)
    counts.save(folder / "a.cube.json")
    fg.count(frame.head(300), **asked).save(folder / "b.cube.json")
    report = fg.audit(counts)
    report.save(folder / "saved.json")
    fg.seal(report, counts, folder / "a.fairgauge")
    (folder / "key.pem").write_text("a private key")
    (folder / "a.toml").write_text(
        'prediction = "approved"\npositive = "yes"\nsensitive = ["sex"]\n'
        'rules = ["selection_rate.ratio >= 0.8"]\n'
    )
    config = {
        "dataset_type": "text/csv", "dataset_uri": "a.csv", "label": "repaid",
        "label_values_or_threshold": ["yes"], "headers": [*rows],
        "facet": [{"name_or_index": "sex"}], "predicted_label": "approved",
        "methods": {"pre_training_bias": {"methods": ["CI"]}},
    }  # fmt: skip
    (folder / "clarify.json").write_text(json.dumps(config))
    of_json = config | {
        "dataset_type": "application/json", "dataset_uri": "people.json",
        "features": "people[*].[sex]", "label": "people[*].repaid", "headers": ["sex", "y"],
    }  # fmt: skip
    del of_json["predicted_label"]
    (folder / "jmespath.json").write_text(json.dumps(of_json))
    (folder / "people.json").write_text(json.dumps({"people": rows.to_dict("records")}))
    biased = {"biasSlices": {"configs": {"sex": {"value": {"stringValue": "Female"}}}}}
    predicted = [
        {"instance": row, "prediction": {"classes": ["no", "yes"], "scores": [0.2, 0.8]}}
        for row in frame.select("sex", "repaid").to_dicts()
    ]
    (folder / "p.jsonl").write_text("\n".join(map(json.dumps, predicted)))
    asked = {"target_field_name": "repaid", "bias_configs": [biased | {"labels": ["yes"]}],
             "predictions_gcs_source": "p.jsonl"}  # fmt: skip
    (folder / "vertex.json").write_text(json.dumps(asked))
    return folder


def run(folder, absent, cases):
    chosen = ({k: v for k, v in each.items() if k in cases} for each in (COMMANDS, FUNCTIONS))
    asked = json.dumps([absent, *chosen])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=asked, cwd=folder, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2_000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_command_is_run():
    assert {*main.list_commands(Context(main))} == {args[0] for args in COMMANDS.values()}


def test_a_plain_installation_does_its_work_and_names_what_it_lacks(folder):
    """`clarify` and `vertex` ended in a way they should not."""
    needed = {case: extra for (extra, _), cases in NEEDED.items() for case in cases}
    absent = ["sklearn", *(library for _, library in NEEDED)]
    found = run(folder, absent, {*COMMANDS, *FUNCTIONS})
    for case, (code, text) in found.items():
        if case in needed:
            assert (code, f"pip install 'fairgauge[{needed[case]}]'" in text) == (2, True), text
        else:
            assert code in (0, 1, 3), (case, text)


@pytest.mark.parametrize(("extra", "library"), NEEDED)
def test_what_needs_a_library_ends_with_the_line_that_installs_it(extra, library, folder):
    for code, text in run(folder, [library], NEEDED[extra, library]).values():
        assert code == 2, text
        assert library in text
        assert f"pip install 'fairgauge[{extra}]'" in text
