"""Other systems' files and names, in and out, on top of the same line."""
