"""One warning for a call whose answer smclarify gets wrong."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHOWN = 3


class SmclarifyWarning(UserWarning):
    """smclarify's answer, which is returned, is not the right one."""


def warn_once(reasons: Iterable[str], stacklevel: int = 3) -> None:
    """Give one warning that names every reason."""
    unique = list(dict.fromkeys(reasons))
    if not unique:
        return
    more = f"; and {len(unique) - _SHOWN} more" if len(unique) > _SHOWN else ""
    warnings.warn(
        "smclarify's answer is returned, but it is misleading: "
        f"{'; '.join(unique[:_SHOWN])}{more}. fairgauge.audit gives the right one",
        SmclarifyWarning,
        stacklevel=stacklevel + 1,
    )
