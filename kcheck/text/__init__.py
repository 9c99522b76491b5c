"""File text, positions in it and edits of it."""
