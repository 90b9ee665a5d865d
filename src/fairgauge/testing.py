"""Audits in tests: `assert_passes` fails with a line for every rule that is not met."""

from __future__ import annotations

from fairgauge.results.report import Report

__all__ = ["assert_passes"]


def assert_passes(report: Report, *, inconclusive: str = "fail") -> None:
    """Assert that every rule of an audit is met.

    ``report``: Report What `fairgauge.audit` returned, with rules.
    ``inconclusive``: {"fail", "pass"}: whether a rule that cannot be decided, for want of data,
        fails the test, too.

    Raises ``RulesNotMet``: an ``AssertionError`` with a line for each rule and group that is not
        met.

    >>> import fairgauge as fg
    >>> from fairgauge.testing import assert_passes
    >>> cells = {"tp": 450, "fn": 50, "fp": 60, "tn": 440}
    >>> counts = fg.confusion("sex", {"F": cells, "M": cells})
    >>> assert_passes(fg.audit(counts, rules=["true_positive_rate.ratio >= 0.8"]))
    """
    __tracebackhide__ = True  # pytest shows the test that failed, not this function
    report.check(inconclusive=inconclusive)
