"""Run by the SageMaker SDK's interpreter: its own readers on files, what they find as JSON."""

import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

from sagemaker.model_card import EvaluationJob, EvaluationMetricTypeEnum
from sagemaker.model_monitor import Constraints, ConstraintViolations


def model_card(path):
    """Return the groups of metrics that a model card takes from an ``analysis.json``."""
    job = EvaluationJob(name="bias")
    job.add_metric_group_from_json(str(path), EvaluationMetricTypeEnum.CLARIFY_BIAS)
    return [
        [group.name, [[metric.name, metric.value] for metric in group.metric_data]]
        for group in job.metric_groups
    ]


def monitoring(path, reader):
    """Return the content of a file as the monitor's class for it reads it from a bucket."""
    session = MagicMock()
    session.read_s3_file.return_value = Path(path).read_text(encoding="utf-8")
    downloaded = MagicMock()
    downloaded.S3Downloader.read_file.return_value = Path(path).read_text(encoding="utf-8")
    import sagemaker.model_monitor.monitoring_files as files

    files.s3 = downloaded
    return reader.from_s3_uri(f"s3://bucket/{Path(path).name}", sagemaker_session=session).body_dict


found = {}
for path in sys.argv[1:]:
    if path.endswith("constraint_violations.json"):
        found[path] = monitoring(path, ConstraintViolations)
    else:
        found[path] = {"card": model_card(path), "constraints": monitoring(path, Constraints)}
print(json.dumps(found))
