"""The core needs none of the extras: an audit of a file runs without pandas, polars or pyarrow."""

import subprocess
import sys

SCRIPT = """
import sys
for name in ("pandas", "polars", "pyarrow", "jmespath", "sklearn"):
    sys.modules[name] = None  # importing it fails
import fairgauge as fg
report = fg.audit(
    sys.argv[1], label="y", prediction="p", score="s", sensitive="g", features=["s"],
    metrics=["all"], method="exact",
)
report.save(sys.argv[1] + ".html")
print(report["FT", "g", "a"].status, report["roc_auc.difference", "g", "a"].status)
"""


def test_an_audit_of_a_file_needs_no_extra(tmp_path):
    path = tmp_path / "rows.csv"
    rows = [f"{i % 2},{(i // 2) % 2},0.{i % 9 + 1},{'ab'[i % 3 == 0]}" for i in range(120)]
    path.write_text("y,p,s,g\n" + "\n".join(rows) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["ok", "ok"]
