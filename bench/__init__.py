"""How fast fairgauge is: beside a bare scan of the same columns, and beside its peers."""
