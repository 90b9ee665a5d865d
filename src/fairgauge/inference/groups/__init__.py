"""All groups of a feature: extremes and dispersion over groups, pairs, families of tests."""
