"""Rows that a feed repeats in every period, and changes that last, leave no green monitor."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.monitored_days import QUESTION, asked, day_names

import fairgauge as fg
from fairgauge.results.monitor_results import HistoryProblem

RULE = {"metric": "selection_rate.difference", "between": [-0.4, 0.4]}
DOUBLED = HistoryProblem.DOUBLED_ROWS
SEX = {"prediction": "p", "positive": 1, "sensitive": "g"}


def counts_of(women: int, men: int, rng: np.random.Generator, times: int = 1) -> fg.Cube:
    """Return the counts of so many rows of two groups, each of which stands several times."""
    cells = {
        group: dict(zip(("tp", "fn", "fp", "tn"), (times * rng.multinomial(n, [0.25] * 4)).tolist(),
                        strict=True))
        for group, n in (("F", women), ("M", men))
    }  # fmt: skip
    return fg.confusion("sex", cells)


def both(report: fg.MonitorReport, counts, question) -> fg.MonitorReport:
    """Return a report after the check that accepting closes what it found."""
    accepted = question | {"accept": ["doubled_rows"]}
    closed = fg.monitor(counts, accepted)
    assert (closed.findings, closed.exit_code) == ((), 0)
    return report


def test_a_period_that_was_counted_with_copies_is_found() -> None:
    rng = np.random.default_rng(0)

    def day(copied: bool) -> fg.Cube:
        n = int(rng.poisson(150 if copied else 300))
        rows = pd.DataFrame({"g": rng.choice(["F", "M"], n), "p": rng.integers(0, 2, n),
                             "amount": rng.random(n).round(6)})  # fmt: skip
        return fg.count(pd.concat([rows, rows]) if copied else rows, **SEX)

    counts = {name: day(i == 8) for i, name in enumerate(day_names(10))}
    spec = SEX | {"monitor": {"rules": [RULE]}}
    assert counts[day_names(10)[8]].copies
    report = both(fg.monitor(counts, spec), counts, spec)
    (found,) = report.findings
    assert (found.problem, found.period, report.exit_code) == (DOUBLED, day_names(10)[8], 3)


@pytest.mark.parametrize("first", [0, 10])
def test_days_of_few_cells_that_are_all_even_are_found_together(first: int) -> None:
    rng = np.random.default_rng(1)
    counts = {
        name: counts_of(*(rng.poisson(50, 2) if i >= first else rng.poisson(100, 2)), rng,
                        1 + (i >= first))
        for i, name in enumerate(day_names(45))
    }  # fmt: skip
    report = both(fg.monitor(counts, asked(RULE)), counts, asked(RULE))
    (found,) = report.findings
    assert (found.problem, found.period, found.expected) == (DOUBLED, day_names(45)[first], 2)
    assert (found.last, report.exit_code) == (day_names(45)[-1], 3)


@pytest.mark.parametrize(("total", "times"), [(False, 1), (True, 1), (False, 2)])
def test_of_a_table_of_counts_cases_are_compared_not_its_rows(total: bool, times: int) -> None:
    """Every cell has a row for each of three branches, and only a total counts all cases twice."""
    rng, question = np.random.default_rng(3), SEX | {"count": "n"}

    def day(copies: int) -> fg.Cube:
        rows = pd.DataFrame({"g": ["F", "M"] * 6, "p": [0, 0, 1, 1] * 3, "n": rng.poisson(60, 12)})
        every = rows.groupby(["g", "p"], as_index=False).n.sum()
        return fg.count(pd.concat([rows, every] if total else [rows] * copies), **question)

    counts = {name: day(times if i == 20 else 1) for i, name in enumerate(day_names(24))}
    spec = question | {"monitor": {"rules": [RULE]}}
    found = [(e.problem, e.expected) for e in both(fg.monitor(counts, spec), counts, spec).findings]
    assert found == [(DOUBLED, 2)] * (total or times > 1)


@pytest.mark.parametrize("selected", [[125, 125], [100, 150]])
def test_groups_of_fixed_sizes_that_happen_to_be_split_evenly_are_no_copies(selected) -> None:
    """Four cells are multiples of 125 or 50 where chance decides two of them."""
    rng, names = np.random.default_rng(1), day_names(30)
    every = dict(zip(names, rng.binomial(250, 0.5, (30, 2)).tolist(), strict=True))
    every[names[20]] = selected
    counts = {
        name: fg.confusion("sex", {"F": {"tp": f, "fn": 250 - f}, "M": {"tp": m, "fn": 250 - m}})
        for name, (f, m) in every.items()
    }
    assert fg.monitor(counts, asked(RULE)).findings == ()


@pytest.mark.parametrize("backlog", [0, 3000])
def test_periods_that_hold_all_rows_so_far_are_found(backlog: int) -> None:
    rng, so_far, counts = np.random.default_rng(2), np.zeros((2, 4), dtype=int), {}
    so_far += rng.multinomial(backlog, [0.25] * 4, 2)
    for i, name in enumerate(day_names(40)):
        so_far += (i % 7 != 6) * rng.multinomial(100, [0.25] * 4, 2)
        rows = [dict(zip(("tp", "fn", "fp", "tn"), of, strict=True)) for of in so_far.tolist()]
        counts[name] = fg.confusion("sex", {"F": rows[0], "M": rows[1]})
    report = fg.monitor(counts, asked(RULE))
    (found,) = [each for each in report.findings if each.problem is DOUBLED]
    assert (found.last, found.other, report.exit_code) == (day_names(40)[-1], day_names(1)[0], 3)
    assert "as if periods also held rows of those before" in found.says
    accepted = fg.monitor(counts, asked(RULE) | {"accept": ["doubled_rows", "volume"]})
    assert {each.problem for each in accepted.findings} == {HistoryProblem.SAME_COUNTS}


@pytest.mark.parametrize(("length", "first", "days"), [(7, 0, 12), (7, 10, 24), (3, 0, 45)])
def test_periods_that_hold_the_last_days_are_found(length: int, first: int, days: int) -> None:
    rng, names = np.random.default_rng(7), day_names(days)
    rows, counts = rng.multinomial(100, [0.4, 0.1, 0.2, 0.3], (days + length, 2)), {}
    for i, name in enumerate(names):
        last = rows[i : i + (length if i >= first else 1)].sum(axis=0).tolist()
        cells = [dict(zip(("tp", "fn", "fp", "tn"), of, strict=True)) for of in last]
        counts[name] = fg.confusion("sex", {"F": cells[0], "M": cells[1]})
    report = fg.monitor(counts, asked(RULE))
    (found,) = [each for each in report.findings if each.problem is DOUBLED]
    assert (found.last, report.exit_code) == (names[-1], 3)
    assert found.other in names[max(first - 1, 0) : first + 2]


@pytest.mark.parametrize("growth", [1.01, 1.03])
@pytest.mark.parametrize("rows", [100, 1_000_000])
def test_a_feed_that_grows_holds_other_rows(growth: float, rows: int) -> None:
    """With many rows, all cells grow from day to day, too, but beside each other as by sampling."""
    rng = np.random.default_rng(3)
    counts = {
        name: counts_of(*rng.poisson(rows * growth**i, 2), rng)
        for i, name in enumerate(day_names(45))
    }
    assert DOUBLED not in {each.problem for each in fg.monitor(counts, asked(RULE)).findings}


def test_a_share_that_changed_for_good_remains_a_finding() -> None:
    """From day 30 on, 30% of the women are counted as men: it was found on two days alone."""
    rng = np.random.default_rng(4)
    counts = {}
    for i, name in enumerate(day_names(60)):
        women, men = rng.poisson(200, 2)
        moved = rng.binomial(women, 0.3 * (i >= 30))
        counts[name] = counts_of(women - moved, men + moved, rng)
    spec = asked(RULE)
    report = fg.monitor(counts, spec)
    (found,) = report.findings
    assert (found.problem, found.column, found.last) == (HistoryProblem.VOLUME, "sex", name)
    assert (found.period < day_names(40)[-1], report.exit_code) == (True, 3)
    again = asked(RULE, start=day_names(31)[-1])
    assert fg.monitor(counts, again).findings == ()
    assert fg.monitor(counts, spec | {"accept": ["volume:sex"]}).findings == ()


@pytest.mark.parametrize("reference", [{"sex": "F"}, "largest"])
def test_a_monitor_does_not_pass_for_a_reference_that_would_fail(reference) -> None:
    rng = np.random.default_rng(5)

    def day() -> fg.Cube:
        some = {"F": (300, rng.binomial(300, 0.3)), "M": (100, rng.binomial(100, 0.6))}
        return fg.confusion("sex", {g: {"tp": int(x), "fn": int(n - x)}
                                    for g, (n, x) in some.items()})  # fmt: skip

    counts = {name: day() for name in day_names(20)}
    rule = {"metric": "selection_rate.ratio", "at_least": 0.8}
    spec = asked(rule) | {"reference": reference}
    report = fg.monitor(counts, spec)
    assert report.exit_code == 3
    assert "a reference that would fail the rule" in " ".join(str(report).split())
    assert fg.monitor(counts, spec | {"accept": ["reference_decides"]}).exit_code == 0
    assert fg.monitor(counts, spec | {"reference": {"sex": "M"}}).exit_code == 1
    lower = asked({**rule, "at_least": 0.4}) | {"reference": reference}
    assert fg.monitor(counts, lower).exit_code == 0


@pytest.mark.parametrize(
    ("quiet", "needs"), [(1, "a single such period needs nothing, or "), (2, "")]
)
def test_quiet_days_need_no_new_start(quiet: int, needs: str) -> None:
    rng = np.random.default_rng(6)
    counts = {
        name: counts_of(*rng.poisson(100 if i < 20 else 20, 2), rng)
        for i, name in enumerate(day_names(20 + quiet))
    }
    (found,) = fg.monitor(counts, asked(RULE)).findings
    assert f'as on a quiet holiday, {needs}accept it (accept = ["volume"])' in found.says


# ---- A file that holds the rows of an earlier period is found before its labels come, and after
RECALL = {"metric": "true_positive_rate.difference", "between": [-0.5, 0.5], "groups": "F"}
QUESTIONS = {
    "predictions": QUESTION,
    "strata": QUESTION | {"strata": "branch"},
    "scores": {k: v for k, v in QUESTION.items() if k != "prediction"}
    | {"score": "score", "threshold": 0.5},
}


def rows_of(day: int, size: int | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(day)
    size = size or int(rng.poisson(400 if day % 7 < 5 else 150))
    rows = pd.DataFrame({"sex": rng.choice(["F", "M"], size)})
    rows["branch"] = rng.choice(list("abcd"), size)
    rows["score"] = rng.random(size).round(3)
    rows["prediction"] = (rows["score"] > 0.5).astype(int)
    rows["label"] = rng.integers(0, 2, size).astype(float)
    return rows


def same_counts(report: fg.MonitorReport) -> list[tuple[str, str, str | None]]:
    found = [e for e in report.findings if e.problem is HistoryProblem.SAME_COUNTS]
    return [(each.period, each.last, each.other) for each in found]


@pytest.mark.parametrize(
    ("kind", "relabelled"), [("predictions", True), ("strata", False), ("scores", True)]
)
def test_a_copy_is_found_in_its_night_and_stays_found(tmp_path: Path, kind, relabelled) -> None:
    """The labels of the copy come later than those of the original, and may differ from them."""
    history, names, copied = fg.History(tmp_path), day_names(14), 9
    spec = QUESTIONS[kind] | {"monitor": {"rules": [RECALL], "labels_within": 7}}

    def rows(day: int) -> pd.DataFrame:
        if day != copied:
            return rows_of(day)
        held = rows_of(day - 1)
        return held.assign(label=held["label"].sample(frac=1).to_numpy()) if relabelled else held

    for t, name in enumerate(names):
        if t >= 2:
            history.add(names[t - 2], fg.count(rows(t - 2), **QUESTIONS[kind]), replace=True)
        history.add(name, fg.count(rows(t).assign(label=None), **QUESTIONS[kind]))
        report = fg.monitor(history, spec)
        expected = [(names[copied], names[copied], names[copied - 1])] if t >= copied else []
        assert same_counts(report) == expected
        assert [e.problem for e in report.concerning(name)] == (
            [HistoryProblem.SAME_COUNTS] if t == copied else []
        )


def test_a_copy_of_a_week_ago_and_a_baseline_of_monitored_days_are_found(tmp_path: Path) -> None:
    names, days = day_names(30), [rows_of(t, 400) for t in range(30)]
    days[-1] = days[-8]
    question = {k: v for k, v in QUESTION.items() if k != "label"}
    counts = {n: fg.count(rows, **question) for n, rows in zip(names, days, strict=True)}
    baseline = str(tmp_path / "b.cube.json")
    fg.count(pd.concat(days[:10]), **question).save(baseline)
    rule = {"metric": "selection_rate.difference", "within": 0.2, "of": baseline}
    spec = question | {"monitor": {"rules": [rule]}}
    found = same_counts(fg.monitor(counts, spec))
    assert found == [(names[0], names[9], "b.cube.json"), (names[-1], names[-1], names[-8])]
    accept = [f"same_counts:{names[0]}", f"same_counts:{names[-1]}"]
    assert fg.monitor(counts, spec | {"accept": accept}).exit_code == 0
    assert same_counts(fg.monitor({n: counts[n] for n in names[1:-1]}, spec)) == []


@pytest.mark.parametrize("labels", [[], ["label"]])
@pytest.mark.parametrize(("size", "varies"), [(25, False), (60, True)])
def test_no_period_is_a_copy_by_coincidence(varies: bool, size: int, labels) -> None:
    """Groups may have the same sizes on all days, or such as vary."""
    rng, counts = np.random.default_rng(1_000), {}
    for name in day_names(100):
        women, men = rng.poisson(size, 2) if varies else (size, size)
        held = pd.DataFrame({"sex": ["F"] * women + ["M"] * men})
        held["prediction"] = rng.integers(0, 2, len(held))
        held["label"] = rng.integers(0, 2, len(held)).astype(float)
        counts[name] = fg.count(held.assign(**dict.fromkeys(labels)), **QUESTION)
    assert same_counts(fg.monitor(counts, asked(RECALL, labels_within=7))) == []
