"""Identifiers in counts: hashes under a key are noted; nothing else holds any."""

import pytest


@pytest.mark.parametrize(
    ("flag", "key", "noted"),
    [
        ("--cluster", "0123456789abcdef", "40 values of 'applicant' as hashes under your key"),
        (
            "--cluster",
            "",
            "40 values of 'applicant' as numbers. 0 of these have cells like no other",
        ),
        ("--person", "", ""),
    ],
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
    for each in (counted, sealed):
        assert noted in each.stderr
        assert ("the counts hold" in each.stderr) == bool(noted)
    assert "A-1" not in (tmp_path / "t.cube.json").read_text()
    assert run("verify", "t.fairgauge").exit_code == 0


def test_clusters_that_can_be_recognised_by_their_rows_are_counted(run, tmp_path):
    """A number hides who somebody is, and not how many rows of which kind they have."""
    decisions = {"a": [0, 1], "b": [1, 0], "c": [0, 0, 1], "d": [1], "e": [1, 1], "f": [1]}
    rows = "".join(f"{who},F,{y}\n" for who, ys in decisions.items() for y in ys)
    path = tmp_path / "t.csv"
    path.write_text(f"who,sex,hired\n{rows}g,M,1\n")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex", "--cluster", "who"]
    result = run("count", str(path), *asked, "-o", str(tmp_path / "t.cube.json"))
    # c, e and g alone hold what they hold
    assert "7 values of 'who' as numbers. 3 of these have cells like no other" in result.stderr
    refused = run("protect", str(tmp_path / "t.cube.json"), "--min-cell", "5")
    assert refused.exit_code == 2
    assert "they hold single clusters ('who'); count without clusters" in refused.stderr


def test_a_key_that_can_be_guessed_is_refused(run, tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRGAUGE_CLUSTER_KEY", "secret")
    (tmp_path / "t.csv").write_text("who,sex,hired\na,F,1\nb,M,0\n")
    asked = ["--prediction", "hired", "--positive", "1", "--sensitive", "sex", "--cluster", "who"]
    refused = run("count", str(tmp_path / "t.csv"), *asked)
    assert refused.exit_code == 2
    assert "FAIRGAUGE_CLUSTER_KEY has 6 characters" in refused.stderr
