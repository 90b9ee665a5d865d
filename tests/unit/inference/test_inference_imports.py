"""Methods that few audits need are not imported by the others."""

import json
import subprocess
import sys

AUDITS = """
import json, sys
import fairgauge as fg
cells = {"tp": 20, "fp": 5, "fn": 7, "tn": 18}
for names, metric in json.loads(sys.argv[1]):
    fg.audit(fg.confusion("g", dict.fromkeys(names, cells)), metrics=[metric])
    print(json.dumps([name for name in sys.modules if name.startswith("fairgauge.inference.")]))
"""
RARE = {
    "across_groups", "clusters", "_metric_intervals", "_numeric_statistics", "paired_changes",
    "_whole_tables",
}  # fmt: skip
STEPS = {
    ("ab", "RD"): set(),
    ("abc", "RD"): {"across_groups"},
    ("ab", "GE"): {"_whole_tables"},
    ("ab", "CI"): {"_metric_intervals"},
}
"""What each audit imports that those before it did not."""


def test_an_audit_imports_the_methods_that_it_needs():
    command = [sys.executable, "-c", AUDITS, json.dumps([*STEPS])]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    known = set()
    for line, expected in zip(output.splitlines(), STEPS.values(), strict=True):
        imported = {name.rpartition(".")[2] for name in json.loads(line)} & RARE
        assert imported - known == expected
        known = imported
