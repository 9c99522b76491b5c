"""The objects of an input and what lies between them, drawn."""
