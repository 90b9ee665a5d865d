"""Metrics of single rows, and what shows that rows are copies."""
