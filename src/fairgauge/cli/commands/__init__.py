"""A file for every command, which is imported when the command is given.

Each holds a click command named ``command``, and is named in `fairgauge.cli._command_group`.
"""
