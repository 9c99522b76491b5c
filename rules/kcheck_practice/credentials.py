"""Credentials that stand in the open. Sources: the documentation's pages "Good practices for Kubernetes Secrets" and "ConfigMaps".

No message shows any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from kcheck.api import Container, Node, Problem, Resource, rule

_SECRET_WORDS = (
    "password", "passwd", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "access_key", "secret_key", "private_key",
    "client_secret", "credentials",
)  # fmt: skip
# A name that ends like this tells of a credential, and is none.
_ABOUT_WORDS = """
    name names file files path paths dir folder url uri host endpoint mode type format id ids ttl expiry expiration duration lifetime
    length size enabled disabled ref reference store provider issuer audience header prefix suffix algorithm alg version namespace
    policy interval timeout count username user email rotation refresh location source informer filtering selector label method limit
    max min cache auth required optional validity period seconds minutes hours days
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
_NOT_SECRET = re.compile(
    r"""\s*|true|false|yes|no|on|off|null|none|nil|[0-9.]+[a-z]*  # nothing, switches, numbers and times
    |\$[({].*|.*\$\(\w+\).*|<.*>|\{\{.*|.*\$\{.*              # filled in by somebody
    |(?:/|\./|~/|file:|vault:|ref\+|secretref:|https?://[^@]*$).*  # where it is kept
    |\*+|x{3,}|\.{3}|redacted|optional|required|disabled|enabled|dummy|placeholder|.*change[-_ ]?me.*|.*your.*|.*-placeholder""",
    re.IGNORECASE | re.VERBOSE,
)
_PLACEHOLDER = re.compile("[A-Z]+(?:_[A-Z0-9]+)*")
# Tokens that say by their shape what they are, and keys.
_SHAPE = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{50,}\b|\bglpat-[\w-]{20,}"
    r"|\bxox[abprs]-[0-9A-Za-z-]{20,}|\b[sr]k_live_[0-9A-Za-z]{20,}|\bAIza[0-9A-Za-z_-]{35}\b|\bSG\.[\w-]{20,}\.[\w-]{20,}"
    r"|\bnpm_[A-Za-z0-9]{36}\b|\bdop_v1_[a-f0-9]{64}\b|\bhvs\.[\w-]{24,}"
)
_LEAST = 3


@rule("credential-in-env", "a password or token written into the environment", groups=("security", "secrets"),
      like=("kube-linter/env-var-secret", "polaris/sensitiveContainerEnvVar", "policy-guard/PG-CTR-007", "monokle/KBP111"))  # fmt: skip
def credential_in_env(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "names of variables that hold no credential"] = (),
) -> Iterator[Problem]:
    """By the variable's name, or by the shape of its value."""
    for entry in container["env"]:
        name, node = entry["name"].text, entry["value"]
        if name not in allow and _is_credential(name, node.text):
            yield Problem(node, f"{name} stands here for all who read this file: take it from a Secret with valueFrom.secretKeyRef")


@rule("credential-in-config-map", "a password, token or key in a ConfigMap", groups=("security", "secrets"),
      like=("polaris/sensitiveConfigmapContent", "trivy/KSV-0109", "trivy/KSV-01010"))  # fmt: skip
def credential_in_config_map(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "keys that hold no credential"] = (),
) -> Iterator[Problem]:
    """By the entry's key, or by the shape of what stands in it."""
    if not resource.is_a("v1 ConfigMap"):
        return
    for key, node in resource["data"].entries:
        if key not in allow and _is_credential(key, node.text):
            yield Problem(node, f"{key} is a credential, and ConfigMaps are for anybody to read: put it into a Secret", at="key")


@rule("git-sync-command", "a git-sync that runs what somebody else says", groups=("security",), default=False,
      like=("checkov/CKV_K8S_159",))  # fmt: skip
def git_sync_command(container: Container) -> Iterator[Problem]:
    """GITSYNC_GIT names the program that git-sync runs as git, with whatever rights its pod has."""
    for entry in container["env"]:
        node: Node = entry["name"]
        if node.text in ("GITSYNC_GIT", "GIT_SYNC_GIT"):
            yield Problem(node, f"{node.text} lets git-sync run any program: take it away, git is in the image")


def _is_credential(name: str, value: str) -> bool:
    """Whether a name says that its value is a credential and the value looks like one, or the value does so by itself."""
    if _SHAPE.search(value):
        return True
    if len(value) < _LEAST or "\n" in value.strip() or _PLACEHOLDER.fullmatch(value) or _NOT_SECRET.fullmatch(value):
        return False
    return _says_so(name)


def _says_so(name: str) -> bool:
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_").replace(".", "_")
    words = plain.split("_")
    if words[-1] in _ABOUT or words[0] in ("enable", "use", "disable", "require", "allow"):
        return False
    return any(f"_{word}_" in f"_{plain}_" or plain.endswith(word) for word in _SECRET_WORDS)
