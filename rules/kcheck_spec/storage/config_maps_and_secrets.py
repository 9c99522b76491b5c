"""ConfigMaps and Secrets. Source: ValidateConfigMap, ValidateSecret (pkg/apis/core/validation)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NoReturn

from kcheck.api import Node, Problem, base64, declare, names, validator
from kcheck_spec.objects.metadata import size_limit

data_key = declare("invalid-data-key", "ConfigMap or Secret has an invalid data key")
secret_type = declare("secret-type-mismatch", "Secret data does not match its type (such as kubernetes.io/tls without tls.key)")

LIMIT = 1024 * 1024

_SERVICE_ACCOUNT = "kubernetes.io/service-account.name"

# Keys that a type must have, and whether one of them is enough.
_KEYS = {
    "kubernetes.io/dockercfg": ((".dockercfg",), False),
    "kubernetes.io/dockerconfigjson": ((".dockerconfigjson",), False),
    "kubernetes.io/basic-auth": (("username", "password"), True),
    "kubernetes.io/ssh-auth": (("ssh-privatekey",), False),
    "kubernetes.io/tls": (("tls.crt", "tls.key"), False),
}


@validator("core/v1 ConfigMap", rule=data_key)
def config_keys_are_file_names(config: Node) -> Iterator[Problem]:
    """Keys become file names, and data and binaryData share them."""
    for bag in (config["data"], config["binaryData"]):
        yield from _bad_keys(bag, bag)
    for key, value in config["data"].entries:
        if key in config["binaryData"]:
            yield Problem(value, f"{key} stands in binaryData, too", help="give one of them another key", reason="Invalid", at="key")


@validator("core/v1 Secret", rule=data_key)
def secret_keys_are_file_names(secret: Node) -> Iterator[Problem]:
    """Keys become file names; stringData is a way to write data."""
    yield from _bad_keys(secret["data"], secret["data"])
    yield from _bad_keys(secret["stringData"], secret["data"])


def _bad_keys(bag: Node, meant: Node) -> Iterator[Problem]:
    for key, value in bag.entries:
        wrong = names.config_key(key)
        if wrong:
            yield Problem(value, wrong, reason="Invalid", at="key", field=meant[key])


@validator("core/v1 ConfigMap", rule=size_limit)
def config_fits(config: Node) -> Iterator[Problem]:
    """All values together. The server names the whole object."""
    size = sum(len(text(value)) for value in config["data"]) + sum(len(binary(value) or b"") for value in config["binaryData"])
    if size > LIMIT:
        yield Problem(config["data"] or config["binaryData"], _too_large(size), reason="TooLong", at="key", field="")


@validator("core/v1 Secret", rule=size_limit)
def secret_fits(secret: Node) -> Iterator[Problem]:
    """All values together."""
    size = sum(len(value) for value in contents(secret).values() if value is not None)
    if size > LIMIT:
        yield Problem(secret["data"] or secret["stringData"], _too_large(size), reason="TooLong", at="key", field=secret["data"])


def _too_large(size: int) -> str:
    return f"data of {size:,} bytes: all values together may have {LIMIT:,} (1 MiB), split them or mount a volume"


@validator("core/v1 Secret", rule=secret_type)
def secret_keeps_its_promise(secret: Node) -> Iterator[Problem]:
    """A type other than Opaque says which keys there are and what they hold."""
    kind = secret["type"].text
    if kind == "kubernetes.io/service-account-token":
        account = secret.at("metadata", "annotations", _SERVICE_ACCOUNT)
        if not account.text:
            message = f"a Secret of type {kind} names its ServiceAccount in the annotation {_SERVICE_ACCOUNT}"
            yield Problem(account, message, help="add it", reason="Required")
    if kind not in _KEYS:
        return
    keys, one_is_enough = _KEYS[kind]
    found = contents(secret)
    missing = [key for key in keys if key not in found or (key == "ssh-privatekey" and found[key] == b"")]
    if not missing or (one_is_enough and len(missing) < len(keys)):
        for key in (".dockercfg", ".dockerconfigjson"):
            held = found.get(key)
            if key in keys and held is not None and not _is_json_object(held):
                help = "write what docker writes to its config file"
                yield Problem(_entry(secret, key), f"{key} must be a JSON object", help=help, reason="Invalid", field=secret["data"][key])
        return
    bag = secret["data"] or secret["stringData"]
    for key in missing:
        message = f"a Secret of type {kind} needs {' or '.join(keys) if one_is_enough else key}"
        yield Problem(bag[key], message, help=f"add {key}", reason="Required", field=secret["data"][key])


def contents(secret: Node) -> dict[str, bytes | None]:
    """What the Secret holds, by key, None for what is not base64. stringData wins over data."""
    found = {key: binary(value) for key, value in secret["data"].entries}
    return found | {key: text(value) for key, value in secret["stringData"].entries}


def text(node: Node) -> bytes:
    """The bytes of a text, none for what is no text."""
    return node.text.encode("utf-8", "surrogatepass")


def binary(node: Node) -> bytes | None:
    """The bytes that base64 stands for, None for what is not base64 and told as such."""
    try:
        return base64.decode(node.text)
    except base64.BadBase64:
        return None


def _entry(secret: Node, key: str) -> Node:
    return secret["stringData"][key] if key in secret["stringData"] else secret["data"][key]


def _is_json_object(data: bytes) -> bool:
    """Whether Go reads it into a map: an object, or null."""

    def refuse(word: str) -> NoReturn:
        raise ValueError(word)

    try:
        value = json.loads(data.decode("utf-8", "replace"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return value is None or isinstance(value, dict)
