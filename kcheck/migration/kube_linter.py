"""Migration of kube-linter configs: selection of checks, parameters and ignored paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kcheck.migration.equivalents import Counterparts
from kcheck.migration.reading import ConfigReading
from kcheck.migration.tools import KUBE_LINTER
from kcheck.yaml.node import Node

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


_CHECKS = ("addAllBuiltIn", "doNotAutoAddDefaults", "include", "exclude", "ignorePaths")
_CUSTOM = ("name", "template", "params", "scope")
# Texts that need no migration, as rules have their own.
_IGNORED_KEYS = dict.fromkeys(("description", "remediation"), "")


def read(reading: ConfigReading, root: Node) -> None:
    """Adds a `.kube-linter.yaml` to the draft."""
    entries = reading.entries(root, {}, ("checks", "customChecks"))
    checks = reading.entries(entries.get("checks", Node(None, 0, 0)), {}, _CHECKS)
    empty = Node(None, 0, 0)
    everything = checks.get("addAllBuiltIn", empty).boolean is True
    bare = checks.get("doNotAutoAddDefaults", empty).boolean is True and not everything
    reading.draft.exclusive.append(bare)
    custom = {each["name"].text: each for each in entries.get("customChecks", empty) if each["name"].text}
    wanted = dict.fromkeys(() if bare else KUBE_LINTER.checks if everything else KUBE_LINTER.default, empty)
    wanted |= {name: node for name, node in reading.words(checks.get("include", empty)) if name not in custom}
    excluded = dict(reading.words(checks.get("exclude", empty)))
    for name, node in excluded.items():
        wanted.pop(name, None)
        if custom.pop(name, None) is None:
            reading.refuse(node, name)
    for name in sorted(wanted):
        reading.want(wanted[name], name)
    for name, node in custom.items():
        _migrate_custom_check(reading, name, node)
    for path, node in reading.words(checks.get("ignorePaths", empty)):
        reading.exclude(node, path)


def _migrate_custom_check(reading: ConfigReading, name: str, node: Node) -> None:
    entries = reading.entries(node, _IGNORED_KEYS, _CUSTOM)
    template, parameters = entries.get("template", node).text, entries.get("params", Node({}, 0, 0)).plain() or {}
    line = reading.line(node)
    found = meaning(template, parameters, reading.draft.counterparts) if isinstance(parameters, dict) else TemplateMeaning()
    if not found.rules:
        reading.note(node["name"], f"kube-linter custom check {name} (template {template}): kcheck has no such rule; write it as a plug-in")
        return
    for lost in found.lost:
        reading.note(node["params"], f"kube-linter custom check {name}: {lost}: no equivalent in {', '.join(found.rules)}")
    if "scope" in entries:
        applied = f"{', '.join(found.rules)} {'applies' if len(found.rules) == 1 else 'apply'}"
        reading.note(entries["scope"], f"kube-linter custom check {name}: scope: not supported; {applied} to all kinds")
    for id in found.rules:
        reading.draft.want_rule(id, f"{reading.tool}/{name}")
    for id, option, value in found.options:
        reading.draft.set_option(id, option, value, reading.source.path, line)
