"""Evaluates the validation rules of CRDs (x-kubernetes-validations) for custom resources."""

from __future__ import annotations

from typing import Any

from kcheck.finding.problem import Problem
from kcheck.kube.resource import Resource
from kcheck.schema.walk import Walk


class CustomRules:
    """Compiles the rules of each schema once and reports violations. CEL is imported when the first object needs it."""

    def __init__(self, minor: int) -> None:
        self.minor = minor

    def evaluate(self, schema: Any, value: dict[str, Any], resource: Resource, walk: Walk, old: dict[str, Any] | None = None) -> None:
        """Report the rule violations of a defaulted object that is otherwise valid. See `kcheck.schema.store.Rules`."""
        rules = self._compiled_rules(schema)
        if rules is None:
            return
        for violation in rules.evaluate(value, old):
            node = resource.node.at(*violation.path)
            message = " ".join(violation.message.split())
            walk.emit("crd-rule-violation", Problem(node, message, reason=violation.reason, field=violation.field))

    def _compiled_rules(self, schema: Any) -> Any:
        from kcheck.cel.kubernetes.rule_evaluation import find_rules, ruled_schemas
        from kcheck.cel.kubernetes.rule_validation import refused_rules

        # Stored on the schema, so that they are released together with its definition.
        if not schema.rules:
            raw = schema.node.shared()
            ruled = ruled_schemas(raw)
            refused = refused_rules(raw, self.minor, ruled)
            schema.rules = (find_rules(raw, self.minor, refused=refused, ruled=ruled),)
        return schema.rules[0]
