"""What the API server says of custom resources. The judge of a CRD's kind finds these; here are their names."""

from kcheck.api import WARNING, topic

crd_value = topic(
    "crd-value",
    "a value that the CRD or schema of its kind does not allow",
    like=["kubeconform/schema", "kubectl-validate/schema", "flux-schema/schema", "monokle/K8S001"],
)
crd_rule = topic(
    "crd-rule", "a custom resource that breaks a rule of its CRD", like=["flux-schema/schema", "kubectl-validate/schema"]
)
list_duplicates = topic(
    "list-duplicates", "the same item twice in a list whose items must differ", like=["flux-schema/schema", "kubectl-validate/schema"]
)
unchecked_rules = topic("unchecked-rules", "rules of a CRD that could not be checked because of other faults")
deprecated_version = topic("deprecated-version", "a version of a custom resource that its CRD calls deprecated", severity=WARNING)
