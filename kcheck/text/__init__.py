"""What a file is: its text, places in it, and edits of it."""
