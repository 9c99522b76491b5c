"""The pipeline from the paths of the command line to a report."""
