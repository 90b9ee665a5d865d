"""Crossed designs: the terms of the variance against closed forms, brute force and scipy."""

import numpy as np
import pytest
from scipy import stats

from fairgauge.stats.crossed_designs import (
    crossed_difference,
    half_width,
    name_effects,
    two_sided_p,
)


def complete(seed, names=(3, 4), items=6):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(items, sum(names)))
    item, name = (axis.ravel() for axis in np.indices(y.shape))
    return item, name, name < names[0], y


@pytest.mark.parametrize("seed", range(5))
def test_the_terms_of_complete_designs_are_those_of_means(seed):
    item, name, in_group, y = complete(seed)
    found = crossed_difference(item, name, in_group, y.ravel(), np.ones(y.size))
    group, reference = y[:, :3], y[:, 3:]
    means = group.mean(0), reference.mean(0)
    assert found.value == pytest.approx(means[0].mean() - means[1].mean(), abs=1e-14)
    by_names = means[0].var(ddof=1) / 3 + means[1].var(ddof=1) / 4
    assert found.names.value == pytest.approx(by_names, rel=1e-12)
    welch = stats.ttest_ind(*means, equal_var=False)
    alike = (1 / 3 + 1 / 4) ** 2 / (1 / 9 / 2 + 1 / 16 / 3)
    df = min(welch.df, alike)
    assert found.names.degrees_of_freedom == pytest.approx(df, rel=1e-12)
    p_value = 2 * stats.t.sf(abs(welch.statistic), df)
    assert two_sided_p(found.value, found.names) == pytest.approx(p_value, rel=1e-12)
    differences = group.mean(1) - reference.mean(1)
    paired = stats.ttest_1samp(differences, 0)
    assert found.items.value == pytest.approx(differences.var(ddof=1) / 6, rel=1e-12)
    assert two_sided_p(found.value, found.items) == pytest.approx(paired.pvalue, rel=1e-12)
    low, high = paired.confidence_interval(0.9)
    assert half_width(found.items, 0.9) == pytest.approx((high - low) / 2, rel=1e-12)
    residual = 0.0
    for side in (group, reference):
        both = side - side.mean(0) - side.mean(1, keepdims=True) + side.mean()
        n = side.shape[1]
        residual += (both**2).sum() / (5 * (n - 1)) / (n * 6)
    assert found.residual.value == pytest.approx(residual, rel=1e-12)
    assert found.of_names == pytest.approx(1 / 3 + 1 / 4)


def test_incomplete_designs_are_least_squares_with_effects_of_items():
    rng = np.random.default_rng(3)
    item, name, in_group, y = complete(1, names=(5, 6), items=12)
    kept = rng.random(y.size) < 0.5
    item, name, in_group, y = item[kept], name[kept], in_group[kept], y.ravel()[kept]
    answers = rng.integers(1, 4, len(y)).astype(float)
    both = [i for i in range(12) if len(set(in_group[item == i])) == 2]
    kept = np.isin(item, both)
    item, name, in_group = np.unique(item[kept], return_inverse=True)[1], name[kept], in_group[kept]
    name = np.unique(name, return_inverse=True)[1]
    y, answers = y[kept], answers[kept]
    design = np.column_stack([in_group, np.eye(item.max() + 1)[item]])
    root = np.sqrt(answers)
    fit = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    found = crossed_difference(item, name, in_group, y, answers)
    assert found.value == pytest.approx(fit[0], abs=1e-12)
    bread = np.linalg.pinv((design * answers[:, None]).T @ design)
    scores = design * (answers * (y - design @ fit))[:, None]

    def clustered(codes, only):
        sums = np.array([scores[(codes == c)].sum(0) for c in np.unique(codes[only])])
        n = len(sums)
        return n / (n - 1) * (bread @ sums.T @ sums @ bread)[0, 0]

    cells = np.ones(len(y), dtype=bool)
    assert found.items.value == pytest.approx(clustered(item, cells), rel=1e-10)
    clusters = clustered(name, in_group) + clustered(name, ~in_group)
    # effects of names beside items, less what cells add to them but not to the difference
    design = np.column_stack([np.eye(name.max() + 1)[name], np.eye(item.max() + 1)[item]])
    inverse = np.linalg.pinv((design * answers[:, None]).T @ design)
    effects = inverse @ design.T @ (answers * y)
    residuals = y - design @ effects
    mean_square = answers @ residuals**2 / (len(y) - np.linalg.matrix_rank(design))
    centred = in_group - np.array([np.average(in_group[item == i], weights=answers[item == i])
                                   for i in range(item.max() + 1)])[item]  # fmt: skip
    scale = answers @ centred**2
    factor = np.bincount(name, answers * centred) / scale
    names = mean_square / scale
    for side in (np.unique(name[in_group]), np.unique(name[~in_group])):
        n, share = len(side), np.abs(factor[side]) / np.abs(factor[side]).sum()
        contrast = np.diag(factor[side]) @ (np.eye(n) - np.outer(np.ones(n), share))
        own = contrast @ effects[side]
        of_cells = np.trace(contrast @ inverse[np.ix_(side, side)] @ contrast.T)
        names += n / (n - 1) * (own @ own - mean_square * of_cells)
    assert found.names.value == pytest.approx(max(names, clusters), rel=1e-9)
    assert found.names.value > clusters


def test_effects_of_names_are_those_of_two_way_least_squares():
    item, name, _, y = complete(2)
    assert name_effects(item, name, y.ravel()) == pytest.approx(y.mean(0) - y.mean(), abs=1e-12)
    kept = np.random.default_rng(0).random(y.size) < 0.7
    item, name, y = item[kept], name[kept], y.ravel()[kept]
    design = np.column_stack([np.eye(7)[name], np.eye(6)[item]])
    fit = np.linalg.lstsq(design, y, rcond=None)[0][:7]
    assert name_effects(item, name, y) == pytest.approx(fit - fit.mean(), abs=1e-10)
