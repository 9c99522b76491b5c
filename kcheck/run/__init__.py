"""From paths to a report: what is read, checked, ignored and told."""
