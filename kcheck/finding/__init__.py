"""What a rule yields (Problem) and what the user is told (Finding)."""
