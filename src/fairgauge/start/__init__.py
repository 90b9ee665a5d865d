"""What is needed before any library is imported: the first help, and which plug-ins there are."""
