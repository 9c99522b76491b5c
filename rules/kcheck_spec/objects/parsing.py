"""Rules about files, documents and kinds. The engine reports them (kcheck/check/document.py); this module declares them."""

from kcheck.api import INFO, WARNING, Option, declare

yaml_syntax = declare(
    "invalid-yaml",
    "YAML syntax error",
)
duplicate_key = declare(
    "duplicate-key",
    "Duplicate key in a YAML map",
)
no_object = declare("not-kubernetes-object", "Document is not a Kubernetes object (apiVersion or kind is missing)")
unreadable_file = declare("unreadable-file", "File cannot be read and was not checked")
internal_error = declare("internal-error", "A rule failed with an internal error")
unknown_kind = declare("unknown-kind", "Unknown kind or apiVersion")
removed_api = declare(
    "removed-api",
    "API version was removed from Kubernetes",
)
deprecated_api = declare(
    "deprecated-api",
    "API version is deprecated (apiVersion has a successor or will be removed)",
    severity=WARNING,
    groups=("upgrades", "deprecated"),
)
no_schema = declare(
    "missing-schema",
    "Custom resource is not validated because its schema (CRD) is missing",
    severity=INFO,
    options=[Option("ignore_groups", tuple, (), "API groups that need no schema; *.acme.dev means all below acme.dev")],
)
