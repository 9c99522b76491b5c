"""What goes wrong with comments and annotations that ignore findings. The engine finds these; here are their names."""

from kcheck.api import WARNING, topic

unused_ignore = topic("unused-ignore", "an ignore that covers nothing", severity=WARNING, family="practice")
unknown_ignore = topic("unknown-ignore", "an ignore that is misspelt or names no rule", severity=WARNING, family="practice")
