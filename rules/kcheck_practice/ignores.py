"""What goes wrong with comments and annotations that ignore findings. The engine finds these; here are their names."""

from kcheck.api import WARNING, declare

unused_ignore = declare("unused-ignore", "an ignore that covers nothing", severity=WARNING, family="practice")
unknown_ignore = declare("unknown-ignore", "an ignore that is misspelt or names no rule", severity=WARNING, family="practice")
