"""aif360: a ClassificationMetric for every group against all others."""

import sys
import warnings

warnings.filterwarnings("ignore")

from aif360.datasets import BinaryLabelDataset  # noqa: E402
from aif360.metrics import ClassificationMetric  # noqa: E402
from timing import people, report  # noqa: E402

frame = people(sys.argv[1])


def of_group(race):
    rows = frame[["label", "prediction"]].assign(group=(frame["race"] == race).astype(float))
    names = {"label_names": ["label"], "protected_attribute_names": ["group"]}
    labels = BinaryLabelDataset(df=rows[["label", "group"]], **names)
    predicted = labels.copy()
    predicted.labels = rows[["prediction"]].to_numpy(dtype=float)
    metric = ClassificationMetric(
        labels, predicted, unprivileged_groups=[{"group": 1.0}], privileged_groups=[{"group": 0.0}]
    )
    return [
        metric.disparate_impact(),
        metric.statistical_parity_difference(),
        metric.equal_opportunity_difference(),
        metric.average_odds_difference(),
        metric.error_rate_difference(),
        metric.false_positive_rate_difference(),
        metric.false_discovery_rate_difference(),
        metric.false_omission_rate_difference(),
        metric.accuracy(privileged=True),
        metric.accuracy(privileged=False),
        metric.generalized_entropy_index(),
    ]


report(
    lambda: {race: of_group(race) for race in frame["race"].unique()},
    lambda found: {race: values[1] for race, values in found.items()},
)
