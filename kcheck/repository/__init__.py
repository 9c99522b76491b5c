"""What the files of a repository are: their roles, and which rules apply to them."""
