"""A run from options and a config: used by the command line and by Python programs."""
