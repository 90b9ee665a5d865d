"""The fold that is kept beside a history: it saves time, and changes nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.monitored_days import RATIO, asked, cube, day_names, days

import fairgauge as fg

NEAR = {"metric": "true_positive_rate.difference", "between": [-0.1, 0.1]}


def without_time(report):
    """Return a report without what depends on when it was made."""
    return replace(report, created="", history="", model="")


@pytest.fixture
def reads(monkeypatch):
    """Count how many cubes are parsed."""
    parsed = []
    original = fg.History._parsed

    def noted(self, period, text):
        parsed.append(str(period))
        return original(self, period, text)

    monkeypatch.setattr(fg.History, "_parsed", noted)
    return parsed


@pytest.mark.parametrize("labels", ["now", "later"])
def test_every_prefix_is_decided_as_without_it(tmp_path, shifted, labels):
    spec = asked(RATIO, NEAR, "selection_rate >= 0.3", labels=labels)
    history = fg.History(tmp_path)
    so_far = {}
    for i, (name, counts) in enumerate(shifted.items()):
        so_far[name] = counts
        history.add(name, counts)
        if i % 14 in (0, 1, 6):
            kept = fg.monitor(history, spec)
            assert without_time(kept) == without_time(fg.monitor(so_far, spec))
    assert (tmp_path / "_fold.json").exists()


def test_a_new_group_a_late_period_and_corrected_labels_are_folded_anew(tmp_path):
    spec = asked({"metric": "selection_rate.ratio", "at_least": 0.8})
    history, held = fg.History(tmp_path), {}
    three = fg.confusion("sex", {"F": {"tp": 4, "fn": 6}, "M": {"tp": 8, "fn": 12},
                                 "X": {"tp": 3, "fn": 7}})  # fmt: skip
    steps = [(name, cube(40)) for name in day_names(6) if not name.endswith("03")]
    steps += [("2026-01-07", three), ("2026-01-03", cube(20)), ("2026-01-02", cube(10))]
    for name, counts in steps:
        history.add(name, counts, replace=True)
        held[name] = counts
        assert without_time(fg.monitor(history, spec)) == without_time(fg.monitor(held, spec))


def test_one_more_period_parses_few(tmp_path, reads):
    history = fg.History(tmp_path)
    counts = days(60, 99, 0.4)
    for name in list(counts)[:59]:
        history.add(name, counts[name])
    fg.monitor(history, asked(RATIO))
    history.add("2026-03-01", counts["2026-03-01"])
    reads.clear()
    fg.monitor(history, asked(RATIO))
    assert set(reads) == {"2026-01-01", "2026-03-01"}


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"periods": 3}', "key", "shape"])
def test_a_damaged_fold_is_ignored(tmp_path, damage):
    history = fg.History(tmp_path)
    for name in day_names(5):
        history.add(name, cube(40))
    first = fg.monitor(history, asked(RATIO))
    path = tmp_path / "_fold.json"
    found = json.loads(path.read_text())
    found["evidence"][2] = [1e9]
    if damage == "key":
        found["key"] = "0" * 64
    if damage == "shape":
        found["evidence"] = found["evidence"][:2]
    path.write_text(json.dumps(found) if damage in ("key", "shape") else damage)
    assert without_time(fg.monitor(history, asked(RATIO))) == without_time(first)
