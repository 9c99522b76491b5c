"""Rules about custom resources. The engine reports them (kcheck/schema/crd/custom_resources.py); this module declares them."""

from kcheck.api import WARNING, declare

crd_value = declare(
    "crd-schema-violation",
    "Custom resource value violates the schema of its CRD (pattern, maximum, maxLength)",
)
crd_rule = declare("crd-rule-violation", "Custom resource violates a CEL rule of its CRD (x-kubernetes-validations)")
list_duplicates = declare("duplicate-list-item", "Duplicate item in a list of type set or map (x-kubernetes-list-type)")
unchecked_rules = declare("unevaluated-crd-rules", "CEL rules of a CRD were not evaluated because the object has schema errors")
deprecated_version = declare("deprecated-crd-version", "Custom resource uses a version that its CRD marks as deprecated", severity=WARNING)
