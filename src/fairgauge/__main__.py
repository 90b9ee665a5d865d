"""The command ``fairgauge``, and ``python -m fairgauge``."""

import sys

from fairgauge.start.first_help import first_help


def main() -> None:
    """Run a command; the help of all needs no click, whose import takes most of its time."""
    if sys.argv[1:] in (["--help"], ["-h"]) and sys.stdout:
        try:
            sys.stdout.write(first_help())
            sys.stdout.flush()
        except OSError:  # a closed pipe or a full disk, which the commands explain
            pass
        else:
            return
    from fairgauge.cli import main as command

    command()


if __name__ == "__main__":
    main()
