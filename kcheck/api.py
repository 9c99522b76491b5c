"""The public API for plug-ins. Type checkers read `api.pyi`."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from kcheck.facts import network
from kcheck.facts.bundle import Bundle, Scope
from kcheck.facts.facts import (
    BudgetFact,
    Claim,
    Facts,
    GeneratedObject,
    IngressPath,
    KindPermission,
    KustomizationFact,
    NodesFact,
    PodFact,
    PodSecurityViolation,
    PortFact,
    PriorityClassFact,
    Reference,
    ScaleFact,
    SelectorFact,
    ServiceFact,
)
from kcheck.facts.gitops import Delivery
from kcheck.facts.pod_index import Backend
from kcheck.facts.removed import RemovedObject
from kcheck.facts.variants import may_share
from kcheck.finding.finding import Finding
from kcheck.finding.fix import Correction, Fix
from kcheck.finding.problem import Problem, Reason, Related, missing
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO, WARNING, Severity
from kcheck.kube import base64, labels, names, placeholders, selector
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.object_change import ObjectChange, is_equal
from kcheck.kube.pod import Container, Pod
from kcheck.kube.resource import Resource, strings
from kcheck.kube.suggestions import Lexicon, did_you_mean, nearest, suggest
from kcheck.kube.typed_value import TypedValue
from kcheck.reporters import Reporter
from kcheck.reporters.style import Style
from kcheck.rule.constraint import Constraint, FieldTable, Validator, constraint, fields, validator
from kcheck.rule.groups import Group
from kcheck.rule.index import modules
from kcheck.rule.options import Option, Pattern
from kcheck.rule.rule import Rule, declare, rule
from kcheck.text.complaint import Complaint, Suggestion, help_of, remove, use
from kcheck.text.edit import Edit
from kcheck.text.pattern import pattern
from kcheck.text.span import Span
from kcheck.text.words import counted, enumeration
from kcheck.yaml.document import Document
from kcheck.yaml.node import Node, SharedBlock

__all__ = [
    "ERROR",
    "INFO",
    "WARNING",
    "Backend",
    "BudgetFact",
    "Bundle",
    "Claim",
    "Complaint",
    "Constraint",
    "Container",
    "Correction",
    "Delivery",
    "Document",
    "Edit",
    "Facts",
    "FieldTable",
    "Finding",
    "Fix",
    "GeneratedObject",
    "Group",
    "IngressPath",
    "KindPermission",
    "KustomizationFact",
    "Lexicon",
    "Location",
    "Node",
    "NodesFact",
    "ObjectChange",
    "ObjectId",
    "Option",
    "Pattern",
    "Pod",
    "PodFact",
    "PodSecurityViolation",
    "PortFact",
    "PriorityClassFact",
    "Problem",
    "Reason",
    "Reference",
    "Related",
    "RemovedObject",
    "Report",
    "Reporter",
    "Resource",
    "Rule",
    "ScaleFact",
    "Scope",
    "SelectorFact",
    "ServiceFact",
    "Severity",
    "SharedBlock",
    "Span",
    "Style",
    "Suggestion",
    "TypedValue",
    "Validator",
    "base64",
    "check_device_selector",
    "constraint",
    "counted",
    "declare",
    "did_you_mean",
    "enumeration",
    "fields",
    "help_of",
    "hookimpl",
    "is_equal",
    "labels",
    "may_share",
    "missing",
    "modules",
    "names",
    "nearest",
    "network",
    "pattern",
    "placeholders",
    "remove",
    "rule",
    "selector",
    "strings",
    "suggest",
    "use",
    "validator",
]

_KUBE = (
    "addresses", "credential_names", "credential_patterns", "credentials", "cron", "durations", "file_modes", "image", "pod_security",
    "ports", "positional_passwords", "quantity", "secret_names", "time_zones", "urls",
)  # fmt: skip
_MODULES = {
    **{name: f"kcheck.kube.{name}" for name in _KUBE},
    "Peers": "kcheck.facts.peers",
    "api_resources": "kcheck.schema.builtin.api_resources",
    "expressions": "kcheck.cel.kubernetes.expressions",
    "is_managed_namespace": "kcheck.facts.builtin_objects",
    "is_provided": "kcheck.facts.builtin_objects",
    "matches_whole": "kcheck.regex.patterns",
    "pattern_fault": "kcheck.regex.patterns",
    "schema_checks": "kcheck.schema.crd.schema_checks",
    "service_calls": "kcheck.facts.service_calls",
    "unusual_break": "kcheck.text.breaks",
}
__all__ += _MODULES


def __getattr__(name: str) -> object:
    """Import a module, or a name in it, when the first rule imports it, because most runs need few of them."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_MODULES[name])
    found = globals()[name] = module if module.__name__.endswith(f".{name}") else getattr(module, name)
    return found


_Hook = TypeVar("_Hook", bound=Callable[[], list[ModuleType] | list[Path] | list[Reporter]])


def hookimpl(function: _Hook) -> _Hook:
    """Marks a function of a plug-in as the hook that returns its rules, reporters or schemas. Imports pluggy when it is called."""
    from kcheck.rule.plugin import hookimpl

    return hookimpl(function)


def check_device_selector(expression: str, minor: int = 0) -> tuple[str, ...]:
    """Returns the errors in a CEL device selector for Kubernetes 1.`minor` (0: the latest version). Imports CEL on the first call."""
    from kcheck.cel.eval.program import LATEST
    from kcheck.cel.kubernetes.devices import check_selector

    return tuple(map(str, check_selector(expression, minor or LATEST)[1]))
