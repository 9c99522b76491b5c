"""Rules about ignore comments and annotations. The engine reports them (kcheck/check/suppressions.py); this module declares them."""

from kcheck.api import WARNING, declare

unused_ignore = declare("unused-ignore", "Ignore comment or annotation suppresses no finding", severity=WARNING, family="practice")
unknown_ignore = declare(
    "unknown-ignore", "Ignore comment or annotation is misspelled or names an unknown rule", severity=WARNING, family="practice"
)
