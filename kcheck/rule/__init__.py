"""What a rule is, how rules are collected, and their pages."""
