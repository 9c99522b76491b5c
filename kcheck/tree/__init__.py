"""YAML with places: every key and value knows its characters."""
