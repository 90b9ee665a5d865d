"""``python -m fairgauge``: the command line, also where its script is not on the path."""

from fairgauge.cli import main

if __name__ == "__main__":
    main()
