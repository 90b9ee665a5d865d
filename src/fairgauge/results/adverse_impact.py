"""AdverseImpact: the selections of a group beside those to expect at equal rates."""

from __future__ import annotations

from dataclasses import dataclass

from fairgauge.results.codec import Finite, Share


@dataclass(frozen=True, slots=True, kw_only=True)
class AdverseImpact:
    """The selections of a group beside those to expect if group and reference had equal rates.

    Attributes
    ----------
    feature, group, reference : of whom, against whom.
    tables : how many tables were tested together: one, or one for each stratum.
    n, n_reference, selected, selected_reference : applicants and selections of both sides, in the
        strata that both are in.
    expected, shortfall : the selections of the group to expect, and how many fewer there are; below
        zero there are more.
    standard_deviations : the shortfall in standard deviations (Mantel-Haenszel, uncorrected); None
        where no other number of selections is possible.
    p : of the exact two-sided test, conditional on the selections of both sides; None where too
        many are possible.
    ratio, ratio_of_one_other : the ratio of the selection rates; that if one other person of the
        group had been selected in place of one of the reference; None where none is.
    """

    feature: str
    group: str
    reference: str
    tables: int
    n: int
    n_reference: int
    selected: int
    selected_reference: int
    expected: Finite
    shortfall: Finite
    standard_deviations: Finite | None
    p: Share | None
    ratio: Finite | None
    ratio_of_one_other: Finite | None
