"""Numbers far from 0, as times or large identifiers: their sums are counted again about a centre.

The variance is a small difference of large sums of squares, of which doubles keep 16 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fairgauge.cube.cube import Cube
from fairgauge.cube.plan import LARGEST, Plan
from fairgauge.enums import Role

_FAR = 1e3
"""The mean in standard deviations beyond which the fourth powers lose most of their digits."""
_SUMS = {Role.LABEL: ("y", "yy"), Role.PREDICTION: ("p", "pp")}


def about_centre(
    cubes: Mapping[str, Cube], count: Callable[[Plan], Mapping[str, Cube]]
) -> Mapping[str, Cube]:
    """Return cubes of one plan, counted again where labels or predictions are far from 0."""
    plan = next(iter(cubes.values())).plan
    means, far = [], []
    for axis in plan.outcomes:
        first, second = _SUMS[axis.role]
        if first not in plan.measures:
            return cubes
        tables = [cube.marginal([axis]) for cube in cubes.values()]
        n, x, squares = (
            sum(float(each.sums[name][each.codes[:, 0] >= 0].sum()) for each in tables)
            for name in ("w" if plan.weight else plan.cases, first, second)
        )
        if n > 0:
            means.append(mean := x / n)
            far += [mean] if mean * mean > _FAR**2 * (squares / n - mean * mean) else []
    # rounded: the last digits depend on the order of rows
    centre = float(f"{max(far, key=abs, default=0.0):.8g}")
    nearer = all(abs(mean - centre) <= abs(mean) for mean in means)
    return count(plan.about(centre)) if 0 < abs(centre) < LARGEST and nearer else cubes
