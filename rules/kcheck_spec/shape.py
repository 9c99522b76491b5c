"""What the decoder says of an object's fields. The walk finds these; here are their names."""

from kcheck.api import topic

# Tools that hold objects against a schema do so in one step, and have no ids for what it finds.
_SCHEMA = (
    "kubeconform/schema", "kubectl-validate/schema", "flux-schema/schema", "kubernetes-validate/schema",
    "kube-linter/schema-validation", "monokle/K8S001", "kubesec/schema",
)  # fmt: skip

unknown_field = topic("unknown-field", "a field that the type does not have", like=_SCHEMA)
wrong_type = topic("wrong-type", "a value of another type than the field's", like=_SCHEMA)
required_field = topic("required-field", "a field that must be there and is not", like=_SCHEMA)
unsupported_value = topic("unsupported-value", "a word that is not among the field's values", like=["kubepolicy/BP001"])
quantity = topic("quantity", "a quantity that Kubernetes cannot read")
base64 = topic("base64", "data that is not base64", like=["kubectl-validate/schema"])
