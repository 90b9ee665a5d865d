"""smclarify: the post-training report of every group."""

import sys

from smclarify.bias import report as sr
from timing import people, report

frame = people(sys.argv[1])
frame["label"], frame["prediction"] = frame["label"].astype(str), frame["prediction"].astype(str)


def work():
    return sr.bias_report(
        frame,
        sr.FacetColumn("race"),
        sr.LabelColumn("label", frame["label"], ["1"]),
        sr.StageType.POST_TRAINING,
        sr.LabelColumn("prediction", frame["prediction"], ["1"]),
        metrics=["AD", "DAR", "DCA", "DCR", "DI", "DPPL", "DRR", "RD", "TE"],
    )


def differences(found):
    return {
        each["value_or_threshold"]: -metric["value"]
        for each in found
        for metric in each["metrics"]
        if metric["name"] == "DPPL"
    }


report(work, differences)
