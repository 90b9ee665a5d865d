"""What is needed before any library is imported: first help, plug-ins there are, dataclasses."""
