"""Known findings: the baseline file, and the comparison of two lists of findings. Pure functions, independent of the command line."""
