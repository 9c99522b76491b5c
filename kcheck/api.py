"""Every name that a plug-in may import."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from kcheck.cel import expressions
from kcheck.finding.finding import Finding
from kcheck.finding.problem import Fix, Problem, Reason, Related, missing
from kcheck.finding.report import Report
from kcheck.finding.severity import ERROR, INFO, WARNING, Severity
from kcheck.kube import (
    addresses,
    base64,
    calls,
    credential_names,
    credential_texts,
    cron,
    durations,
    image,
    labels,
    modes,
    names,
    network,
    podsecurity,
    ports,
    quantity,
    selector,
    time_zones,
    tokens,
    urls,
)
from kcheck.kube.bundle import Bundle, Scope
from kcheck.kube.delivery import Delivery
from kcheck.kube.facts import Breach, BudgetFact, Claim, Facts, Made, NodesFact, PodFact, PortFact, Reference, ScaleFact, SelectorFact
from kcheck.kube.part import Part
from kcheck.kube.peers import Peers
from kcheck.kube.place import ObjectId, Place
from kcheck.kube.pod import Container, Pod
from kcheck.kube.podtable import Backend
from kcheck.kube.provided import is_provided
from kcheck.kube.resource import Resource, strings
from kcheck.kube.suggestion import Lexicon, nearest, suggest
from kcheck.kube.variants import may_share
from kcheck.reporters import Reporter
from kcheck.reporters.style import Style
from kcheck.rule.constraint import Constraint, FieldTable, Validator, constraint, fields, validator
from kcheck.rule.groups import Group
from kcheck.rule.index import modules
from kcheck.rule.options import Option, Pattern
from kcheck.rule.rule import Rule, declare, rule
from kcheck.schema import served, soundness
from kcheck.schema.patterns import matches_whole
from kcheck.text.breaks import unusual_break
from kcheck.text.complaint import Complaint, help_of
from kcheck.text.edit import Edit
from kcheck.text.pattern import pattern
from kcheck.text.span import Span
from kcheck.tree.document import Document
from kcheck.tree.node import Node, Passage

__all__ = [
    "ERROR",
    "INFO",
    "WARNING",
    "Backend",
    "Breach",
    "BudgetFact",
    "Bundle",
    "Claim",
    "Complaint",
    "Constraint",
    "Container",
    "Delivery",
    "Document",
    "Edit",
    "Facts",
    "FieldTable",
    "Finding",
    "Fix",
    "Group",
    "Lexicon",
    "Made",
    "Node",
    "NodesFact",
    "ObjectId",
    "Option",
    "Part",
    "Passage",
    "Pattern",
    "Peers",
    "Place",
    "Pod",
    "PodFact",
    "PortFact",
    "Problem",
    "Reason",
    "Reference",
    "Related",
    "Report",
    "Reporter",
    "Resource",
    "Rule",
    "ScaleFact",
    "Scope",
    "SelectorFact",
    "Severity",
    "Span",
    "Style",
    "Validator",
    "addresses",
    "base64",
    "calls",
    "check_device_selector",
    "constraint",
    "credential_names",
    "credential_texts",
    "cron",
    "declare",
    "durations",
    "expressions",
    "fields",
    "help_of",
    "hookimpl",
    "image",
    "is_provided",
    "labels",
    "matches_whole",
    "may_share",
    "missing",
    "modes",
    "modules",
    "names",
    "nearest",
    "network",
    "pattern",
    "podsecurity",
    "ports",
    "quantity",
    "rule",
    "selector",
    "served",
    "soundness",
    "strings",
    "suggest",
    "time_zones",
    "tokens",
    "unusual_break",
    "urls",
    "validator",
]


_Hook = TypeVar("_Hook", bound=Callable[[], list[ModuleType] | list[Path] | list[Reporter]])


def hookimpl(function: _Hook) -> _Hook:
    """Mark a function of a plug-in as what gives its rules, reporters or schemas. Pluggy is loaded where there are plug-ins."""
    from kcheck.rule.plugin import hookimpl

    return hookimpl(function)


def check_device_selector(expression: str, minor: int = 0) -> tuple[str, ...]:
    """What is wrong with a selector of devices in CEL, to Kubernetes 1.minor (0: the latest). CEL is loaded when first asked for."""
    from kcheck.cel.devices import check_selector
    from kcheck.cel.program import LATEST

    return tuple(map(str, check_selector(expression, minor or LATEST)[1]))
