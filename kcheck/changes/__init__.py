"""Older versions of objects: where they come from, how they are matched with the new ones, and what an apply makes of both."""
