"""Two samples: the interval of a contrast, of independent samples or of two models' same rows."""
