"""Namespaces, parameters and other objects that policies read."""

from __future__ import annotations

import json

from kcheck.policy.known_objects import KnownObjects
from kcheck.policy.policy_input import KnownObject


def known(file: str, name: str, namespace: str = "", kind: str = "ConfigMap", **fields: str) -> KnownObject:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    text = json.dumps({"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": fields})
    return KnownObject(file, "v1", kind, namespace, name, text)


def test_objects_are_read_once_for_all_folders() -> None:
    objects = KnownObjects(known(f"{folder}/c.yaml", folder) for folder in "abc")
    one, other = (objects.of_kind("ConfigMap", f"{folder}/pod.yaml") for folder in "ab")
    assert [each["metadata"]["name"] for each in one] == ["a", "b", "c"]
    assert all(each is same for each, same in zip(one, other, strict=True))


def test_nearest_definition_applies() -> None:
    objects = KnownObjects([known("base/c.yaml", "c", at="base"), known("prod/c.yaml", "c", at="prod"), known("d.yaml", "d", at="root")])
    for folder in ("base", "prod"):
        assert [each["data"]["at"] for each in objects.of_kind("ConfigMap", f"{folder}/pod.yaml")] == [folder, "root"]


def test_no_namespace_is_the_namespace_default() -> None:
    objects = KnownObjects([known("x/c.yaml", "c", at="x"), known("y/c.yaml", "c", "default", at="y")])
    for folder in ("x", "y"):
        found = objects.find("", "ConfigMap", "default", "c", f"{folder}/pod.yaml")
        assert found is not None
        assert (found["data"]["at"], found["metadata"]["namespace"]) == (folder, "default")
    assert objects.find("", "ConfigMap", "shop", "c", "x/pod.yaml") is None
