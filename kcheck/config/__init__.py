"""The config file: `.kcheck.yaml` to a frozen Config, mistakes with their place."""
