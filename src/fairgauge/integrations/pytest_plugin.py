"""The pytest plugin: a test that fails because rules are not met shows them, and no traceback.

They come from `Report.check`, wherever it is called.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the rules in place of the traceback."""
    report = yield
    if call.excinfo is None or "fairgauge.results.verdicts" not in sys.modules:
        return report  # the plugin costs nothing where fairgauge is not used
    from fairgauge.results.verdicts import RulesNotMet

    error = call.excinfo.value
    if isinstance(error, RulesNotMet):
        path, line, _ = item.location
        report.longrepr = f"{error}\n\n{path}:{(line or 0) + 1}: {type(error).__name__}"
    return report
