"""Choosing metrics: answers to a few questions become a specification, and the rows it needs."""

from __future__ import annotations

from fairgauge.choosing.questions import QUESTIONS, Question, next_question
from fairgauge.choosing.recommendation import Expected, Recommendation, recommend
from fairgauge.choosing.specification_text import specification

__all__ = [
    "QUESTIONS",
    "Expected",
    "Question",
    "Recommendation",
    "next_question",
    "recommend",
    "specification",
]
