"""Migration of Polaris configs: severities of checks, and exemptions."""

from __future__ import annotations

from dataclasses import dataclass

from kcheck.finding.severity import ERROR, WARNING
from kcheck.migration.reading import ConfigReading
from kcheck.migration.tools import POLARIS, POLARIS_DANGER, POLARIS_FORMER
from kcheck.yaml.node import Node

_KNOWN = ("checks", "customChecks", "exemptions", "disallowExemptions", "disallowConfigExemptions")
_UNSUPPORTED_KEYS = {
    "displayName": "",
    "kubeContext": "",
    "namespace": "",
    "mutations": "not migrated; kcheck check --fix applies all available fixes",
    "disallowAnnotationExemptions": "kcheck always applies its own ignores; to have none, do not run kcheck migrate on the manifests",
}
_SEVERITIES = {"danger": ERROR, "error": ERROR, "warning": WARNING}


@dataclass(frozen=True, slots=True)
class Exemption:
    """Checks that do not apply to some objects or containers. An empty list means all. Names are prefixes.

    `file`, `line`: position in the config.
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
    """Adds a Polaris config to the draft. Returns its exemptions, which apply to objects and have no equivalent in a config of kcheck."""
    reading.draft.exclusive.append(False)
    entries = reading.entries(root, _UNSUPPORTED_KEYS, _KNOWN)
    custom = {name for name, _ in entries.get("customChecks", Node(None, 0, 0)).entries}
    if "checks" in entries:
        for name, node in entries["checks"].entries:
            if name not in custom:
                _check(reading, POLARIS_FORMER.get(name, name), node)
    else:
        # With --merge-config, such a file extends the default config of Polaris.
        for name in sorted(POLARIS.default):
            reading.want(Node(None, 0, 0), name, ERROR if name in POLARIS_DANGER else WARNING)
    for name, node in entries.get("customChecks", Node(None, 0, 0)).entries:
        reading.note(node, f"polaris custom check {name}: kcheck does not support checks in JSON Schema; write it as a plug-in")
    if any(entries.get(key, root).boolean is True for key in ("disallowExemptions", "disallowConfigExemptions")):
        return []
    return [_exemption(reading, node) for node in entries.get("exemptions", Node(None, 0, 0))]


def _check(reading: ConfigReading, name: str, node: Node) -> None:
    severity = _SEVERITIES.get(node.text)
    if severity is not None:
        reading.want(node, name, severity)
    elif node.text == "ignore":
        reading.refuse(node, name)
    else:
        reading.note(node, f"polaris {name}: {node.plain()!r} is not a valid severity, so the check is ignored")


def _exemption(reading: ConfigReading, node: Node) -> Exemption:
    def names(key: str) -> tuple[str, ...]:
        return tuple(each.text for each in node[key] if each.text or each.value == "")

    checks = tuple(POLARIS_FORMER.get(name, name) for name in names("rules"))
    place = reading.source.path, reading.line(node)
    return Exemption(*place, node["namespace"].text, names("controllerNames"), names("containerNames"), checks)
