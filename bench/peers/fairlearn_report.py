"""fairlearn: a MetricFrame of the rates behind Clarify's metrics, and its differences."""

import sys

from fairlearn import metrics as fm
from sklearn import metrics as sm
from timing import from_rates, people, report

frame = people(sys.argv[1])
metrics = {
    "selection_rate": fm.selection_rate,
    "accuracy": sm.accuracy_score,
    "recall": sm.recall_score,
    "precision": lambda y, p: sm.precision_score(y, p, zero_division=0),
    "true_negative_rate": fm.true_negative_rate,
    "false_positive_rate": fm.false_positive_rate,
    "false_negative_rate": fm.false_negative_rate,
    "count": fm.count,
}


def work():
    found = fm.MetricFrame(
        metrics=metrics,
        y_true=frame["label"],
        y_pred=frame["prediction"],
        sensitive_features=frame["race"],
    )
    return found.by_group, found.difference(method="to_overall"), found.ratio(method="to_overall")


def differences(answer):
    by_group = answer[0]
    return from_rates(by_group["selection_rate"].to_dict(), by_group["count"].to_dict())


report(work, differences)
