"""Vertex AI's bias components, run on local files."""
