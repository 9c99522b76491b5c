"""What goes wrong before an object is an object. The engine finds these; here are their names."""

from kcheck.api import INFO, WARNING, Option, topic

_UNKNOWN = ("kubeconform/schema", "kubectl-validate/schema", "flux-schema/schema", "kubernetes-validate/schema", "monokle/K8S004")

yaml_syntax = topic(
    "yaml-syntax",
    "text that no YAML reader accepts",
    like=["yamllint/syntax", *(f"monokle/YML{number:03}" for number in range(1, 22) if number != 10)],
)
duplicate_key = topic(
    "duplicate-key",
    "the same key twice in one map",
    like=["kubeconform/strict", "kubectl-validate/schema", "flux-schema/schema", "monokle/YML010", "yamllint/key-duplicates"],
)
no_object = topic("no-object", "a document that does not say what object it is")
unreadable_file = topic("unreadable-file", "a file that could not be read and so was not checked")
internal_error = topic("internal-error", "a rule that failed on an object")
unknown_kind = topic("unknown-kind", "a kind or version that Kubernetes does not serve", like=_UNKNOWN)
removed_api = topic(
    "removed-api",
    "an API version that Kubernetes has removed",
    like=["pluto/removed", "kube-linter/no-extensions-v1beta", "kube-score/stable-version", "monokle/K8S003", "trivy/KSV-0107"],
)
deprecated_api = topic(
    "deprecated-api",
    "an API version that a better one has followed",
    severity=WARNING,
    groups=("versions", "deprecated"),
    like=["pluto/deprecated", "kube-linter/no-extensions-v1beta", "kube-score/stable-version", "popeye/403", "monokle/K8S002",
          "trivy/KSV-0107", "kyverno/check-deprecated-apis"],
)  # fmt: skip
no_schema = topic(
    "no-schema",
    "a custom resource whose definition nobody gave",
    severity=INFO,
    like=_UNKNOWN,
    options=[Option("ignore_groups", tuple, (), "API groups that may go unchecked; *.acme.dev means all below acme.dev")],
)
