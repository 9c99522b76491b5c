"""Credentials that stand in the open. Sources: the documentation's pages "Good practices for Kubernetes Secrets" and "ConfigMaps".

No message shows any of them, and reports cover them in the lines that they quote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from kcheck.api import Container, Node, Problem, Resource, Span, credential_names, credential_patterns, credentials, rule

_GROUPS = ("security", "secrets")
# What these hold under such names is encrypted, says where the credential is, or is in a file that a program keeps for itself.
_ELSEWHERE = frozenset((
    "SealedSecret", "ExternalSecret", "ClusterExternalSecret", "SecretStore", "ClusterSecretStore", "PushSecret", "SopsSecret",
    "VaultStaticSecret", "SecretProviderClass", "Config", "EncryptionConfiguration",
))  # fmt: skip
_FIELD, _INTO_SECRET = "is a credential that stands here for all who read this file", "put it into a Secret"
_MANY = 20
# The last words of what stands in a Secret beside the credential.
_OPEN = [["user"], ["username"], ["login"], ["host"], ["port"], ["url"], ["name"], ["id"], ["database"], ["email"], ["region"]]


@rule("credential-in-env", "Environment variable contains a password or token in plain text", groups=_GROUPS, fields="env")
def credential_in_env(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "names of variables that hold no credential"] = (),
) -> Iterator[Problem]:
    """By the variable's name, or by what its value says it is."""
    for entry in container["env"]:
        node = entry["value"]
        value = node.text
        if not value:
            continue
        name = entry["name"].text
        if name not in allow and (credential_names.is_credential(name, value) or credential_patterns.find(value)):
            message = f"{name} stands here for all who read this file"
            yield Problem(node, message, help="take it from a Secret with valueFrom.secretKeyRef")


@rule("credential-in-args", "Container command or args contain a password or token", groups=_GROUPS,
      fields=("command", "args", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"))  # fmt: skip
def credential_in_args(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "flags that hold no credential, such as --public-token"] = (),
) -> Iterator[Problem]:
    """By the flag before it, or by what it says it is. Whoever may list processes or read the pod sees it."""
    flag = ""
    handlers = list(_handlers(container))
    for node in _headers(handlers):
        scheme, _, credentials = node.text.partition(" ")
        if scheme.lower() in ("basic", "bearer") and credential_names.could_be(credentials):
            yield Problem(
                node, f"the probe's {scheme} credentials stand here for all", help="ask for a path that needs none"
            )
    for node in (*container["command"], *container["args"], *_commands(handlers)):
        text, behind, flag = node.text, flag, ""
        if behind and behind not in allow and not text.startswith("-") and credential_names.is_credential(behind, text, sure=True):
            yield _on_the_line(node, behind, node)
            continue
        if text.startswith("-") and "=" not in text and " " not in text:
            flag = text if credential_names.says_so(text) else ""
            continue
        found = [each for each in (*credential_patterns.find(text), *credential_patterns.arguments(text)) if each.what not in allow]
        if found:
            yield _on_the_line(_span(node, found[0], container.resource) or node, found[0].what, node)


@rule("credential-in-config-map", "ConfigMap contains a password, token or key", kinds="core ConfigMap", groups=_GROUPS)
def credential_in_config_map(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "keys, of the ConfigMap or in its files, that hold no credential"] = (),
) -> Iterator[Problem]:
    """By the entry's key, by what its value says it is, or by the names in a file of configuration."""
    for key, node in resource["data"].entries:
        text = node.text
        if key in allow or not text:
            continue
        if credential_names.is_credential(key, text):
            message = f"{key} is a credential, and ConfigMaps are for anybody to read"
            yield Problem(node, message, help="put it into a Secret", at="key")
        else:
            found = (*credential_patterns.find(text), *(credential_patterns.lines(text, key) if "\n" in text else ()))
            yield from _in_text(node, found, f"in {key}: ConfigMaps are for anybody to read", resource, allow)
    for key, node in resource["binaryData"].entries:
        inside = credential_patterns.find(credentials.decoded(node.text)) if key not in allow else ()
        if inside:
            message = f"{inside[0].what} is in {key}, and ConfigMaps are for anybody to read"
            yield Problem(node, message, help="put it into a Secret", at="key")


@rule(
    "credential-in-annotation", "Annotation contains a password or token", groups=_GROUPS, types="meta/v1 ObjectMeta", fields="annotations"
)
def credential_in_annotation(
    metadata: Node,
    *,
    allow: Annotated[tuple[str, ...], "keys of annotations that hold no credential"] = (),
) -> Iterator[Problem]:
    """Everybody who may get the object sees them, and so does every dashboard."""
    for key, node in metadata["annotations"].entries:
        text = node.text
        if len(text) < _MANY or key in allow:
            continue
        if credential_names.says_so(key.rpartition("/")[2]) and credential_names.is_random(text) and credential_names.could_be(text):
            message = f"{key} is a credential, and annotations are for anybody to read"
            yield Problem(node, message, help="put it into a Secret", at="key")
        else:
            yield from _in_text(node, credential_patterns.find(text), "in an annotation: they are for anybody to read", None, allow)


@rule("credential-in-custom-resource", "Custom resource contains a password or token", groups=_GROUPS)
def credential_in_custom_resource(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "names of fields that hold no credential"] = (),
) -> Iterator[Problem]:
    """By what a text says it is, by a field that is called password, or by any that says so and holds something random."""
    if resource.built_in or resource.kind in _ELSEWHERE:
        return
    for key, part in resource.node.entries:
        if key not in ("apiVersion", "kind", "metadata", "status"):
            problems: list[Problem] = []
            _look_into(part, resource, allow, problems)
            yield from problems


@rule("committed-secret", "Secret manifest contains its data or stringData values", kinds="core Secret", groups=_GROUPS, default=False)
def committed_secret(resource: Resource) -> Iterator[Problem]:
    """Whoever has the file has the values, and so has its history: base64 hides nothing."""
    values = [(node, node.text) for _, node in resource["stringData"].entries]
    values += [(node, credentials.decoded(node.text)) for _, node in resource["data"].entries]
    for node, text in values:
        known = credential_names.words_of(node.name)[-1:] in _OPEN and not credential_names.says_so(node.name)
        if not known and ("PRIVATE KEY" in text or credential_names.could_be(text)) and "-----BEGIN CERTIFICATE" not in text[:40]:
            message = f"{node.name} is in the open, with all of its history"
            yield Problem(node, message, help="seal it, or have it made from a store of secrets", at="key")


@rule("git-sync-command", "git-sync runs a custom git command (GITSYNC_GIT)", groups=("security",), default=False)
def git_sync_command(container: Container) -> Iterator[Problem]:
    """GITSYNC_GIT names the program that git-sync runs as git, with whatever rights its pod has."""
    for entry in container["env"]:
        node: Node = entry["name"]
        if node.text in ("GITSYNC_GIT", "GIT_SYNC_GIT"):
            yield Problem(node, f"{node.text} lets git-sync run any program", help="take it away, git is in the image")


def _handlers(container: Container) -> Iterator[Node]:
    """Probes and hooks."""
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container[name]:
            yield container[name]
    yield from container["lifecycle"]


def _commands(handlers: list[Node]) -> Iterator[Node]:
    for handler in handlers:
        yield from handler["exec"]["command"]


def _headers(handlers: list[Node]) -> Iterator[Node]:
    for handler in handlers:
        for header in handler["httpGet"]["httpHeaders"]:
            if header["name"].text.lower() == "authorization":
                yield header["value"]


def _on_the_line(at: Node | Span, what: str, node: Node) -> Problem:
    message = f"{what} is on a command line, which every process list shows"
    return Problem(at, message, help="take it from a Secret, as a file or a variable", field=node)


def _look_into(node: Node, resource: Resource, allow: tuple[str, ...], problems: list[Problem]) -> None:
    """Add what stands in a field of a custom resource; a list and no generator, for there are many fields and few credentials."""
    value = node.value
    if value.__class__ is dict:
        # An entry of a list of variables or parameters; those of containers have a rule of their own.
        listed = value["name"].text if "name" in value and "value" in value and _list_of(node) != "env" else ""
        for key, child in value.items():
            held = child.value
            if held.__class__ is str:
                name = listed if key == "value" and listed else key
                if credential_names.says_so(name) and name not in allow and _is_meant(name, held, node):
                    problems.append(Problem(child, f"{name} {_FIELD}", help=_INTO_SECRET))
                elif len(held) >= _MANY or "=" in held:
                    _look_at(child, held, resource, allow, problems)
            elif held:
                _look_into(child, resource, allow, problems)
    elif value.__class__ is list:
        for child in value:
            _look_into(child, resource, allow, problems)
    elif value.__class__ is str:
        _look_at(node, value, resource, allow, problems)


def _look_at(node: Node, text: str, resource: Resource, allow: tuple[str, ...], problems: list[Problem]) -> None:
    """Add what a text in a custom resource holds."""
    if "=" in text and _list_of(node) == "literals":
        name, _, rest = text.partition("=")
        if rest and name not in allow and credential_names.is_credential(name, rest.strip("\"'")):
            problems.append(Problem(node, f"{name} {_FIELD}", help=_INTO_SECRET))
            return
    if len(text) >= _MANY:
        found = credential_patterns.find(text)
        if "\n" in text:
            found = (*found, *credential_patterns.lines(text, ""))
        if found:
            problems += _in_text(node, found, "in a custom resource, for many to read", resource, allow)


def _list_of(node: Node) -> str:
    return node.parent.name if node.parent is not None else ""


def _is_meant(key: str, value: str, owner: Node) -> bool:
    """Whether a field holds what its name says, and not the name of what does."""
    if "name" in owner and "key" in owner:
        return False
    return credential_names.is_credential(key, value, sure=True) and (not credential_names.is_password(key) or value.lower() != "password")


def _in_text(
    node: Node, found: Iterable[credential_patterns.FoundCredential], where: str, resource: Resource | None, allow: tuple[str, ...]
) -> Iterator[Problem]:
    """One problem for each credential in a text, the first of each name."""
    told: dict[str, credential_patterns.FoundCredential] = {}
    for each in found:
        told.setdefault(each.what, each)
    for what, each in told.items():
        if what not in allow:
            span = _span(node, each, resource)
            at = "value" if span else "key"
            yield Problem(span or node, f"{what} is {where}, put it into a Secret", at=at, field=node)  # type: ignore[arg-type]


def _span(node: Node, found: credential_patterns.FoundCredential, resource: Resource | None) -> Span | None:
    """Where a part of a value stands in the file, as far as it is on one line; None where it is written in another way."""
    text = node.text
    quotes = 1 if node.style in ("'", '"') else 0
    if node.end - node.start == len(text) + 2 * quotes and "\n" not in text:
        return Span(node.start + quotes + found.start, node.start + quotes + found.end)
    if resource is None:
        return None
    source = resource.document.source
    part = text[found.start : found.end].partition("\n")[0]
    if node.style == "|":
        # A line of the value is a line of the file, behind that of the bar.
        line = source.position(node.start).line + text.count("\n", 0, found.start) + 1
        begin = source.line_starts[line - 1] if line <= len(source.line_starts) else node.end
    else:
        begin = node.start + found.start
    at = source.text.find(part, begin, min(node.end, begin + len(part) + 400))
    return Span(at, at + len(part)) if at >= 0 and part and "\n" not in source.text[begin:at] else None
