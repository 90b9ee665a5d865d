"""What is needed before any library is imported: first help, plug-ins there are, dataclasses."""

__version__ = "0.1.0"
