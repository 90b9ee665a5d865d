"""Choosing metrics: answers to a few questions become a specification."""
