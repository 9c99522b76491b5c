"""Loads what the check of most files needs, before processes are forked: they share it instead of loading it once each."""

from __future__ import annotations

from importlib import import_module

from kcheck.check.session import Session
from kcheck.schema.shape import Shape

_KINDS = (
    ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("apps/v1", "DaemonSet"), ("batch/v1", "CronJob"), ("v1", "Service"),
    ("v1", "ConfigMap"), ("v1", "Secret"), ("v1", "PersistentVolumeClaim"), ("networking.k8s.io/v1", "Ingress"),
    ("networking.k8s.io/v1", "NetworkPolicy"), ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"), ("policy/v1", "PodDisruptionBudget"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
)  # fmt: skip
"""Kinds that most large inputs have."""

_MODULES = (
    "kcheck.check.templates",
    "kcheck.check.version_change",
    "kcheck.finding.correction",
    "kcheck.schema.field_advice",
    "kcheck.schema.pods.detection",
    "kcheck.schema.pods.validation",
    "kcheck.schema.pods.walk",
    "kcheck.schema.type_advice",
    "kcheck.yaml.libyaml.events",
)
"""Modules that are imported on first use, because small inputs do not need them."""

_MODULES_FOR_DEFINITIONS = (
    "kcheck.cel.kubernetes.rule_evaluation",
    "kcheck.cel.kubernetes.rule_validation",
    "kcheck.cel.library.conversions",
    "kcheck.cel.library.strings",
    "kcheck.schema.crd.defaults",
    "kcheck.schema.crd.definitions",
    "kcheck.schema.crd.schema_checks",
    "kcheck.text.digest",
)
_DEFINITION = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")


def preload(session: Session, has_definitions: bool) -> None:
    """Load modules, rules and types. `has_definitions`: whether the input defines kinds."""
    for name in (*_MODULES, *(_MODULES_FOR_DEFINITIONS if has_definitions else ())):
        import_module(name)
    plan = session.plan(session.rules)
    store = session.stores[-1]
    seen: set[str] = set()
    for api_version, kind in (*_KINDS, *((_DEFINITION,) if has_definitions else ())):
        plan.objects.of_kind(api_version, kind)
        found = store.builtin(api_version, kind)
        todo: list[Shape] = [found.shape] if found is not None else []
        while todo:
            shape = todo.pop()
            if shape.items is not None:
                todo.append(shape.items)
            if shape.name not in seen and shape.fields:
                seen.add(shape.name)
                plan.of_type(shape.name)
                todo += [field.shape for field in shape.fields.values()]
