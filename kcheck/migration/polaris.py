"""polaris' config: the severity of each check, and who is exempt from which."""

from __future__ import annotations

from dataclasses import dataclass

from kcheck.finding.severity import ERROR, WARNING
from kcheck.migration.reading import ConfigReading
from kcheck.migration.tools import POLARIS, POLARIS_DANGER, POLARIS_FORMER
from kcheck.yaml.node import Node

_KNOWN = ("checks", "customChecks", "exemptions", "disallowExemptions", "disallowConfigExemptions")
_IDLE = {
    "displayName": "",
    "kubeContext": "",
    "namespace": "",
    "mutations": "kcheck mends what kcheck check --fix can, whichever it is",
    "disallowAnnotationExemptions": "kcheck always heeds its own ignores; without kcheck migrate on the manifests there are none",
}
_SEVERITIES = {"danger": ERROR, "error": ERROR, "warning": WARNING}


@dataclass(frozen=True, slots=True)
class Exemption:
    """Checks that some objects or containers need not pass. Empty lists stand for all; names are beginnings of names.

    `file`, `line`: where it stands.
    """

    file: str
    line: int
    namespace: str = ""
    controllers: tuple[str, ...] = ()
    containers: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"namespace {self.namespace}" if self.namespace else ""]
        parts += [f"controllers {', '.join(self.controllers)}" if self.controllers else ""]
        parts += [f"containers {', '.join(self.containers)}" if self.containers else ""]
        who = "; ".join(filter(None, parts)) or "all"
        return f"exemption of {who} from {', '.join(self.checks) or 'all checks'}"


def read(reading: ConfigReading, root: Node) -> list[Exemption]:
    """Take in a config of polaris. Exemptions are returned: they are about objects, which no config of ours names."""
    reading.draft.solitary.append(False)
    said = reading.entries(root, _IDLE, _KNOWN)
    custom = {name for name, _ in said.get("customChecks", Node(None, 0, 0)).entries}
    if "checks" in said:
        for name, node in said["checks"].entries:
            if name not in custom:
                _check(reading, POLARIS_FORMER.get(name, name), node)
    else:
        # With --merge-config such a file adds to what polaris brings along.
        for name in sorted(POLARIS.usual):
            reading.want(Node(None, 0, 0), name, ERROR if name in POLARIS_DANGER else WARNING)
    for name, node in said.get("customChecks", Node(None, 0, 0)).entries:
        reading.note(node, f"polaris custom check {name}: kcheck has no rules in JSON Schema; a plug-in can do it")
    if any(said.get(key, root).boolean is True for key in ("disallowExemptions", "disallowConfigExemptions")):
        return []
    return [_exemption(reading, node) for node in said.get("exemptions", Node(None, 0, 0))]


def _check(reading: ConfigReading, name: str, node: Node) -> None:
    severity = _SEVERITIES.get(node.text)
    if severity is not None:
        reading.want(node, name, severity)
    elif node.text == "ignore":
        reading.refuse(node, name)
    else:
        reading.note(node, f"polaris {name}: {node.plain()!r} is no severity of polaris: nothing is done about it")


def _exemption(reading: ConfigReading, node: Node) -> Exemption:
    def names(key: str) -> tuple[str, ...]:
        return tuple(each.text for each in node[key] if each.text or each.value == "")

    checks = tuple(POLARIS_FORMER.get(name, name) for name in names("rules"))
    place = reading.source.path, reading.line(node)
    return Exemption(*place, node["namespace"].text, names("controllerNames"), names("containerNames"), checks)
