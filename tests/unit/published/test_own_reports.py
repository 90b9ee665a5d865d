"""A report of fairgauge is read again: its tables to publish, with their names and ratios."""

from __future__ import annotations

import pytest

import fairgauge as fg

HIRED = {("F", "A"): (80, 31), ("F", "B"): (100, 20), ("M", "A"): (100, 40), ("M", "B"): (13, 4)}
ROWS = [
    {"sex": sex, "race": race, "hired": int(i < hired)}
    for (sex, race), (n, hired) in HIRED.items()
    for i in range(n)
]
FRAME = {name: [row[name] for row in ROWS] for name in ROWS[0]}


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_a_report_is_read_again(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    report = fg.audit(
        pandas.DataFrame(FRAME),
        preset="nyc-ll144",
        prediction="hired",
        positive=1,
        sensitive=["sex", "race"],
    )
    path = tmp_path / f"audit.{suffix}"
    report.save(path)
    found = fg.check(path)
    assert [table.name for table in found.tables] == [
        "Groups of sex",
        "Groups of race",
        "Groups of sex*race",
    ]
    assert found.errors == 0
    crossed = {group.name: group for group in found.tables[2].groups}
    assert {name: (group.n, group.selected) for name, group in crossed.items()} == {
        f"{sex} & {race}": counts for (sex, race), counts in HIRED.items()
    }
    assert all(group.printed for group in crossed.values())
    assert found.numbers_checked == 13
