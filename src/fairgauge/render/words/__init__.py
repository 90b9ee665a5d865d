"""Words: names, numbers and sentences of a report."""
