"""Simulated studies of answers under swapped names, from the model of crossed random effects."""

import numpy as np
import pandas as pd

ASKED = {"item": "item", "variant": "name", "sensitive": "group", "score": "score"}


def study(
    names=(4, 4),
    items=10,
    runs=2,
    *,
    delta=0.0,
    sd_item=1.0,
    sd_name=0.1,
    sd_group_item=0.0,
    sd_cell=0.1,
    sd_run=0.5,
    placebos=0,
    sd_placebo=0.1,
    seed=0,
    groups=("Black", "White"),
):
    """Return a table of answers: a row for each item, name and run."""
    rng = np.random.default_rng(seed)
    counts = [*names, *([placebos] if placebos else [])]
    labels = [*groups, "edit"][: len(counts)]
    group = np.repeat(np.arange(len(counts)), counts)
    spread = np.where(group < len(names), sd_name, sd_placebo)
    effect = rng.normal(0, 1, len(group)) * spread + np.where(group == 0, delta, 0.0)
    of_item = rng.normal(0, sd_item, items)
    of_group = rng.normal(0, sd_group_item, (items, len(counts)))
    cells = (
        of_item[:, None] + effect + of_group[:, group] + rng.normal(0, sd_cell, (items, len(group)))
    )
    answers = cells[:, :, None] + rng.normal(0, sd_run, (items, len(group), runs))
    i, v, r = np.indices(answers.shape)
    return pd.DataFrame(
        {
            "item": [f"cv{k}" for k in i.ravel()],
            "name": [f"{labels[group[k]][0]}{k:02d}" for k in v.ravel()],
            "group": [labels[group[k]] for k in v.ravel()],
            "run": r.ravel(),
            "score": answers.ravel(),
        }
    )
