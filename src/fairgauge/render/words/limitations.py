"""What no report can show."""

from __future__ import annotations

CAVEAT = "A disparity is a measured fact; whether it is unfair depends on its context."
"""What one screen has of the limits."""
LIMITS = (
    (
        "It does not state that a model is fair or unfair. Disparities are measured facts; "
        "whether one is acceptable depends on context, law and causes that the table does not "
        "hold."
    ),
    (
        "Demographic parity, equalized odds, predictive parity and calibration cannot in "
        "general hold together when base rates differ. Which of them matters is a value "
        "judgement, not a question of statistics."
    ),
    (
        "It compares and does not explain: a disparity can come from the model, the data, the "
        "world that the data describe, or sampling variation."
    ),
    (
        "Labels are taken as they are. Where labels are biased (arrests for crimes, past "
        "hirings for ability), error rates measured against them are biased too."
    ),
    (
        "Groups are as recorded. People who are missing, misrecorded or never asked are not "
        "seen, and groups below the minimum size carry no verdict."
    ),
    "It describes these rows. Other people, places and times need an audit of their own.",
    "A limit in a rule is a convention that somebody chose. Meeting it is no legal opinion.",
)
"""What no report can show."""
