"""Writers: one module for each format."""
