"""SageMaker Clarify's bias jobs, run on local files: configurations in, ``analysis.json`` out."""
