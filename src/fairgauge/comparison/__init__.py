"""Two reports compared: which disparities and verdicts changed."""
