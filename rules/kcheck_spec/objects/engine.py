"""Rules that the engine reports while it reads documents, checks objects against their types, and custom resources against their CRDs.

This module declares them; kcheck/check/document.py, kcheck/schema/walk.py and kcheck/schema/crd/custom_resources.py report them.
"""

from kcheck.api import INFO, WARNING, Option, declare

yaml_syntax = declare(
    "invalid-yaml",
    "YAML syntax error",
)
duplicate_key = declare(
    "duplicate-key",
    "Duplicate key in a YAML map",
    fixable=True,
)
no_object = declare("not-kubernetes-object", "Document is not a Kubernetes object (apiVersion or kind is missing)", fixable=True)
unreadable_file = declare("unreadable-file", "File cannot be read and was not checked")
internal_error = declare("internal-error", "A rule failed with an internal error")
unknown_kind = declare("unknown-kind", "Unknown kind or apiVersion", fixable=True)
removed_api = declare("removed-api", "API version was removed from Kubernetes", groups=("upgrades", "deprecated"), fixable=True)
deprecated_api = declare(
    "deprecated-api",
    "API version is deprecated (apiVersion has a successor or will be removed)",
    severity=WARNING,
    groups=("upgrades", "deprecated"),
    fixable=True,
)
no_schema = declare(
    "missing-schema",
    "Custom resource is not validated because its schema (CRD) is missing",
    severity=INFO,
    default=False,
    options=[Option("ignore_groups", tuple, (), "API groups that need no schema; *.acme.dev means all below acme.dev")],
)


unknown_field = declare("unknown-field", "Unknown field", fixable=True)
wrong_type = declare("wrong-type", "Value has the wrong type", fixable=True)
required_field = declare("missing-required-field", "Required field is missing", fixable=True)
unsupported_value = declare("unsupported-value", "Value is not among the supported values of its field", fixable=True)
quantity = declare("invalid-quantity", "Invalid quantity (such as 256MB instead of 256M or 256Mi)")
base64 = declare("invalid-base64", "Secret data or ConfigMap binaryData is not valid base64", fixable=True)


crd_value = declare(
    "crd-schema-violation",
    "Custom resource value violates the schema of its CRD (pattern, maximum, maxLength)",
)
crd_rule = declare("crd-rule-violation", "Custom resource violates a CEL rule of its CRD (x-kubernetes-validations)")
list_duplicates = declare("duplicate-list-item", "Duplicate item in a list of type set or map (x-kubernetes-list-type)")
unchecked_rules = declare("unevaluated-crd-rules", "CEL rules of a CRD were not evaluated because the object has schema errors")
deprecated_version = declare(
    "deprecated-crd-version",
    "Custom resource uses a version that its CRD marks as deprecated",
    severity=WARNING,
    groups=("upgrades", "deprecated"),
)
