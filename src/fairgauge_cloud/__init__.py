"""Configurations of SageMaker Clarify and Vertex AI, run on local files; smclarify's names."""
