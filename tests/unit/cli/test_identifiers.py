"""Identifiers in counts: `count` and `seal` note those of clusters; counts of people hold none."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("flag", "noted"), [("--cluster", True), ("--person", False)])
def test_identifiers_in_counts_are_noted(run, tmp_path, monkeypatch, flag, noted):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"A-{i // 2},{'FM'[i % 4 // 2]},{i % 2}\n" for i in range(80))
    (tmp_path / "t.csv").write_text(f"applicant,sex,hired\n{rows}")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex", flag, "applicant"]
    counted = run("count", "t.csv", *asked, "-o", "t.cube.json")
    audited = run("audit", "t.cube.json", "-o", "t.json")
    sealed = run("seal", "t.json", "t.cube.json", "-o", "t.fairgauge")
    assert [each.exit_code for each in (counted, audited, sealed)] == [0, 0, 0]
    stated = "the counts hold 40 values of 'applicant', the cluster column, in clear"
    assert (stated in counted.stderr, stated in sealed.stderr) == (noted, noted)
    assert ("A-17" in (tmp_path / "t.cube.json").read_text()) == noted
