"""Run by the SageMaker SDK's interpreter: a page's examples, checked against the service's API."""

import json
import re
import sys
from pathlib import Path

import boto3
from botocore.stub import ANY, Stubber

text = Path(sys.argv[1]).read_text(encoding="utf-8")
blocks = dict(re.findall(r'^```python title="([^"]+)"\n(.*?)^```$', text, re.M | re.S))
found = {}

pipeline = {}
exec(compile(blocks["pipeline.py"], "pipeline.py", "exec"), pipeline)
(step,) = json.loads(pipeline["pipeline"].definition())["Steps"]
found["step"] = step["Arguments"]

client = boto3.client("sagemaker", region_name="eu-central-1")
sent = []
client.meta.events.register(
    "before-parameter-build.sagemaker.CreateProcessingJob",
    lambda params, **_: sent.append(dict(params)),
)
schedule = {}
exec(compile(blocks["schedule.py"], "schedule.py", "exec"), schedule)
schedule["boto3"].client = lambda name: client
with Stubber(client) as stub:
    arn = {"ProcessingJobArn": "arn:aws:sagemaker:eu-central-1:123456789012:processing-job/bias"}
    names = (
        "ProcessingJobName RoleArn AppSpecification ProcessingResources Environment "
        "ProcessingInputs ProcessingOutputConfig"
    )
    stub.add_response("create_processing_job", arn, dict.fromkeys(names.split(), ANY))
    schedule["handler"]({"time": "2026-11-20T06:00:00Z"}, None)
found["job"] = sent[0]
print(json.dumps(found))
