"""What goes wrong with comments and annotations that ignore findings. The engine finds these; here are their names."""

from kcheck.api import WARNING, declare

unused_ignore = declare("unused-ignore", "Ignore comment or annotation suppresses no finding", severity=WARNING, family="practice")
unknown_ignore = declare(
    "unknown-ignore", "Ignore comment or annotation is misspelled or names an unknown rule", severity=WARNING, family="practice"
)
