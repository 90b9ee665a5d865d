"""Numbers in files, however they are written, are the same numbers in counts and in rows."""

import csv
from pathlib import Path

import numpy as np
import pytest

import fairgauge as fg


def write(path: Path, special: str) -> str:
    rng = np.random.default_rng(3)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["g", "y", "s", "t", "p"])
        for i, score in enumerate(rng.random(300).tolist()):
            text = special if i == 7 else repr(score)
            target, answer = rng.normal(size=2).tolist()
            label = int(rng.random() < score)
            writer.writerow(["ab"[i % 2], label, text, repr(target), repr(answer)])
    return str(path)


SPELLINGS = ["0.25", "+0.25", ".25", "0.2500000000000001", " 0.25", "2.5e-1"]


@pytest.mark.parametrize("special", SPELLINGS)
def test_scores_of_any_spelling_count(tmp_path: Path, special: str) -> None:
    asked = {"label": "y", "positive": 1, "score": "s", "sensitive": "g", "metrics": ["roc_auc"]}
    plain = fg.audit(write(tmp_path / "plain.csv", "0.25"), **asked)
    other = fg.audit(write(tmp_path / "other.csv", special), **asked)
    ours, theirs = (
        [group.rates["roc_auc"].value for group in report.groups] for report in (plain, other)
    )
    assert None not in ours
    assert ours == pytest.approx(theirs, abs=1e-12)
