"""Resources as RBAC names them."""

from __future__ import annotations

import json

from kcheck.schema.builtin.api_resources import aliases, homes, served
from kcheck.schema.builtin.definitions import available, folder, load
from tools.refresh_schemas import resources


def test_every_kind_of_every_version_has_its_resource() -> None:
    known = served()
    for version in available():
        definitions = load(version)
        for api_version, name in definitions.kinds():
            kind = definitions.kind(api_version, name)
            assert kind is not None
            if kind.plural:
                assert kind.plural in known[api_version.rpartition("/")[0]], f"{api_version} {name} of {version}"


def test_the_table_is_what_the_tool_makes() -> None:
    tables = {version: json.loads((folder() / f"kubernetes-{version}.json").read_text()) for version in available()}
    table = json.loads((folder() / "resources.json").read_text())
    assert resources(tables, table) == table


def test_resources_are_found_by_what_people_call_them() -> None:
    assert aliases()["deploy"] == aliases()["deployment"] == "deployments"
    assert homes()["events"] == ("", "events.k8s.io")
    assert not served()[""]["nodes"].namespaced
    assert "log" in served()[""]["pods"].parts
