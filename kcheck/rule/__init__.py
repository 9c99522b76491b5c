"""The rule model: declaring rules, collecting them from packages and reading their pages."""
