"""What a loaded result is called: of scoring rates, and of a user's own rates."""

import polars as pl

import fairgauge as fg


def _scored(shift: float) -> fg.Report:
    rows = pl.DataFrame(
        {
            "sex": ["F", "M"] * 100,
            "score": [((7 * i) % 100 + (i % 2) * shift) / 150 for i in range(200)],
        }
    )
    return fg.audit(rows, sensitive="sex", score="score", threshold="median",
                    metrics=["selection_rate.difference"])  # fmt: skip


def test_a_loaded_comparison_of_scores_cut_at_their_median_is_of_scoring_rates(tmp_path):
    comparison = fg.compare(_scored(10), _scored(40))
    assert "scoring rate" in str(comparison).casefold()
    comparison.save(tmp_path / "comparison.json")
    assert str(fg.load(tmp_path / "comparison.json")) == str(comparison)
