"""From a cube to estimates and verdicts: who is compared, what is positive, what came out."""
