"""The command ``fairgauge``, and ``python -m fairgauge``."""

import sys

from fairgauge.start.first_help import complete_command, first_help


def main() -> None:
    """Run a command; the help of all needs no click, whose import takes most of its time."""
    asked = [each for each in sys.argv[1:] if each != "--all"]  # every command is listed already
    text = first_help() if asked in (["--help"], ["-h"]) else complete_command()
    if text and sys.stdout:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except OSError:  # a closed pipe or a full disk, which the commands explain
            pass
        else:
            return
    from fairgauge.cli import main as command

    command()


if __name__ == "__main__":
    main()
