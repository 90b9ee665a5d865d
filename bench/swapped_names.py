"""``python -m bench.swapped_names``: false alarms, coverage and power of audits by swapped names.

Studies are drawn from crossed random effects (items, names, items by names, items by groups, runs)
and audited by `fairgauge.pairs` as users do it; beside its verdicts stands what the usual tests
make of the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import stats

import fairgauge as fg
from bench.counting import Record, count_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 100
_ALPHA = 0.05
DIFFERS, EQUIVALENT = "differs", "equivalent"


@dataclass(frozen=True)
class Study:
    """What one study is drawn from; standard deviations are of the effects.

    Attributes
    ----------
    setting : what is drawn, in words.
    names : of the group and of its reference; of several groups, the reference is the last.
    items, runs, models : how many.
    delta : the difference between the groups' names.
    name, cell, run, group_item : standard deviations of names in each group, of items by names, of
        runs, and of items by groups.
    families : texts that items are made from, by which groups then differ; None is each item.
    placebos, placebo : irrelevant edits, and their standard deviation.
    baseline : by how much answers without any edit are higher; None where there are none.
    scale : "score", "rounded" (to 1 ... 10), or the share of favourable decisions.
    per_item : names of each side that an item is asked under; None is all.
    margin : of equivalence.
    wanted : of what is measured.
    """

    setting: str
    names: tuple[int, ...] = (5, 5)
    items: int = 17
    runs: int = 5
    models: int = 1
    delta: float = 0.0
    name: tuple[float, ...] = (0.1,)
    cell: float = 0.1
    run: float = 0.5
    group_item: float = 0.0
    families: int | None = None
    placebos: int = 0
    placebo: float = 0.0
    baseline: float | None = None
    scale: str | float = "score"
    per_item: int | None = None
    margin: float | None = None
    wanted: str = "at most 5"


def drawn(study: Study, rng: np.random.Generator) -> pl.DataFrame:
    """Draw the answers of a study."""
    sizes = [*study.names, study.placebos, int(study.baseline is not None)]
    groups = [*"dbc"[: len(study.names) - 1], "a", "edit", "baseline"]
    group = np.repeat(np.arange(len(sizes)), sizes)
    spread = [*np.resize(study.name, len(study.names)), study.placebo, 0.0]
    shape = (study.models, study.items, len(group))
    effect = rng.normal(0, 1, (study.models, len(group))) * np.array(spread)[group]
    effect[:, group == 0] += study.delta
    effect[:, group == len(sizes) - 1] += study.baseline or 0.0
    mean = rng.normal(0, 1, (study.models, study.items, 1)) + effect[:, None, :]
    family = np.arange(study.items) % (study.families or study.items)
    of_group = rng.normal(0, study.group_item, (study.models, family.max() + 1, len(sizes)))
    mean = mean + of_group[:, family][:, :, group]
    mean = mean + rng.normal(0, study.cell, shape)
    y = mean[..., None] + rng.normal(0, study.run, (*shape, study.runs))
    if study.scale == "rounded":
        y = np.clip(np.round(5 + 2 * y), 1, 10)
    elif study.scale != "score":
        y = (y > np.sqrt(1 + study.run**2) * stats.norm.isf(float(study.scale))).astype(float)
    model, item, name, run = np.indices(y.shape)
    kept = np.ones(y.shape, dtype=bool)
    if study.per_item is not None:
        order = rng.random((study.items, len(group)))
        for g in range(len(study.names)):
            rank = order[:, group == g].argsort(axis=1).argsort(axis=1)
            kept[:, :, group == g] &= (rank < study.per_item)[None, :, :, None]
    return pl.DataFrame(
        {
            "model": model[kept], "item": item[kept], "name": name[kept],
            "group": np.array(groups)[group[name[kept]]], "run": run[kept], "answer": y[kept],
            "family": family[item[kept]],
        }
    )  # fmt: skip


def happened(study: Study, rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
    """Yield what `fairgauge.pairs` and the usual tests make of one study."""
    table = drawn(study, rng)
    of_decisions = study.scale not in ("score", "rounded")
    asked: dict[str, Any] = {
        "item": "item", "variant": "name", "sensitive": "group", "reference": {"group": "a"},
        "prediction" if of_decisions else "score": "answer",
    }  # fmt: skip
    if study.models > 1:
        asked["model"] = "model"
    if study.families:
        yield "differs without family", str(fg.pairs(table, **asked).verdict) == DIFFERS
        asked["family"] = "family"
    if study.placebos:
        asked["placebo"] = "edit"
    if study.baseline is not None:
        asked["exclude_groups"] = "baseline"
    if study.margin is not None:
        asked["margins"] = {"score": study.margin}
    audit = fg.pairs(table, **asked)
    verdicts = [str(each.verdict) for each in audit.differences]
    yield DIFFERS, DIFFERS in verdicts
    if study.margin is not None:
        yield EQUIVALENT, EQUIVALENT in verdicts
    (first, *_) = audit.differences
    if study.delta and first.low is not None and first.high is not None:
        yield "covers", first.low <= study.delta <= first.high
    yield "items alone", any(p < _ALPHA for p in _items_alone(table))
    if study.baseline is not None:
        yield "against the baseline", _against_baseline(table)


def _items_alone(table: pl.DataFrame) -> Iterator[float]:
    """Yield the p-values of the t test of the items' differences, of each group and model."""
    cells = table.group_by("model", "item", "name", "group").agg(pl.col("answer").mean())
    sides = cells.group_by("model", "item", "group").agg(pl.col("answer").mean())
    for (_,), of_model in sides.group_by("model"):
        wide = of_model.pivot(on="group", index="item", values="answer")
        for group in set(wide.columns) - {"item", "a", "edit", "baseline"}:
            difference = (wide[group] - wide["a"]).drop_nulls().to_numpy()
            if difference.std() > 0:
                yield float(stats.ttest_1samp(difference, 0).pvalue)


def _against_baseline(table: pl.DataFrame) -> bool:
    """Return whether the first name differs from the unedited text by a paired t test of items."""
    wide = (
        table.filter(pl.col("name").is_in([0, table["name"].max()]))
        .group_by("item", "name")
        .agg(pl.col("answer").mean())
        .pivot(on="name", index="item", values="answer")
    )
    first, baseline = (wide[name].to_numpy() for name in ("0", str(table["name"].max())))
    return bool(stats.ttest_rel(first, baseline).pvalue < _ALPHA)


_PILOT = Study("", name=(0.07,), cell=0.10, run=0.56)
_COVERED = "93.5 or more"
_UNLIKE = "at most 7"
"""Of few names that vary more than the others: Welch's test exceeds its level there."""
STUDY_DESIGNS = (
    Study("3 + 3 names, 17 items x 5 runs", (3, 3)),
    Study("5 + 5 names, 17 x 5"),
    Study("10 + 10 names, 10 x 1", (10, 10), 10, 1),
    Study("5 + 5 names, 17 x 5, unstable model (SD of runs 2)", run=2.0),
    Study("5 + 5 names, 17 x 5, every edit lowers answers by .25", baseline=0.25),
    Study("5 + 5 names, 17 x 5, groups differ by item (SD .3)", group_item=0.3),
    Study("5 + 5 names, 6 x 5, groups differ by item (SD .3)", items=6, group_item=0.3),
    Study("20 + 20 names, 8 x 1, groups differ by item (SD .3)", (20, 20), 8, 1, group_item=0.3),
    Study("4 + 8 names, 17 x 5, the 4 vary twice as much", (4, 8), name=(0.2, 0.1),
          wanted=_UNLIKE),
    Study("3 + 8 names, 17 x 5, the 3 vary twice as much", (3, 8), name=(0.2, 0.1),
          wanted=_UNLIKE),
    Study("4 + 4 names, 5 x 1, unstable model (SD of runs 2)", (4, 4), 5, 1, run=2.0),
    Study("5 + 5 names, 17 x 5, scores rounded to 1 ... 10", scale="rounded"),
    Study("decisions, 5 + 5 names, 30 x 1", items=30, runs=1, scale=0.3),
    Study("rare decisions, 6 + 6 names, 80 x 1", (6, 6), 80, 1, scale=0.05),
    Study("decisions near 10 %, 300 items with 2 + 2 of 18 + 18 names", (18, 18), 300, 1,
          scale=0.1, per_item=2),
    Study("60 items with 2 + 2 of 6 + 6 names", (6, 6), 60, 1, per_item=2),
    Study("4 groups of 5 names, 5 models, 17 x 2: any of 20 comparisons", (5, 5, 5, 5), runs=2,
          models=5),
    Study("4 + 6 names, 17 x 5, difference -.2", (4, 6), delta=-0.2, wanted=_COVERED),
    Study("8 + 8 names, 17 x 5, difference -.2, groups differ by item (SD .3)", (8, 8),
          delta=-0.2, group_item=0.3, wanted=_COVERED),
    Study("3 + 3 names, 12 x 5, difference -.2", (3, 3), 12, delta=-0.2, wanted=_COVERED),
    *(
        replace(_PILOT, setting=f"6 + 6 names, 17 x 5, 7 irrelevant edits of SD {sd}{text}",
                names=(6, 6), placebos=7, placebo=sd, delta=delta, wanted=wanted)
        for sd, power in ((0.02, 86), (0.07, 79), (0.15, 41))
        for text, delta, wanted in (("", 0.0, "at most 5"),
                                    (", difference -.2", -0.2, f"power about {power}"))
    ),
    *(
        replace(_PILOT, setting=f"{n} + {n} names, 17 x 5, margin .2{text}", names=(n, n),
                delta=delta, margin=0.2, wanted=wanted)
        for n, power, equal in ((3, 40, 20), (6, 89, 78), (12, 100, 100))
        for text, delta, wanted in (
            (", difference -.2", -0.2, f"power about {power}, false equivalence at most 2.8"),
            (", no difference", 0.0, f"equivalent about {equal}"),
        )
    ),
    Study("3 + 12 names, 17 x 5", (3, 12)),
    Study("3 + 12 names, 17 x 5, the 3 vary three times as much", (3, 12), name=(0.3, 0.1),
          wanted=_UNLIKE),
    Study("40 items with 2 + 2 of 4 + 8 names, the 4 vary three times as much", (4, 8), 40, 1,
          name=(0.3, 0.1), per_item=2, wanted=_UNLIKE),
    Study("200 items with 1 + 1 of 10 + 10 names", (10, 10), 200, 1, per_item=1),
    Study("60 items with 2 + 2 of 6 + 6 names, difference -.2", (6, 6), 60, 1, per_item=2,
          delta=-0.2, wanted=_COVERED),
    Study("6 + 6 names, 5 texts of 8 items each, groups differ by text (SD .3)", (6, 6), 40, 1,
          group_item=0.3, families=5),
)  # fmt: skip
"""The designs; power is that of the design document, where it is known."""


def add_chunk(place: int, record: Record) -> None:
    """Count how often each thing happened in the next studies."""
    study, chunk = STUDY_DESIGNS[place], record["studies"] // _CHUNK
    rng = np.random.default_rng([2026, place, chunk])
    for _ in range(_CHUNK):
        for what, true in happened(study, rng):
            record["counts"][what] = record["counts"].get(what, 0) + int(true)
    record["studies"] += _CHUNK


if __name__ == "__main__":
    uncounted: list[Record] = [
        {"setting": each.setting, "studies": 0, "counts": {}, "wanted": each.wanted}
        for each in STUDY_DESIGNS
    ]
    count_chunks(__doc__, "coverage_of_swapped_names.json", uncounted, "studies", add_chunk)
