"""Methods that few audits need are not imported by the others."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

AUDIT = """
import json, sys
import fairgauge as fg
cells = {"tp": 20, "fp": 5, "fn": 7, "tn": 18}
groups = {name: cells for name in %r}
fg.audit(fg.confusion("g", groups), metrics=[%r])
print(json.dumps(sorted(name for name in sys.modules if name.startswith("fairgauge.inference."))))
"""
RARE = {
    "across_groups", "class_averages", "clusters", "distance_intervals",
    "drawn_tables", "omitted_clusters", "paired_changes",
    "pairwise", "regressions", "resampled_intervals", "scored", "size_intervals",
}  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "metric", "expected"),
    [
        ("ab", "RD", set()),
        ("abc", "RD", {"pairwise"}),
        ("ab", "CI", {"size_intervals"}),
        ("ab", "GE", {"drawn_tables", "resampled_intervals"}),
        ("ab", "cohen_kappa.difference", {"class_averages"}),
        ("ab", "TVD", {"distance_intervals", "drawn_tables", "resampled_intervals"}),
    ],
)
def test_an_audit_imports_the_methods_that_it_needs(groups, metric, expected):
    command = [sys.executable, "-c", AUDIT % (groups, metric)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    imported = {name.rpartition(".")[2] for name in json.loads(output)}
    assert imported & RARE == expected
