"""Documents: what stands in the report of each kind of result, in which order."""
