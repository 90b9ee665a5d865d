"""``python -m bench.retrained_models ADULT.csv OUT.csv``: counts of the decisions of retrainings.

A logistic regression, the model in use, and twenty retrainings of one recipe of boosted trees with
other seeds learn from one half of the census table Adult (UCI), without sex and race; the counts of
their decisions are of the other half.
"""

from __future__ import annotations

import sys

import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

RETRAININGS = 20
_LABEL, _APART = "income", ("sex", "race", "fnlwgt", "split")


def main(source: str, out: str) -> None:
    """Train, decide, count."""
    rows = pl.read_csv(source)
    label = rows[_LABEL].cast(pl.String).str.contains(">50K|^1$").cast(int).to_numpy()
    features = rows.drop(_LABEL, *(c for c in _APART if c in rows.columns)).to_pandas()
    texts = [c for c in features if features[c].dtype == object or str(features[c].dtype) == "str"]
    numbers = [c for c in features if c not in texts]
    place = range(len(label))
    train, test = train_test_split(place, test_size=0.5, random_state=0, stratify=label)
    unknown = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    logistic = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), texts), (StandardScaler(), numbers)
        ),
        LogisticRegression(max_iter=500),
    )
    trees = [
        make_pipeline(
            make_column_transformer((OrdinalEncoder(**unknown), texts), remainder="passthrough"),
            HistGradientBoostingClassifier(max_iter=60, max_features=0.3, random_state=seed),
        )
        for seed in range(RETRAININGS)
    ]
    decided = rows[test].select("sex").with_columns(high_income=pl.Series(label[test]))
    names = [f"seed_{seed + 1:02}" for seed in range(RETRAININGS)]
    for name, model in {"logistic": logistic, **dict(zip(names, trees, strict=True))}.items():
        model.fit(features.iloc[train], label[train])
        found = model.predict(features.iloc[test]).astype(int)
        decided = decided.with_columns(pl.Series(name, found))
        print(name, flush=True)
    names = decided.columns
    decided.group_by(names).len("n").sort(names).write_csv(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
