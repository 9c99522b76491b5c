"""Credentials in plain text. Sources: the documentation's pages "Good practices for Kubernetes Secrets" and "ConfigMaps".

No message contains a credential, and reports mask them in quoted lines (`kcheck.redaction`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from kcheck.api import (
    Container,
    Node,
    Problem,
    Resource,
    Span,
    credential_names,
    credential_patterns,
    credentials,
    positional_passwords,
    rule,
    secret_names,
)

_GROUPS = ("security", "secrets")
# Fields of these kinds with such names are encrypted, refer to a credential, or belong to the private file of a program.
_SKIPPED_KINDS = frozenset((
    "SealedSecret", "ExternalSecret", "ClusterExternalSecret", "SecretStore", "ClusterSecretStore", "PushSecret", "SopsSecret",
    "VaultStaticSecret", "SecretProviderClass", "Config", "EncryptionConfiguration",
))  # fmt: skip
_MOVE = "move it to a Secret"
_MIN_LENGTH = 20
# Annotations such as `checksum/secret` restart Pods when the content of another object changes.
_HASHES = frozenset({"checksum", "checksums", "hash", "hashes", "digest", "sha256", "sha1", "md5"})
_SCRIPTS = (".sh", ".bash")
# Last words of keys that a Secret holds beside the credential.
_OTHER_WORDS = [["user"], ["username"], ["login"], ["host"], ["port"], ["url"], ["name"], ["id"], ["database"], ["email"], ["region"]]


@rule("credential-in-env", "Environment variable contains a password or token in plain text", groups=_GROUPS, fields="env")
def credential_in_env(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "names of environment variables that do not hold a credential"] = (),
) -> Iterator[Problem]:
    """Recognizes credentials by the name of the variable or by the form of the value."""
    for entry in container["env"]:
        node = entry["value"]
        value = node.text
        if not value:
            continue
        name = entry["name"].text
        if name in allow:
            continue
        by_name = credential_names.is_credential(name, value) and not _is_secret(name, value, container.resource)
        if by_name or credential_patterns.find(value):
            message = f'environment variable "{name}" contains a credential in plain text'
            yield Problem(node, message, help="use valueFrom.secretKeyRef")


@rule("credential-in-args", "Container command or args contain a password or token", groups=_GROUPS,
      fields=("command", "args", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"))  # fmt: skip
def credential_in_args(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "flags that do not hold a credential, such as --public-token"] = (),
) -> Iterator[Problem]:
    """Recognizes credentials by the flag before them or by their form. Process lists and the Pod spec show command lines."""
    handlers = list(_handlers(container))
    for node in _headers(handlers):
        scheme, _, credentials = node.text.partition(" ")
        if scheme.lower() in ("basic", "bearer") and credential_names.could_be_credential(credentials):
            message = f"Authorization header contains {scheme} credentials in plain text"
            yield Problem(node, message, help="use a path that needs no authentication")
    for line in (container["command"], container["args"], *(each["exec"]["command"] for each in handlers)):
        yield from _in_command_line(list(line), container.resource, allow)


def _is_secret(name: str, value: str, resource: Resource) -> bool:
    """Whether a value is the name of a Secret that the file of an object contains or refers to."""
    return secret_names.is_secret_name(name, value, (resource.document.source.text,))


def _in_command_line(line: list[Node], resource: Resource, allow: tuple[str, ...]) -> Iterator[Problem]:
    """Yields a Problem for each word of a command line that contains a credential."""
    positional: dict[int, credential_patterns.FoundCredential] = {}
    for program, number, start, end in positional_passwords.find_in_list([node.text for node in line]):
        positional.setdefault(number, credential_patterns.FoundCredential(f"a password for {program}", start, end))
    flag = ""
    for number, node in enumerate(line):
        text, behind, flag = node.text, flag, ""
        if behind and behind not in allow and not text.startswith("-") and credential_names.is_credential(behind, text, sure=True):
            yield _in_command(node, behind, node)
            continue
        if number in positional:
            yield _in_command(_span(node, positional[number], resource) or node, positional[number].what, node)
            continue
        if text.startswith("-") and "=" not in text and " " not in text:
            flag = text if credential_names.indicates_credential(text) else ""
            continue
        found = (each for each in (*credential_patterns.find(text), *credential_patterns.arguments(text)) if each.what not in allow)
        for each in _separate(found):
            yield _in_command(_span(node, each, resource) or node, each.what, node)


@rule("credential-in-config-map", "ConfigMap contains a password, token or key", kinds="core ConfigMap", groups=_GROUPS)
def credential_in_config_map(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "keys, of the ConfigMap or in its files, that do not hold a credential"] = (),
) -> Iterator[Problem]:
    """Recognizes credentials by the key of the entry, by their form, or by the names in a configuration file."""
    for key, node in resource["data"].entries:
        text = node.text
        if key in allow or not text:
            continue
        if credential_names.is_credential(key, text):
            if _is_secret(key, text, resource):
                continue
            message = f'ConfigMap key "{key}" contains a credential in plain text'
            yield Problem(node, message, help=_MOVE, at="key")
        else:
            found = (*credential_patterns.find(text), *(credential_patterns.lines(text, key) if "\n" in text else ()))
            if key.endswith(_SCRIPTS) or text.startswith("#!"):
                found += tuple(credential_patterns.positional(text))
            yield from _in_text(node, found, f'ConfigMap key "{key}"', resource, allow)
    for key, node in resource["binaryData"].entries:
        inside = credential_patterns.find(credentials.decoded(node.text)) if key not in allow else ()
        if inside:
            message = f'ConfigMap key "{key}" contains {_described(inside[0].what)}'
            yield Problem(node, message, help=_MOVE, at="key")


@rule(
    "credential-in-annotation", "Annotation contains a password or token", groups=_GROUPS, types="meta/v1 ObjectMeta", fields="annotations"
)
def credential_in_annotation(
    metadata: Node,
    *,
    allow: Annotated[tuple[str, ...], "keys of annotations that do not hold a credential"] = (),
) -> Iterator[Problem]:
    """Annotations are visible to every user that can read the object, and in dashboards."""
    for key, node in metadata["annotations"].entries:
        text = node.text
        if len(text) < _MIN_LENGTH or key in allow or not _HASHES.isdisjoint(credential_names.words_of(key)):
            continue
        if (
            credential_names.indicates_credential(key.rpartition("/")[2])
            and credential_names.is_random(text)
            and credential_names.could_be_credential(text)
        ):
            message = f'annotation "{key}" contains a credential in plain text'
            yield Problem(node, message, help=_MOVE, at="key")
        else:
            yield from _in_text(node, credential_patterns.find(text), f'annotation "{key}"', None, allow)


@rule("credential-in-custom-resource", "Custom resource contains a password or token", groups=_GROUPS)
def credential_in_custom_resource(
    resource: Resource,
    *,
    allow: Annotated[tuple[str, ...], "names of fields that do not hold a credential"] = (),
) -> Iterator[Problem]:
    """Recognizes credentials by their form, by a field named password, or by a field named token or similar with a random value."""
    if resource.built_in or resource.kind in _SKIPPED_KINDS:
        return
    for key, part in resource.node.entries:
        if key not in ("apiVersion", "kind", "metadata", "status"):
            problems: list[Problem] = []
            _search(part, resource, allow, problems)
            yield from problems


@rule("committed-secret", "Secret manifest contains its data or stringData values", kinds="core Secret", groups=_GROUPS, default=False)
def committed_secret(resource: Resource) -> Iterator[Problem]:
    """The file and its history contain the values: base64 is not encryption."""
    values = [(node, node.text) for _, node in resource["stringData"].entries]
    values += [(node, credentials.decoded(node.text)) for _, node in resource["data"].entries]
    for node, text in values:
        known = credential_names.words_of(node.name)[-1:] in _OTHER_WORDS and not credential_names.indicates_credential(node.name)
        if (
            not known
            and ("PRIVATE KEY" in text or credential_names.could_be_credential(text))
            and "-----BEGIN CERTIFICATE" not in text[:40]
        ):
            message = f'Secret manifest contains the value of key "{node.name}"'
            advice = "encrypt it with Sealed Secrets or SOPS, or use an external secret store"
            yield Problem(node, message, help=advice, at="key")


@rule("git-sync-command", "git-sync runs a custom git command (GITSYNC_GIT)", groups=("security",), default=False)
def git_sync_command(container: Container) -> Iterator[Problem]:
    """GITSYNC_GIT is the program that git-sync runs as git, with the permissions of its Pod."""
    for entry in container["env"]:
        node: Node = entry["name"]
        if node.text in ("GITSYNC_GIT", "GIT_SYNC_GIT"):
            message = f'environment variable "{node.text}" makes git-sync run a custom program instead of git'
            yield Problem(node, message, help="remove it to use the git of the image")


def _handlers(container: Container) -> Iterator[Node]:
    """Probes and lifecycle hooks."""
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container[name]:
            yield container[name]
    yield from container["lifecycle"]


def _headers(handlers: list[Node]) -> Iterator[Node]:
    for handler in handlers:
        for header in handler["httpGet"]["httpHeaders"]:
            if header["name"].text.lower() == "authorization":
                yield header["value"]


def _separate(found: Iterable[credential_patterns.FoundCredential]) -> Iterator[credential_patterns.FoundCredential]:
    """Yields the credentials of a string in order, the first of each name, without those that overlap with an earlier one."""
    names: set[str] = set()
    end = 0
    for each in sorted(found, key=lambda each: each.start):
        if each.start >= end and each.what not in names:
            names.add(each.what)
            end = each.end
            yield each


def _in_command(at: Node | Span, what: str, node: Node) -> Problem:
    message = f"command line contains {_described(what)}, which process lists and the Pod spec show"
    return Problem(at, message, help="read it from a file or environment variable of a Secret", field=node)


def _described(what: str) -> str:
    """What a message calls a credential (`credential_patterns.FoundCredential.what`)."""
    return what if " " in what else f'the credential "{what}"'


def _search(node: Node, resource: Resource, allow: tuple[str, ...], problems: list[Problem]) -> None:
    """Add the credentials in a field of a custom resource to `problems`, which is faster than a generator for many fields."""
    value = node.value
    if value.__class__ is dict:
        # An entry of a list of variables or parameters; credential-in-env checks the variables of containers.
        listed = value["name"].text if "name" in value and "value" in value and _list_of(node) != "env" else ""
        for key, child in value.items():
            held = child.value
            if held.__class__ is str:
                name = listed if key == "value" and listed else key
                if credential_names.indicates_credential(name) and name not in allow and _holds_credential(name, held, node):
                    problems.append(_in_field(child, name, resource))
                elif len(held) >= _MIN_LENGTH or "=" in held:
                    _search_text(child, held, resource, allow, problems)
            elif held:
                _search(child, resource, allow, problems)
    elif value.__class__ is list:
        for child in value:
            _search(child, resource, allow, problems)
    elif value.__class__ is str:
        _search_text(node, value, resource, allow, problems)


def _search_text(node: Node, text: str, resource: Resource, allow: tuple[str, ...], problems: list[Problem]) -> None:
    """Add the credentials in a string of a custom resource to `problems`."""
    if "=" in text and _list_of(node) == "literals":
        name, _, rest = text.partition("=")
        if rest and name not in allow and credential_names.is_credential(name, rest.strip("\"'")):
            problems.append(_in_field(node, name, resource))
            return
    if len(text) >= _MIN_LENGTH:
        found = credential_patterns.find(text)
        if "\n" in text:
            found = (*found, *credential_patterns.lines(text, ""))
        if found:
            problems += _in_text(node, found, resource.kind or "custom resource", resource, allow)


def _in_field(node: Node, name: str, resource: Resource) -> Problem:
    message = f"{resource.kind or 'custom resource'} contains {_described(name)} in plain text"
    return Problem(node, message, help=_MOVE)


def _list_of(node: Node) -> str:
    return node.parent.name if node.parent is not None else ""


def _holds_credential(key: str, value: str, owner: Node) -> bool:
    """Whether a field holds the credential itself, and not the name of an object that holds it."""
    if "name" in owner and "key" in owner:
        return False
    return credential_names.is_credential(key, value, sure=True) and (not credential_names.is_password(key) or value.lower() != "password")


def _in_text(
    node: Node, found: Iterable[credential_patterns.FoundCredential], where: str, resource: Resource | None, allow: tuple[str, ...]
) -> Iterator[Problem]:
    """One problem for each credential in a string, for the first one of each name. `where`: the subject of the message."""
    first: dict[str, credential_patterns.FoundCredential] = {}
    everything = []
    for each in found:
        everything.append(_span(node, each, resource) or node)
        first.setdefault(each.what, each)
    for what, each in first.items():
        if what not in allow:
            span = _span(node, each, resource)
            at = "value" if span else "key"
            message = f"{where} contains {_described(what)}"
            yield Problem(span or node, message, help=_MOVE, at=at, field=node)  # type: ignore[arg-type]


def _span(node: Node, found: credential_patterns.FoundCredential, resource: Resource | None) -> Span | None:
    """The position of a part of a value in the file, up to the end of its first line; None where the file writes it differently."""
    text = node.text
    quotes = 1 if node.style in ("'", '"') else 0
    if node.end - node.start == len(text) + 2 * quotes and "\n" not in text:
        return Span(node.start + quotes + found.start, node.start + quotes + found.end)
    if resource is None:
        return None
    source = resource.document.source
    part = text[found.start : found.end].partition("\n")[0]
    if node.style == "|":
        # Each line of the value is a line of the file, below the line of the "|".
        line = source.position(node.start).line + text.count("\n", 0, found.start) + 1
        begin = source.line_starts[line - 1] if line <= len(source.line_starts) else node.end
    else:
        begin = node.start + found.start
    at = source.text.find(part, begin, min(node.end, begin + len(part) + 400))
    return Span(at, at + len(part)) if at >= 0 and part and "\n" not in source.text[begin:at] else None
