"""Run by the SageMaker SDK's interpreter: its own readers on files, what they find as JSON."""

import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

from sagemaker.core.model_monitor import Constraints, ConstraintViolations


def monitoring(path, reader):
    """Return the content of a file as the monitor's class for it reads it from a bucket."""
    session = MagicMock()
    session.read_s3_file.return_value = Path(path).read_text(encoding="utf-8")
    downloaded = MagicMock()
    downloaded.S3Downloader.read_file.return_value = Path(path).read_text(encoding="utf-8")
    import sagemaker.core.model_monitor.monitoring_files as files

    files.s3 = downloaded
    return reader.from_s3_uri(f"s3://bucket/{Path(path).name}", sagemaker_session=session).body_dict


found = {}
for path in sys.argv[1:]:
    violations = path.endswith("constraint_violations.json")
    found[path] = monitoring(path, ConstraintViolations if violations else Constraints)
print(json.dumps(found))
