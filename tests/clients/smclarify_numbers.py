"""Run by smclarify's interpreter: its reports of jobs read from standard input, as JSON."""

import json
import logging
import sys
import warnings

import pandas as pd
from smclarify.bias.report import FacetColumn, LabelColumn, StageType, bias_report

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")


def report(job, stage):
    frame = pd.read_csv(job["table"])[job["columns"]]
    label = LabelColumn("label", frame[job["label"]], job["positive"])
    label.name = job["label"]
    arguments = [frame, FacetColumn(job["facet"], job["values"]), label]
    group = None if job["group"] is None else frame[job["group"]]
    if stage == "pre":
        return bias_report(*arguments, StageType.PRE_TRAINING, group_variable=group)
    predicted = LabelColumn(job["predicted"], frame[job["predicted"]], job["positive"])
    return bias_report(*arguments, StageType.POST_TRAINING, predicted, group_variable=group)


def outcome(job):
    """Return a report, or the error that ends a job."""
    try:
        return report(job, job["stage"])
    except ValueError as error:
        return {"raised": str(error)}


json.dump([outcome(job) for job in json.load(sys.stdin)], sys.stdout)
