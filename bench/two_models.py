"""Count what two models decide: ``python -m bench.two_models adult.csv hmda.csv``.

A logistic regression and gradient boosting are trained on one half of a table and decide the other.
``docs/adult-models.csv`` and ``docs/hmda-models.csv`` hold the counts of their decisions, for the
page "Choosing between models"; of the tables themselves nothing else is kept.

The tables are those of B. Becker and R. Kohavi, "Adult", UCI Machine Learning Repository, 1996 (CC
BY 4.0), both parts together with their usual names of columns; and of A. H. Munnell et al.,
"Mortgage Lending in Boston: Interpreting HMDA Data", American Economic Review 86 (1996), 25-53, as
``HMDA`` of the R package AER. Neither model knows the groups that are compared.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

DOCS = Path(__file__).parent.parent / "docs"
SEED = 0


@dataclass(frozen=True)
class Task:
    """What is predicted: the label and its favourable value, the groups, and what to leave out.

    ``label`` is the name of the counted label, 1 where ``column`` is ``favourable``.
    """

    column: str
    favourable: str
    label: str
    groups: tuple[str, ...]
    unused: tuple[str, ...] = ()


ADULT = Task("income", ">50K", "high_income", ("sex", "race"), ("fnlwgt", "split"))
HMDA = Task("deny", "no", "approved", ("afam",))


def decisions(table: pd.DataFrame, task: Task) -> pd.DataFrame:
    """Return groups, label and both models' decisions, in the half that trains neither."""
    text = table.select_dtypes(exclude="number").columns
    known = table.fillna(dict.fromkeys(text, "?"))
    features = known.drop(columns=[task.column, *task.groups, *task.unused])
    label = (known[task.column] == task.favourable).astype(int)
    train, test = train_test_split(known.index, test_size=0.5, random_state=SEED, stratify=label)
    words = [name for name in features if name in text]
    decided = known.loc[test, list(task.groups)].assign(**{task.label: label[test]})
    for name, model in models(words).items():
        model.fit(features.loc[train], label[train])
        decided[name] = model.predict(features.loc[test])
    return decided


def models(words: list[str]) -> dict[str, Pipeline]:
    """Return both models, untrained; ``words`` are the columns of text."""
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    scaled = ColumnTransformer([("words", encoder, words)], remainder=StandardScaler())
    plain = ColumnTransformer([("words", encoder, words)], remainder="passthrough")
    return {
        "logistic": make_pipeline(scaled, LogisticRegression(max_iter=2_000)),
        "boosted": make_pipeline(plain, HistGradientBoostingClassifier(random_state=SEED)),
    }


def main() -> None:
    """Write the counts of both tables."""
    for path, task, name in zip(sys.argv[1:], (ADULT, HMDA), ("adult", "hmda"), strict=True):
        decided = decisions(pd.read_csv(path), task)
        counts = decided.groupby(list(decided)).size().rename("n").reset_index()
        counts.to_csv(DOCS / f"{name}-models.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
