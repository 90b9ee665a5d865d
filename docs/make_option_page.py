"""The page of options, made from their table.

::

    python docs/make_option_page.py docs/options.md
"""

from __future__ import annotations

import sys
from pathlib import Path

from fairgauge.question.option_docs import page

if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
