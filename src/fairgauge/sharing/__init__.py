"""What others can check without the rows: sealed bundles, and counts with small cells hidden."""
