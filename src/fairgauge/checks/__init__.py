"""Doubts: what in the counts looks like a mistake. No number depends on them."""
