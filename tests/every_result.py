"""One result of every kind that has a first page, each small and of made-up rows."""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.monitored_days import RATIO, asked, days
from tests.swapped_names import ASKED, study

import fairgauge as fg
import sample_reports
from fairgauge.cli import _demo_data
from fairgauge.results.monitor_results import HistoryFinding, HistoryHealth, HistoryProblem

LOANS: dict[str, Any] = {
    "label": "repaid", "prediction": "approved", "positive": "yes", "sensitive": ["sex", "race"],
    "intersections": [("sex", "race")],
}  # fmt: skip
RULES = ["selection_rate.ratio >= 0.8", "-0.1 <= true_positive_rate.difference <= 0.1"]
LOAN_WORDS: dict[str, Any] = {
    "unit": "loan applications", "noun": "applicants", "positive": "approved",
    "negative": "refused", "label_positive": "repaid", "label_negative": "did not repay",
}  # fmt: skip
SEX, RACE = {"sex": {"Female": "women", "Male": "men"}}, {"race": "{value} applicants"}
OF_SEX = LOAN_WORDS | {"groups": SEX}
OF_BOTH = LOAN_WORDS | {"groups": SEX | RACE | {"sex*race": "{race} {sex}"}}
RISK_WORDS: dict[str, Any] = {
    "noun": "defendants", "positive": "rated high risk", "negative": "rated low risk",
    "label_positive": "reoffended", "label_negative": "did not reoffend",
    "groups": {"race": "{value} {noun}"},
}  # fmt: skip


@cache
def loans() -> pl.DataFrame:
    """Return the loans of the demonstration."""
    with tempfile.TemporaryDirectory() as folder:
        _demo_data.examples(Path(folder))
        return pl.read_csv(Path(folder) / "loans.csv")


@cache
def defendants() -> pl.DataFrame:
    """Return people who are rated high or low risk, and whether they reoffended."""
    rng = np.random.default_rng(0)
    race = rng.choice(["Black", "White"], 6_000, p=[0.6, 0.4])
    reoffended = rng.random(6_000) < np.where(race == "Black", 0.52, 0.39)
    high = np.where(reoffended, np.where(race == "Black", 0.72, 0.52),
                    np.where(race == "Black", 0.45, 0.23))  # fmt: skip
    rated = (rng.random(6_000) < high).astype(int)
    return pl.DataFrame({"race": race, "reoffended": reoffended.astype(int), "high": rated})


@cache
def prices() -> pl.DataFrame:
    """Return rate spreads of loans by race, within tiers, and houses with estimated prices."""
    rng = np.random.default_rng(2)
    race = rng.choice(["Black", "White", "Asian"], 4_000, p=[0.3, 0.5, 0.2])
    tier = rng.choice(["low", "high"], 4_000)
    spread = 1.3 + rng.gamma(2, 0.2, 4_000) + 0.3 * (race == "Black") + 0.2 * (tier == "high")
    price = rng.lognormal(5, 0.4, 4_000)
    estimate = price * rng.lognormal(np.where(race == "Black", -0.06, 0), 0.1, 4_000)
    return pl.DataFrame({"race": race, "tier": tier, "rate_spread": spread.round(3),
                         "price": price.round(1), "estimate": estimate.round(1)})  # fmt: skip


@cache
def calls() -> pl.DataFrame:
    """Return calls that are routed to one of three desks, less often rightly for one accent."""
    rng = np.random.default_rng(3)
    accent = rng.choice(["local", "other"], 3_000, p=[0.7, 0.3])
    desks = ["billing", "cancel", "help"]
    wanted = rng.choice(desks, 3_000)
    right = rng.random(3_000) < np.where(accent == "local", 0.9, 0.8)
    routed = np.where(right, wanted, rng.choice(desks, 3_000))
    return pl.DataFrame({"accent": accent, "asked": wanted, "routed": routed})


@cache
def estimated(*, known: bool = False) -> pl.DataFrame:
    """Return decisions about people whose group is known by its probability alone, or of some."""
    rng = np.random.default_rng(4)
    black = 1 / (1 + np.exp(1.5 - 2.5 * rng.normal(size=20_000)))
    is_black = rng.random(20_000) < black
    approved = (rng.random(20_000) < np.where(is_black, 0.52, 0.7)).astype(int)
    rows = {"p_black": black, "p_white": 1 - black, "approved": approved}
    reports = np.where(rng.random(20_000) < 0.03, np.where(is_black, "Black", "White"), None)
    return pl.DataFrame(rows | ({"reported": reports.tolist()} if known else {}))


def unrecorded(*, known: bool = False, **more: Any) -> Any:
    """Return an audit of groups of which only probabilities are known."""
    own: dict[str, Any] = {"known": "reported", "known_drawn": "random"} if known else {}
    race = fg.probabilities(Black="p_black", White="p_white", **own)
    options: dict[str, Any] = {"prediction": "approved", "positive": 1, "sensitive": {"race": race},
               "metrics": "selection_rate.difference",
               "rules": ["selection_rate.difference >= -0.05"]}  # fmt: skip
    return fg.audit(estimated(known=known), **options | more)


def of_loans(**more: Any) -> Any:
    """Return the audit of the demonstration."""
    return fg.audit(loans(), **LOANS | {"rules": RULES, "words": OF_BOTH} | more)


def of_regression(**more: Any) -> Any:
    """Return an audit of numbers."""
    return fg.audit(prices(), **{"sensitive": "race", "task": "regression"} | more)


def two_models() -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return two models on the loans, the second nearer to what happened, and the question."""
    rng = np.random.default_rng(5)
    table = loans().with_columns(
        new=pl.when(pl.Series(rng.random(len(loans())) < 0.5)).then("repaid").otherwise("approved")
    )
    asked_of = {key: LOANS[key] for key in ("label", "prediction", "positive")}
    return table, {**asked_of, "candidate": "new", "sensitive": "sex", "words": OF_SEX}


def of_models() -> Any:
    """Return the comparison of both."""
    table, question = two_models()
    return fg.compare_models(table, **question)


def of_alternatives() -> Any:
    """Return whether the second is an alternative to the first, of a search of two."""
    table, question = two_models()
    table = table.with_columns(
        other=pl.when(pl.col("sex") == "Male").then("new").otherwise("approved")
    )
    question |= {"candidate": ["new", "other"], "retrained": True}
    return fg.alternatives(table, reference={"sex": "Male"}, **question)


def scored() -> pl.DataFrame:
    """Return the loans with a score."""
    rng = np.random.default_rng(6)
    base = 0.45 + 0.15 * (loans()["repaid"] == "yes").to_numpy()
    shift = -0.08 * (loans()["sex"] == "Female").to_numpy()
    return loans().with_columns(
        score=pl.Series(np.clip(base + shift + rng.normal(0, 0.15, len(loans())), 0, 1).round(3))
    )


def of_scores(**more: Any) -> Any:
    """Return an audit of scores."""
    options: dict[str, Any] = {"label": "repaid", "positive": "yes", "sensitive": "sex",
                               "score": "score", "threshold": 0.5, "words": OF_SEX}  # fmt: skip
    return fg.audit(scored(), **options | more)


def of_history() -> Any:
    """Return what is wrong with a history of counts: every other day is a gap."""
    gaps = [
        HistoryFinding(
            problem=HistoryProblem.GAP, period=f"2026-01-{day:02d}", last=f"2026-01-{day:02d}",
            other=f"2026-01-{day + 1:02d}", rows=1,
        )
        for day in range(2, 20, 2)
    ]  # fmt: skip
    return HistoryHealth(
        version="0", created="2026-02-01T00:00:00+00:00", history="history", model="loans",
        periods=tuple(f"2026-01-{day:02d}" for day in range(1, 21, 2)), findings=tuple(gaps),
    )  # fmt: skip


def of_pairs(**more: Any) -> Any:
    """Return an audit of answers under swapped names."""
    table = study((6, 6), 20, 2, delta=-0.6, placebos=5)
    options: dict[str, Any] = {"reference": {"group": "White"}, "placebo": "edit"}
    return fg.pairs(table, **ASKED, **options | {"margins": {"score": 0.3}} | more)


_ADMISSIONS: dict[str, Any] = {
    "noun": "applicants", "label_positive": "were admitted", "label_negative": "were rejected",
    "groups": {"Gender": {"Female": "women", "Male": "men"}},
}  # fmt: skip


def _berkeley(**more: Any) -> Any:
    import io

    table = pl.read_csv(io.StringIO(_demo_data.admissions()))
    options: dict[str, Any] = {"label": "Admit", "positive": "Admitted", "count": "Freq",
                               "sensitive": "Gender", "words": _ADMISSIONS}  # fmt: skip
    return table, options | more


def of_berkeley() -> Any:
    """Return Berkeley's admissions, adjusted for departments."""
    table, options = _berkeley()
    return fg.audit(table, **options, strata="Dept")


def of_why() -> Any:
    """Return how much of Berkeley's gap is composition of departments."""
    table, options = _berkeley()
    return fg.why(table, **options, strata="Dept")


RESULTS: dict[str, Callable[[], Any]] = {
    "loans": of_loans,
    "without rules": lambda: of_loans(rules=[]),
    "inconclusive": lambda: fg.audit(
        loans()[:200], **LOANS | {"sensitive": "race", "intersections": []}, rules=RULES,
        words=LOAN_WORDS | {"groups": RACE},
    ),
    "passing": lambda: of_loans(rules=["selection_rate.ratio >= 0.3"]),
    "data alone": lambda: of_loans(prediction=None, rules=[]),
    "defendants": lambda: fg.audit(
        defendants(), label="reoffended", prediction="high", positive=1, sensitive="race",
        words=RISK_WORDS, favourable="negative", rules=["false_positive_rate.difference <= 0.1"],
    ),
    "local law 144": lambda: fg.audit(
        loans(), prediction="approved", positive="yes", sensitive=["sex", "race"],
        intersections=[("sex", "race")], preset="nyc-ll144",
    ),
    "scores": of_scores,
    "one threshold": lambda: of_scores(threshold=0.5, rules=RULES),
    "spreads": lambda: of_regression(
        label="rate_spread", rules=["mean_label.ratio <= 1.05"], reference={"race": "White"}
    ),
    "spreads in tiers": lambda: of_regression(label="rate_spread", strata="tier"),
    "errors": lambda: of_regression(
        label="price", prediction="estimate", rules=["mean_absolute_error.ratio <= 1.25"]
    ),
    "three classes": lambda: fg.audit(
        calls(), label="asked", prediction="routed", sensitive="accent",
        rules=["-0.05 <= accuracy.difference <= 0.05"],
    ),
    "classes without accuracy": lambda: fg.audit(
        calls(), label="asked", prediction="routed", sensitive="accent",
        metrics=["selection_rate.difference", "true_positive_rate.difference"],
    ),
    "strata": of_berkeley,
    "estimated groups": unrecorded,
    "scores alone": lambda: of_scores(threshold=None),
    "estimated groups with answers": lambda: unrecorded(known=True),
    "hostile": sample_reports.hostile,
    "compared reports": lambda: fg.compare(of_loans(), of_loans(prediction="repaid")),
    "models": of_models,
    "alternatives": lambda: of_alternatives(),
    "thresholds": lambda: fg.thresholds(
        scored(), label="repaid", positive="yes", score="score", threshold=0.5,
        sensitive="sex", words=OF_SEX, rules=RULES[:1],
    ),
    "alarm": lambda: fg.monitor(days(40, 25, 0.22), asked(RATIO)),
    "no alarm": lambda: fg.monitor(days(40, 40, 0.4), asked(RATIO)),
    "check": lambda: fg.check(
        "| group | n | selected | selection rate |\n|-|-|-|-|\n| A | 100 | 50 | 0.6 |\n"
        "| B | 80 | 20 | 0.25 |\n"
    ),
    "why": of_why,
    "find": lambda: fg.find(
        loans(), label="repaid", prediction="approved", positive="yes",
        sensitive=["sex", "race", "age"], metrics="false_negative_rate",
    ),
    "pairs": of_pairs,
    "same answers": lambda: of_pairs(margins={}),
    "plan": lambda: fg.plan(rate=0.3, tolerance=0.05),
    "history": of_history,
}  # fmt: skip


@cache
def result(name: str) -> Any:
    """Return a result of the stock, made once."""
    return RESULTS[name]()
