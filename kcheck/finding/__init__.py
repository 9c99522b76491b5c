"""Problems (yielded by rules) and findings (reported to the user)."""
