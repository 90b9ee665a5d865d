"""Identifiers in counts: hashes under a key are noted; nothing else holds any."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("flag", "key", "noted"),
    [("--cluster", "0123456789abcdef", True), ("--cluster", "", False), ("--person", "", False)],
)
def test_counts_and_bundles_hold_no_identifier(run, tmp_path, monkeypatch, flag, key, noted):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", key)
    rows = "".join(f"A-{i // 2},{'FM'[i % 4 // 2]},{i % 2}\n" for i in range(80))
    (tmp_path / "t.csv").write_text(f"applicant,sex,hired\n{rows}")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex", flag, "applicant"]
    counted = run("count", "t.csv", *asked, "-o", "t.cube.json")
    audited = run("audit", "t.cube.json", "-o", "t.json")
    sealed = run("seal", "t.json", "t.cube.json", "-o", "t.fairgauge")
    assert [each.exit_code for each in (counted, audited, sealed)] == [0, 0, 0]
    stated = "the counts hold 40 values of 'applicant' as hashes under your key"
    assert (stated in counted.stderr, stated in sealed.stderr) == (noted, noted)
    assert "A-1" not in (tmp_path / "t.cube.json").read_text()
    assert run("verify", "t.fairgauge").exit_code == 0


def test_a_key_that_can_be_guessed_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "secret")
    (tmp_path / "t.csv").write_text("who,sex,hired\na,F,1\nb,M,0\n")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex", "--cluster", "who"]
    refused = run("count", str(tmp_path / "t.csv"), *asked)
    assert refused.exit_code == 2
    assert "FAIRGAUGE_CLUSTER_KEY has 6 characters" in refused.stderr
