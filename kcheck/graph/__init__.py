"""The graph of objects and their relations, and its output formats."""
