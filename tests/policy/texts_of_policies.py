"""Texts of policies for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kcheck
from kcheck.finding.finding import Finding

CONFIG_MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
PODS = CONFIG_MAPS | {"resources": ["pods"]}
DEPLOYMENTS = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}
_API = "admissionregistration.k8s.io/v1"


def policy(
    *expressions: str | dict[str, Any], name: str = "p", rules: list[Any] | None = None, match: Any = None, **spec: Any
) -> dict[str, Any]:
    """A policy with these validations; `rules`: its resourceRules, ConfigMaps by default; `match`: more of its matchConstraints."""
    validations = [{"expression": each} if isinstance(each, str) else each for each in expressions]
    constraints = {"resourceRules": rules or [CONFIG_MAPS]} | (match or {})
    spec = {"matchConstraints": constraints, "validations": validations} | spec
    return {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec}


def binding(*actions: str, name: str = "b", policy: str = "p", **spec: Any) -> dict[str, Any]:
    """A binding of a policy; it denies by default."""
    spec = {"policyName": policy, "validationActions": list(actions or ("Deny",))} | spec
    return {"apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": spec}


def config_map(data: dict[str, str] | None = None, name: str = "c", **metadata: Any) -> dict[str, Any]:
    """A ConfigMap in the namespace shop."""
    found: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"} | metadata}
    return found if data is None else found | {"data": data}


def judge(folder: Path, *objects: dict[str, Any], policies: list[dict[str, Any]], **settings: Any) -> list[Finding]:
    """The findings of the family policy for objects, which are in one file each: object-0.yaml and so on."""
    write(folder, *objects, policies=policies)
    report = kcheck.check(folder, **({"config": {}} | settings))
    return [each for each in report.findings if each.family == "policy"]


def write(folder: Path, *objects: dict[str, Any], policies: list[dict[str, Any]]) -> None:
    """Write policies to policies.yaml, and objects to one file each."""
    (folder / "policies.yaml").write_text("\n---\n".join(json.dumps(each, indent=1) for each in policies))
    for number, each in enumerate(objects):
        (folder / f"object-{number}.yaml").write_text(json.dumps(each, indent=1))
