"""The config file: parses `.kcheck.yaml` into a frozen Config and reports errors with their position."""
