"""The rules of CRDs (x-kubernetes-validations) asked of custom resources."""

from __future__ import annotations

from typing import Any

from kcheck.finding.problem import Problem
from kcheck.kube.resource import Resource
from kcheck.schema.walk import Walk


class CustomRules:
    """Compiles the rules of each schema once, and tells what an object violates. CEL is loaded when the first object needs it."""

    def __init__(self, minor: int) -> None:
        self.minor = minor

    def evaluate(self, schema: Any, value: dict[str, Any], resource: Resource, walk: Walk) -> None:
        """Tell the violations of a defaulted object that its schema accepts but for the rules. See `kcheck.schema.store.Rules`."""
        rules = self._rules(schema)
        if rules is None:
            return
        for found in rules.evaluate(value):
            node = resource.node.at(*found.path)
            message = " ".join(found.message.split())
            walk.tell("crd-rule-violation", Problem(node, message, reason=found.reason, field=found.field))

    def _rules(self, schema: Any) -> Any:
        from kcheck.cel.kubernetes.rule_evaluation import find_rules
        from kcheck.cel.kubernetes.rule_validation import refused_rules

        # Kept where it goes with the schema, when there is no room for its definition any more.
        if not schema.rules:
            raw = schema.node.shared()
            schema.rules = (find_rules(raw, self.minor, refused=refused_rules(raw, self.minor)),)
        return schema.rules[0]
