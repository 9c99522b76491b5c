"""Objects as the API server holds them after decoding, defaulting and creation (docs/defaults.md)."""
