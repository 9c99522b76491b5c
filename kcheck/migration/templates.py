"""The equivalents of kube-linter templates. A custom check is a template with parameters; it becomes rules with options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kcheck.migration.equivalents import Counterparts

# The built-in check of each template, if the names differ. Rules list checks, and custom checks refer to templates.
_BUILT_IN_CHECKS = {
    "anti-affinity": "no-anti-affinity",
    "cpu-requirements": "unset-cpu-requirements",
    "forbidden-service-types": "exposed-services",
    "hpa-minimum-replicas": "hpa-minimum-three-replicas",
    "job-ttl-seconds-after-finished": "job-ttl-seconds-after-finished",
    "liveness-probe": "no-liveness-probe",
    "memory-requirements": "unset-memory-requirements",
    "minimum-replicas": "minimum-three-replicas",
    "privileged": "privileged-container",
    "read-only-root-fs": "no-read-only-root-fs",
    "readiness-probe": "no-readiness-probe",
    "required-annotation": "required-annotation-email",
    "required-label": "required-label-owner",
    "service-account": "default-service-account",
    "target-port": "invalid-target-ports",
    "update-configuration": "no-rolling-update-strategy",
}


class TemplateChoice(NamedTuple):
    """A parameter whose value selects the rules."""

    rules: Mapping[Any, tuple[str, ...]]


class Setter(NamedTuple):
    """A parameter that corresponds to an option of a rule. `read` raises ValueError for a value without an equivalent."""

    rule: str
    option: str
    read: Callable[[Any], Any]


class Idle(NamedTuple):
    """A parameter that has no effect with this value."""

    value: Any


def _number(value: Any) -> int:
    if type(value) is not int:
        raise ValueError
    return value


def _words(value: Any) -> tuple[str, ...]:
    """Returns names. Raises ValueError for patterns."""
    words = value if isinstance(value, list) else [value]
    if not words or not all(isinstance(w, str) and w and w.isprintable() and not set(w) & set("^$*+?()[]{}|\\!") for w in words):
        raise ValueError
    return tuple(words)


def _other_policies(value: Any) -> tuple[str, ...]:
    return tuple(p for p in ("Always", "IfNotPresent", "Never") if p not in _words(value))


_CPU, _MEMORY = ("missing-cpu-request", "missing-cpu-limit"), ("missing-memory-request", "missing-memory-limit")
PARAMETERS: dict[tuple[str, str], TemplateChoice | Setter | Idle] = {
    ("anti-affinity", "minreplicas"): Setter("missing-anti-affinity", "minimum", _number),
    ("anti-affinity", "topologykey"): Idle("kubernetes.io/hostname"),
    ("cpu-requirements", "lowerboundmillis"): Idle(0),
    ("cpu-requirements", "requirementstype"): TemplateChoice({"request": _CPU[:1], "limit": _CPU[1:], "any": _CPU}),
    ("cpu-requirements", "upperboundmillis"): Idle(0),
    ("forbidden-annotation", "key"): Setter("forbidden-annotation", "annotations", _words),
    ("forbidden-service-types", "forbiddenservicetypes"): TemplateChoice(
        {"NodePort": ("node-port-service",), "LoadBalancer": ("load-balancer-service",), "ExternalName": ("external-name-service",)}
    ),
    ("hpa-minimum-replicas", "minreplicas"): Setter("hpa-min-replicas", "minimum", _number),
    ("image-pull-policy", "forbiddenpolicies"): Setter("pull-policy-not-always", "allow", _other_policies),
    ("memory-requirements", "lowerboundmb"): Idle(0),
    ("memory-requirements", "requirementstype"): TemplateChoice({"request": _MEMORY[:1], "limit": _MEMORY[1:], "any": _MEMORY}),
    ("memory-requirements", "upperboundmb"): Idle(0),
    ("minimum-replicas", "minreplicas"): Setter("too-few-replicas", "minimum", _number),
    ("ports", "port"): TemplateChoice({22: ("ssh-port",)}),
    ("ports", "protocol"): Idle("TCP"),
    ("priority-class-name", "acceptedpriorityclassnames"): Setter("forbidden-priority-class", "allow", _words),
    ("required-annotation", "key"): Setter("missing-required-annotation", "annotations", _words),
    ("required-label", "key"): Setter("missing-recommended-labels", "labels", _words),
    ("service-account", "serviceaccount"): Idle("^(|default)$"),
    ("statefulset-volumeclaimtemplate-annotation", "annotation"): Setter("missing-claim-template-annotation", "annotations", _words),
    ("update-configuration", "strategytyperegex"): Idle("^(RollingUpdate|Rolling)$"),
    ("verify-container-capabilities", "forbiddencapabilities"): TemplateChoice(
        {"NET_RAW": ("undropped-net-raw",), "ALL": ("undropped-capabilities",)}
    ),
}
# Templates whose meaning depends only on their parameters.
_GENERIC_TEMPLATES = frozenset(
    {"access-to-resources", "disallowed-api-obj", "env-var", "host-mounts", "ports", "verify-container-capabilities"}
)


@dataclass(slots=True)
class TemplateMeaning:
    """The equivalent of a template. `rules`: rules to switch on; `options`: (rule, option, value); `lost`: unsupported parameters."""

    rules: list[str] = field(default_factory=list)
    options: list[tuple[str, str, Any]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def meaning(template: str, parameters: Mapping[str, Any], counterparts: Counterparts) -> TemplateMeaning:
    """Returns the equivalent of a template with parameters. The case of parameter names is ignored, as in Go."""
    found = TemplateMeaning()
    chosen: list[str] = []
    for name, value in parameters.items():
        known = PARAMETERS.get((template, name.lower()))
        if isinstance(known, TemplateChoice):
            values = value if isinstance(value, list) else [value]
            chosen += [id for each in values for id in known.rules.get(each, ())]
            found.lost += [f"{name}: {each}" for each in values if each not in known.rules]
        elif isinstance(known, Setter):
            try:
                found.options.append((known.rule, known.option, known.read(value)))
            except ValueError:
                found.lost.append(f"{name}: {value}")
        elif known is None or value != known.value:
            found.lost.append(f"{name}: {value}")
    usual = () if template in _GENERIC_TEMPLATES else rules_of_template(template, counterparts)
    # A required parameter without an equivalent would leave a rule that checks something else.
    readable = not found.lost or chosen or found.options
    found.rules = chosen or (list(usual) if readable or not _has_option(template) else [])
    found.options = [option for option in found.options if option[0] in found.rules]
    return found


def _has_option(template: str) -> bool:
    """Whether a template has a parameter that corresponds to an option: without it, the rule would check something else."""
    return any(of == template and isinstance(known, Setter) for (of, _), known in PARAMETERS.items())


def rules_of_template(template: str, counterparts: Counterparts) -> tuple[str, ...]:
    """Returns the rules that replace a template or its built-in check."""
    return counterparts.rules("kube-linter", template) or counterparts.rules("kube-linter", _BUILT_IN_CHECKS.get(template, ""))
