"""Results: estimates, verdicts, diagnostics, the report that holds them, saving and loading."""
