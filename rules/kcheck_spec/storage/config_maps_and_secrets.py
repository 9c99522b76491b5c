"""ConfigMaps and Secrets. Source: ValidateConfigMap, ValidateSecret (pkg/apis/core/validation)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NoReturn

from kcheck.api import Complaint, Node, Problem, base64, declare, names, validator
from kcheck_spec.objects.metadata import size_limit

data_key = declare("invalid-data-key", "ConfigMap or Secret has an invalid data key", fixable=True)
secret_type = declare("secret-type-mismatch", "Secret data does not match its type (such as kubernetes.io/tls without tls.key)")

LIMIT = 1024 * 1024

_SERVICE_ACCOUNT = "kubernetes.io/service-account.name"

# The required keys of each type, and whether one of them is enough.
_KEYS = {
    "kubernetes.io/dockercfg": ((".dockercfg",), False),
    "kubernetes.io/dockerconfigjson": ((".dockerconfigjson",), False),
    "kubernetes.io/basic-auth": (("username", "password"), True),
    "kubernetes.io/ssh-auth": (("ssh-privatekey",), False),
    "kubernetes.io/tls": (("tls.crt", "tls.key"), False),
}


@validator("core/v1 ConfigMap", rule=data_key)
def config_keys_are_file_names(config: Node) -> Iterator[Problem]:
    """Yield invalid keys of data and binaryData, which become file names, and keys that are in both."""
    for bag in (config["data"], config["binaryData"]):
        yield from _bad_keys(bag, bag)
    for key, value in config["data"].entries:
        if key in config["binaryData"]:
            yield Problem(value, f'key "{key}" is in data and in binaryData', help="rename one of them", reason="Invalid", at="key")


@validator("core/v1 Secret", rule=data_key)
def secret_keys_are_file_names(secret: Node) -> Iterator[Problem]:
    """Yield invalid keys of data and stringData, which become file names. The API server reports keys of stringData in data."""
    yield from _bad_keys(secret["data"], secret["data"])
    yield from _bad_keys(secret["stringData"], secret["data"])


def _bad_keys(bag: Node, reported: Node) -> Iterator[Problem]:
    """Yield invalid keys of a map. `reported`: the map that the API server reports."""
    for key, value in bag.entries:
        wrong = names.config_key(key)
        if wrong:
            yield Problem(value, wrong, reason="Invalid", at="key", field=reported[key])


@validator("core/v1 ConfigMap", rule=size_limit)
def config_fits(config: Node) -> Iterator[Problem]:
    """Yield a ConfigMap whose values are larger than the limit. The API server reports the whole object."""
    size = sum(len(text(value)) for value in config["data"]) + sum(len(binary(value) or b"") for value in config["binaryData"])
    if size > LIMIT:
        yield Problem(config["data"] or config["binaryData"], _too_large(size), reason="TooLong", at="key", field="")


@validator("core/v1 Secret", rule=size_limit)
def secret_fits(secret: Node) -> Iterator[Problem]:
    """Yield a Secret whose values are larger than the limit."""
    size = sum(len(value) for value in contents(secret).values() if value is not None)
    if size > LIMIT:
        yield Problem(secret["data"] or secret["stringData"], _too_large(size), reason="TooLong", at="key", field=secret["data"])


def _too_large(size: int) -> str:
    return Complaint(f"the values have {size:,} bytes, more than the maximum of {LIMIT:,} (1 MiB)", "split them, or mount a volume")


@validator("core/v1 Secret", rule=secret_type)
def secret_keeps_its_promise(secret: Node) -> Iterator[Problem]:
    """Yield Secrets without the keys or annotation of their type, and Docker configurations that are not JSON objects."""
    kind = secret["type"].text
    if kind == "kubernetes.io/service-account-token":
        account = secret.at("metadata", "annotations", _SERVICE_ACCOUNT)
        if not account.text:
            message = f"annotation {_SERVICE_ACCOUNT} is required for type: {kind}"
            yield Problem(account, message, help="add it with the name of the ServiceAccount", reason="Required")
    if kind not in _KEYS:
        return
    keys, one_is_enough = _KEYS[kind]
    found = contents(secret)
    missing = [key for key in keys if key not in found or (key == "ssh-privatekey" and found[key] == b"")]
    if not missing or (one_is_enough and len(missing) < len(keys)):
        for key in (".dockercfg", ".dockerconfigjson"):
            held = found.get(key)
            if key in keys and held is not None and not _is_json_object(held):
                help = "use the contents of the configuration file of Docker"
                yield Problem(_entry(secret, key), f"{key} is not a JSON object", help=help, reason="Invalid", field=secret["data"][key])
        return
    bag = secret["data"] or secret["stringData"]
    for key in missing:
        message = f"{' or '.join(keys) if one_is_enough else key} is required for type: {kind}"
        yield Problem(bag[key], message, help=f"add {key}", reason="Required", field=secret["data"][key])


def contents(secret: Node) -> dict[str, bytes | None]:
    """The decoded values of a Secret by key, None for invalid base64. stringData overrides data."""
    found = {key: binary(value) for key, value in secret["data"].entries}
    return found | {key: text(value) for key, value in secret["stringData"].entries}


def text(node: Node) -> bytes:
    """The bytes of a string, empty for another value."""
    return node.text.encode("utf-8", "surrogatepass")


def binary(node: Node) -> bytes | None:
    """The decoded bytes of base64, None for invalid base64, which another rule reports."""
    try:
        return base64.decode(node.text)
    except base64.BadBase64:
        return None


def _entry(secret: Node, key: str) -> Node:
    return secret["stringData"][key] if key in secret["stringData"] else secret["data"][key]


def _is_json_object(data: bytes) -> bool:
    """Whether Go decodes the data into a map: an object or null."""

    def refuse(word: str) -> NoReturn:
        raise ValueError(word)

    try:
        value = json.loads(data.decode("utf-8", "replace"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return False
    return value is None or isinstance(value, dict)
