"""Claims that hold together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.inference.paired_changes import shown_claims
from fairgauge.stats.intervals import critical
from fairgauge.stats.significance import holm, normal_tail

statistics = st.lists(st.floats(-1, 6), min_size=1, max_size=12)


@given(statistics)
def test_what_is_shown_is_what_holms_procedure_rejects(least):
    least = np.array(least)
    shown, level = shown_claims(lambda at: least > critical(at), len(least), 0.95)
    assert shown.tolist() == (holm(2 * normal_tail(np.maximum(least, 0))) < 0.05).tolist()
    assert (least[~shown] <= critical(level)).all()


def test_a_false_claim_is_shown_in_one_of_forty_tables_whatever_the_candidates():
    """Each has two parts, one of which is false; they have 0 to 81% in common."""
    rng = np.random.default_rng(0)
    for candidates, shared in ((1, 0.0), (10, 0.0), (10, 0.9)):
        named = 0
        for _ in range(2_000):
            part = shared * rng.normal() + np.sqrt(1 - shared**2) * rng.normal(size=candidates)
            parts = np.stack([part, np.full(candidates, 9.0)])
            shown, _ = shown_claims(lambda at: parts.min(axis=0) > critical(at), candidates, 0.95)  # noqa: B023
            named += shown.any()
        assert named <= 64
