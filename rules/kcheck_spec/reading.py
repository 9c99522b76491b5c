"""What goes wrong before an object is an object. The engine finds these; here are their names."""

from kcheck.api import INFO, WARNING, Option, declare

yaml_syntax = declare(
    "yaml-syntax",
    "text that no YAML reader accepts",
)
duplicate_key = declare(
    "duplicate-key",
    "the same key twice in one map",
)
no_object = declare("no-object", "a document that does not say what object it is")
unreadable_file = declare("unreadable-file", "a file that could not be read and so was not checked")
internal_error = declare("internal-error", "a rule that failed on an object")
unknown_kind = declare("unknown-kind", "a kind or version that Kubernetes does not serve")
removed_api = declare(
    "removed-api",
    "an API version that Kubernetes has removed",
)
deprecated_api = declare(
    "deprecated-api",
    "an API version that a better one has followed",
    severity=WARNING,
    groups=("versions", "deprecated"),
)
no_schema = declare(
    "no-schema",
    "a custom resource whose definition nobody gave",
    severity=INFO,
    options=[Option("ignore_groups", tuple, (), "API groups that may go unchecked; *.acme.dev means all below acme.dev")],
)
