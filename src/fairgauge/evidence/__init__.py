"""Evidence that others can check without the rows: sealed bundles of counts and reports."""
