"""What goes wrong before an object is an object. The engine finds these; here are their names."""

from kcheck.api import INFO, Option, topic

yaml_syntax = topic("yaml-syntax", "text that no YAML reader accepts")
duplicate_key = topic("duplicate-key", "the same key twice in one map")
no_object = topic("no-object", "a document that does not say what object it is")
unreadable_file = topic("unreadable-file", "a file that could not be read and so was not checked")
internal_error = topic("internal-error", "a rule that failed on an object")
unknown_kind = topic("unknown-kind", "a kind or version that Kubernetes does not serve")
removed_api = topic("removed-api", "an API version that Kubernetes has removed")
no_schema = topic(
    "no-schema",
    "a custom resource whose definition nobody gave",
    severity=INFO,
    options=[Option("ignore_groups", tuple, (), "API groups that may go unchecked; *.acme.dev means all below acme.dev")],
)
