"""Answers under swapped names that are missing, and how far they reach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fairgauge.resolve.answers import Answers
from fairgauge.results.name_swaps import AnsweredShare
from fairgauge.stats.arrays import Array, Index
from fairgauge.stats.multiplicity import holm
from fairgauge.stats.significance import fisher

Compared: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The groups of both sides of a comparison."""
_MOSTLY_CROSSED = 0.5
"""Share of items that are asked under a name from which on those that are not are missing."""
_USUAL = 0.9
"""The quantile of rows of a cell that all cells of a group should have: a few may be repeated."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The answers of a model that were to be given by item and variant.

    Attributes
    ----------
    group : of every cell.
    asked, rows, answered : how many were to be given, have a row, and were given.
    """

    group: Index
    asked: Array
    rows: Array
    answered: Array

    def missing(self, groups: Sequence[int]) -> tuple[float, int]:
        """Return of how many cells the answers are missing, parts of cells added up, of how many.

        Answers of one cell are not independent, so that cells are compared and not answers.
        """
        own = np.isin(self.group, groups) & (self.asked > 0)
        share = 1 - np.minimum(self.answered[own] / self.asked[own], 1)
        return float(share.sum()), int(own.sum())


def _asked(answers: Answers, model: int) -> _Asked:
    """Return what was to be answered: where most items have most names, each under every name."""
    mask = answers.model == model
    named = np.isin(answers.group_of[answers.variant], answers.named)
    items, variants = np.unique(answers.item[mask & named]), np.unique(answers.variant[mask])
    mask &= np.isin(answers.item, items)
    codes = (items, answers.item), (variants, answers.variant)
    at = tuple(np.searchsorted(distinct, code[mask]) for distinct, code in codes)
    rows, answered = np.zeros((2, len(items), len(variants)))
    rows[at] = answers.n[mask] + answers.missing[mask]
    answered[at] = answers.n[mask]
    group, asked = answers.group_of[variants], rows.copy()
    by_group = {g: rows[:, group == g] for g in np.unique(group).tolist()}
    there = [float((by_group[g] > 0).mean()) for g in answers.named if g in by_group]
    if max(there, default=0.0) >= _MOSTLY_CROSSED:
        for g, own in by_group.items():
            usual = np.quantile(own[own > 0], _USUAL, method="lower")
            asked[:, group == g] = np.maximum(own, usual)
    cells = np.broadcast_to(group, rows.shape)
    return _Asked(cells.ravel(), asked.ravel(), rows.ravel(), answered.ravel())


def answered_shares(answers: Answers) -> Iterator[AnsweredShare]:
    """Yield how many answers the names of every group have in every model."""
    for code, model in enumerate(answers.models):
        asked = _asked(answers, code)
        for g, name in enumerate(answers.groups):
            own = asked.group == g
            if own.any():
                rows = asked.rows[own].sum()
                yield AnsweredShare(
                    model=model, group=name, n=int(rows), answered=int(asked.answered[own].sum()),
                    absent=int(asked.asked[own].sum() - rows),
                )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LackingAnswers:
    """What is not known of the answers of a model under names of two sides.

    Attributes
    ----------
    p : of answers missing equally often, adjusted for all models and comparisons (Holm); None where
        none is missing.
    excess : the difference of the shares that are missing.
    """

    p: float | None
    excess: float


def doubts(
    answers: Answers, sides: Sequence[Compared]
) -> dict[tuple[int, Compared], LackingAnswers]:
    """Return what is not known of the answers, by model and sides."""
    found: dict[tuple[int, Compared], float] = {}
    p_values: dict[tuple[int, frozenset[tuple[int, ...]]], float] = {}
    for model in np.unique(answers.model).tolist():
        asked = _asked(answers, model)
        for each in sides:
            (lost, of), (other, among) = map(asked.missing, each)
            if of and among:
                found[model, each] = abs(lost / of - other / among)
                if lost + other:  # two comparisons that mirror each other are one
                    p = float(fisher(int(lost), of, int(other), among))
                    p_values[model, frozenset(each)] = p
    adjusted = holm([*p_values.values()]).tolist() if p_values else []
    p_of = dict(zip(p_values, adjusted, strict=True))
    return {
        (model, each): LackingAnswers(p_of.get((model, frozenset(each))), excess)
        for (model, each), excess in found.items()
    }
