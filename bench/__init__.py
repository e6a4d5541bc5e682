"""`make bench`: what a commit costs on this machine, in ratios to things everybody knows. Asserts nothing."""
