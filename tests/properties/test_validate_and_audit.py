"""`fairgauge validate` accepts what `audit` accepts, up to errors that need labels counted."""

from typing import Any

import numpy as np
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fairgauge as fg
from fairgauge.api.audit import check_groups
from fairgauge.errors import FairgaugeError
from fairgauge.question.specification import ask
from fairgauge.scan import open_source

RNG = np.random.default_rng(5)
ROWS = 240
TABLE = pl.DataFrame(
    {
        "g": RNG.choice(["A", "B", "C", "Unknown"], ROWS),
        "h": RNG.choice([1, 2, 3], ROWS),
        "blank": [None] * ROWS,
        "y": RNG.integers(0, 2, ROWS),
        "p": RNG.integers(0, 2, ROWS),
        "s": RNG.random(ROWS).round(3),
    }
).with_columns(g=pl.when(pl.int_range(pl.len()) < 5).then(None).otherwise("g"))

GROUPS = st.sampled_from(["A", "B", "C", "Unknown", "a", "nobody"])
SENSITIVE = st.sampled_from(
    ["g", ["g", "h"], {"g": ["A", "B"]}, {"g": [["A", "B"], ["C"]]}, {"g": ["nobody"]}, ["blank"]]
)
REFERENCES = st.one_of(
    st.sampled_from(["others", "overall", "largest", "best"]),
    st.fixed_dictionaries({"g": GROUPS}),
    st.fixed_dictionaries({"g": GROUPS, "h": st.sampled_from([1, 4])}),
)
OPTIONS = st.fixed_dictionaries(
    {"sensitive": SENSITIVE},
    optional={
        "reference": REFERENCES,
        "exclude_groups": st.lists(GROUPS, max_size=2, unique=True),
        "unknown": st.lists(GROUPS, max_size=1),
        "missing": st.sampled_from(["drop", "group", "error"]),
        "intersections": st.sampled_from([[["g", "h"]]]),
        "profile": st.sampled_from(["documented", "clarify"]),
        "min_n": st.sampled_from([1, 100]),
        "rules": st.sampled_from([["DI >= 0.8"]]),
    },
)
DECISIONS = st.sampled_from(
    [
        {"label": "y", "prediction": "p"},
        {"label": "y", "prediction": "p", "strata": "h"},
        {"score": "s", "preset": "nyc-ll144"},
        {"label": "y", "score": "s", "threshold": "median"},
        {"label": "y", "score": "s", "threshold": 0.4},
    ]
)


def refusal(call: Any) -> str | None:
    """Return why something is refused, None where it is accepted."""
    try:
        call()
    except FairgaugeError as error:
        return str(error)
    return None


@settings(derandomize=True, suppress_health_check=list(HealthCheck))
@given(decisions=DECISIONS, options=OPTIONS)
def test_validate_accepts_what_audit_accepts(
    decisions: dict[str, Any], options: dict[str, Any]
) -> None:
    asked = {**decisions, **options}

    def validate() -> None:
        source = open_source(TABLE)
        check_groups(source, ask(source.columns, **asked))

    by_validate, by_audit = refusal(validate), refusal(lambda: fg.audit(TABLE, **asked))
    assert by_validate == by_audit


@settings(derandomize=True, suppress_health_check=list(HealthCheck))
@given(options=OPTIONS)
def test_counts_are_resolved_as_in_an_audit(options: dict[str, Any]) -> None:
    counted = {"sensitive": ["g", "h"], "label": "y", "prediction": "p"}
    counts = fg.count(TABLE, **counted)
    asked = {name: value for name, value in options.items() if name != "sensitive"}

    def validate() -> None:
        check_groups(counts, ask(base=counts.asked, **asked))

    assert refusal(validate) == refusal(lambda: fg.audit(counts, **asked))
