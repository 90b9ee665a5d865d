"""What a specification means in the counts: groups, references, positive outcomes and strata."""
