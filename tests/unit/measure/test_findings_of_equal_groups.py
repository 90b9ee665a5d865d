"""What reports of equal groups open with: at most one in twenty with a difference."""

import numpy as np
import pytest
from tests.needs import EVERY_CASE

import fairgauge as fg

_REPORTS = 60 if EVERY_CASE else 30


def equal_groups(seed: int, sizes: list[int]) -> fg.Report:
    """Audit groups whose cells are drawn from one distribution."""
    rng = np.random.default_rng(seed)
    drawn = {
        f"g{i}": dict(
            zip(("tp", "fp", "fn", "tn"), rng.multinomial(n, (0.3, 0.2, 0.1, 0.4)).tolist(),
                strict=True)
        )
        for i, n in enumerate(sizes)
    }  # fmt: skip
    return fg.audit(fg.confusion("g", drawn))


@pytest.mark.thorough
@pytest.mark.parametrize("sizes", [[400] * 2, [400] * 5, [100, 150, 200, 300, 500, 800, 1200] * 2])
def test_few_reports_of_equal_groups_open_with_a_difference(sizes):
    opened = 0
    for seed in range(_REPORTS):
        found = equal_groups(seed, sizes).findings
        opened += bool(found)
        for finding in found:
            assert finding.interval is None or 0 not in finding.interval
    assert opened / _REPORTS <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / _REPORTS)
