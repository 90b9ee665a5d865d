"""The mergeable table of counts: its axes and plan, its levels, and confusion matrices as input."""
