"""What the API server says of custom resources. The judge of a CRD's kind finds these; here are their names."""

from kcheck.api import WARNING, declare

crd_value = declare(
    "crd-value",
    "a value that the CRD or schema of its kind does not allow",
)
crd_rule = declare("crd-rule", "a custom resource that breaks a rule of its CRD")
list_duplicates = declare("list-duplicates", "the same item twice in a list whose items must differ")
unchecked_rules = declare("unchecked-rules", "rules of a CRD that could not be checked because of other faults")
deprecated_version = declare("deprecated-version", "a version of a custom resource that its CRD calls deprecated", severity=WARNING)
