"""Results as statements: who is compared with whom, in what, by how much; no text."""
