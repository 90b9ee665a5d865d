"""The functions that people call: each resolves, counts, measures and decides one question."""
