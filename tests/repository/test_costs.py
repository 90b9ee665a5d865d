"""No cost that is the same on every machine grows unnoticed; `bench/costs.toml` states them."""

import tomllib

from bench.costs import FILE, measured


def grown(costs: dict[str, int], stated: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return what costs too much, with its stated cost: of functions not listed at most the least.

    Functions may call one another more often as long as all of them together do not.
    """
    least = min(stated.values())
    limits = {name: stated.get(name, least) for name in costs}
    found = {n: (limits[n], cost) for n, cost in costs.items() if cost > 1.02 * limits[n]}
    return found if "calls" not in costs or "calls" in found else {}


def test_no_cost_grows():
    stated, now = tomllib.loads(FILE.read_text(encoding="utf-8")), measured()
    assert now.keys() == stated.keys()
    found = {name: more for name in now if (more := grown(now[name], stated[name]))}
    assert not found, "calls, modules or bytes, stated and now; if due: python -m bench.costs"


def test_the_function_that_grew_is_named():
    stated = {"calls": 1_000, "a:f": 600, "a:g": 300}
    assert grown({"calls": 1_010, "a:f": 500, "a:g": 510}, stated) == {}
    more = grown({"calls": 1_100, "a:f": 600, "a:new": 390, "a:g": 110}, stated)
    assert more == {"calls": (1_000, 1_100), "a:new": (300, 390)}
