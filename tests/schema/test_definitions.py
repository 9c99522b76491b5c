"""The tables of all versions hold what Kubernetes has, and the tool that makes them carries facts only where they are true."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kcheck.schema.builtin import definitions as tables
from kcheck.schema.builtin.definitions import Absence, Definitions, UnknownVersion, load
from kcheck.schema.shape import PRIMITIVES, Field, Shape
from tests.conftest import load_tool

ROOT = Path(__file__).resolve().parents[2]


def field(type_name: str, name: str, version: str = "1.36") -> Field:
    return load(version).shape(type_name).fields[name]


# --- what the versions hold


def test_thirteen_versions_are_available() -> None:
    assert tables.available() == tuple(f"1.{minor}" for minor in range(25, 38))
    assert tables.newest() == "1.37"


@pytest.mark.parametrize("version", tables.available())
def test_every_kind_and_type_of_a_version_resolves(version: str) -> None:
    definitions = load(version)
    assert definitions.version == version
    assert definitions.release.startswith(version + ".")
    for api_version, name in definitions.kinds():
        kind = definitions.kind(api_version, name)
        assert kind is not None
        assert kind.shape.kind == "object"
        assert {"apiVersion", "kind"} <= kind.shape.fields.keys()
        assert kind.plural == kind.plural.lower()
    for name in definitions.types():
        shape = definitions.shape(name)
        assert shape.name == name
        assert set(shape.required) <= shape.fields.keys()
        for each in shape.fields.values():
            complete(each.shape)
            assert each.list_type in ("", "map", "set")
            assert bool(each.list_keys) <= (each.list_type == "map")


def complete(shape: Shape) -> None:
    assert (shape.kind == "object" and shape.name) or shape.kind in ("map", "list", "any") or shape in PRIMITIVES.values()
    if shape.kind in ("map", "list"):
        assert shape.items is not None
    if shape.items is not None:
        complete(shape.items)


@pytest.mark.parametrize("version", tables.available())
def test_tables_are_small_and_stable(version: str) -> None:
    text = (tables.folder() / f"kubernetes-{version}.json").read_text()
    assert len(text) < 250_000
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) + "\n"
    assert "description" not in json.loads(text)["types"]["core/v1 Container"]["fields"]


@pytest.mark.parametrize(
    ("version", "api_version", "kind", "plural", "namespaced"),
    [
        ("1.25", "v1", "Pod", "pods", True),
        ("1.37", "v1", "Namespace", "namespaces", False),
        ("1.25", "v1", "Endpoints", "endpoints", True),
        ("1.25", "autoscaling/v2beta2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", True),
        ("1.27", "networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", True),
        ("1.28", "networking.k8s.io/v1alpha1", "ClusterCIDR", "clustercidrs", False),
        ("1.30", "resource.k8s.io/v1alpha2", "ResourceClass", "resourceclasses", False),
        ("1.30", "resource.k8s.io/v1alpha2", "ResourceClaimParameters", "resourceclaimparameters", True),
        ("1.31", "flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", "flowschemas", False),
        ("1.36", "apps/v1", "Deployment", "deployments", True),
        ("1.36", "apps/v1", "DeploymentList", "deployments", True),
        ("1.36", "policy/v1", "Eviction", "", True),
        ("1.36", "apiregistration.k8s.io/v1", "APIService", "apiservices", False),
        ("1.36", "authentication.k8s.io/v1", "TokenReview", "tokenreviews", False),
        ("1.36", "storage.k8s.io/v1", "StorageClass", "storageclasses", False),
        ("1.37", "resource.k8s.io/v1alpha3", "ResourcePoolStatusRequest", "resourcepoolstatusrequests", False),
        ("1.37", "lifecycle.k8s.io/v1alpha1", "Eviction", "evictions", True),
    ],
)
def test_kinds_have_plural_and_scope(version: str, api_version: str, kind: str, plural: str, namespaced: bool) -> None:
    found = load(version).kind(api_version, kind)
    assert found is not None
    assert (found.api_version, found.name, found.plural, found.namespaced) == (api_version, kind, plural, namespaced)


@pytest.mark.parametrize(
    ("version", "api_version", "kind"),
    [
        ("1.25", "policy/v1beta1", "PodDisruptionBudget"),
        ("1.25", "policy/v1beta1", "PodSecurityPolicy"),
        ("1.25", "autoscaling/v2beta1", "HorizontalPodAutoscaler"),
        ("1.26", "autoscaling/v2beta2", "HorizontalPodAutoscaler"),
        ("1.32", "flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema"),
        ("1.25", "batch/v1beta1", "CronJob"),
        ("1.36", "v1", "pod"),
        ("1.36", "V1", "Pod"),
        ("1.36", "core/v1", "Pod"),
        ("1.36", "v1", "Status"),
        ("1.36", "v1", "DeleteOptions"),
        ("1.36", "v1", "APIResourceList"),
        ("1.36", "", ""),
    ],
)
def test_what_is_not_served_is_none(version: str, api_version: str, kind: str) -> None:
    assert load(version).kind(api_version, kind) is None


# --- shapes


def test_container_port() -> None:
    port = load("1.36").shape("core/v1 ContainerPort")
    assert set(port.fields) == {"containerPort", "hostIP", "hostPort", "name", "protocol"}
    assert port.required == ("containerPort",)
    assert (port.fields["containerPort"].shape.kind, port.fields["containerPort"].shape.format) == ("integer", "int32")
    assert port.fields["containerPort"].plain
    assert not port.fields["protocol"].plain
    assert port.fields["protocol"].enum == ("SCTP", "TCP", "UDP")
    assert port.fields["protocol"].default == "TCP"
    assert port.fields["hostPort"].default is None
    assert port.fields["name"].shape is PRIMITIVES["string"]


@pytest.mark.parametrize("version", tables.available())
def test_a_schema_contains_itself(version: str) -> None:
    schema = load(version).shape("apiextensions/v1 JSONSchemaProps")
    assert schema.fields["properties"].shape.kind == "map"
    assert schema.fields["properties"].shape.items is schema
    assert schema.fields["allOf"].shape.kind == "list"
    assert schema.fields["allOf"].shape.items is schema
    assert schema.fields["not"].shape is schema
    for name in ("items", "additionalProperties", "additionalItems"):
        assert schema.fields[name].shape.kind == "any"
        assert schema.fields[name].shape.items is schema
    assert schema.fields["default"].shape is PRIMITIVES["any"]


@pytest.mark.parametrize(
    ("type_name", "name", "kind", "items"),
    [
        ("core/v1 ConfigMap", "data", "map", "string"),
        ("core/v1 Secret", "data", "map", "bytes"),
        ("core/v1 ResourceRequirements", "limits", "map", "quantity"),
        ("authorization/v1 SubjectAccessReviewSpec", "extra", "map", "list"),
        ("core/v1 PodSpec", "containers", "list", "object"),
        ("core/v1 Container", "args", "list", "string"),
        ("core/v1 HTTPGetAction", "port", "int-or-string", ""),
        ("coordination/v1 LeaseSpec", "renewTime", "micro-time", ""),
        ("meta/v1 ObjectMeta", "creationTimestamp", "time", ""),
        ("meta/v1 ManagedFieldsEntry", "fieldsV1", "any", ""),
        ("apps/v1 ControllerRevision", "data", "raw", ""),
        ("apiextensions/v1 JSONSchemaProps", "maximum", "number", ""),
        ("apps/v1 DeploymentSpec", "paused", "boolean", ""),
        ("apps/v1 DeploymentSpec", "template", "object", ""),
        ("admissionregistration/v1 WebhookClientConfig", "caBundle", "bytes", ""),
    ],
)
def test_every_kind_of_shape(type_name: str, name: str, kind: str, items: str) -> None:
    shape = field(type_name, name).shape
    assert shape.kind == kind
    assert (shape.items.kind if shape.items else "") == items


def test_types_are_shared_and_reached_from_kinds() -> None:
    definitions = load("1.36")
    deployment = definitions.kind("apps/v1", "Deployment")
    assert deployment is not None
    assert definitions.kind("apps/v1", "Deployment") is deployment
    spec = deployment.shape.fields["spec"].shape.fields["template"].shape.fields["spec"].shape
    assert spec is definitions.shape("core/v1 PodSpec")
    for name in ("core/v1 Nothing", "string", "[]core/v1 Pod"):
        with pytest.raises(KeyError):
            definitions.shape(name)


def test_fields_know_lists_defaults_and_plainness() -> None:
    containers = field("core/v1 PodSpec", "containers", "1.25")
    assert (containers.list_type, containers.list_keys) == ("map", ("name",))
    assert field("meta/v1 ObjectMeta", "finalizers").list_type == "set"
    assert field("core/v1 Container", "args").list_type == ""
    assert field("core/v1 PersistentVolumeClaimSpec", "accessModes").enum[:2] == ("ReadOnlyMany", "ReadWriteMany")
    assert field("core/v1 Pod", "metadata", "1.25").plain
    assert field("core/v1 Pod", "metadata", "1.25").default is None
    assert not field("apps/v1 DeploymentSpec", "replicas").plain
    # A list that was a set before it was a map keeps what its own version says, without the keys of the later one.
    claims = field("core/v1 ResourceRequirements", "claims", "1.26")
    assert (claims.list_type, claims.list_keys) == ("set", ())


def test_an_enumeration_is_the_one_of_its_version() -> None:
    assert field("core/v1 Toleration", "operator", "1.34").enum == ("Equal", "Exists")
    assert field("core/v1 Toleration", "operator", "1.35").enum == ("Equal", "Exists", "Gt", "Lt")
    assert "FailIndex" not in field("batch/v1 PodFailurePolicyRule", "action", "1.27").enum
    assert "FailIndex" in field("batch/v1 PodFailurePolicyRule", "action", "1.28").enum
    assert field("admissionregistration/v1beta1 MatchResources", "matchPolicy", "1.37").enum == ("Equivalent", "Exact")
    # The name of the kind is no enumeration, though the source of the tables writes it as one.
    assert field("core/v1 Pod", "kind").enum == ()


def test_fields_come_and_go() -> None:
    assert "workloadRef" in load("1.35").shape("core/v1 PodSpec").fields
    assert "workloadRef" not in load("1.36").shape("core/v1 PodSpec").fields
    assert "hostUsers" in load("1.25").shape("core/v1 PodSpec").fields
    assert "resizePolicy" not in load("1.26").shape("core/v1 Container").fields


def test_shapes_are_slots() -> None:
    for each in (Shape("string"), Field(Shape("string"))):
        assert not hasattr(each, "__dict__")
    schema = load("1.36").shape("apiextensions/v1 JSONSchemaProps")
    assert repr(schema) == "Shape('object', 'apiextensions/v1 JSONSchemaProps')"
    assert "JSONSchemaProps" in repr(schema.fields["not"])


# --- versions, removed and later kinds


@pytest.mark.parametrize("spelling", ["1.36", "v1.36", "1.36.0", "v1.36.2", "1.36.1+k3s1", "1.36.4-eks-abc"])
def test_a_version_may_be_written_in_several_ways(spelling: str) -> None:
    assert load(spelling) is load("1.36")
    assert load() is load(tables.newest())  # without one it is the newest


@pytest.mark.parametrize("version", ["1.24", "1.99", "2.0", "1", "latest", "../1.36", "1.36/", " 1.36", "1.36.x"])
def test_an_unknown_version_says_what_is_known(version: str) -> None:
    with pytest.raises(UnknownVersion, match=r"1\.25 to 1\.37"):
        load(version)


@pytest.mark.parametrize(
    ("version", "gone", "removed", "replacement"),
    [
        ("1.36", "extensions/v1beta1 Deployment", "1.16", "apps/v1"),
        ("1.36", "extensions/v1beta1 PodSecurityPolicy", "1.16", ""),
        ("1.36", "extensions/v1beta1 Ingress", "1.22", "networking.k8s.io/v1"),
        ("1.36", "apps/v1beta2 StatefulSet", "1.16", "apps/v1"),
        ("1.36", "extensions/v1beta1 NetworkPolicy", "1.16", "networking.k8s.io/v1"),
        ("1.36", "settings.k8s.io/v1alpha1 PodPreset", "1.20", ""),
        ("1.36", "networking.k8s.io/v1beta1 Ingress", "1.22", "networking.k8s.io/v1"),
        ("1.36", "batch/v1beta1 CronJob", "1.25", "batch/v1"),
        ("1.36", "rbac.authorization.k8s.io/v1beta1 Role", "1.22", "rbac.authorization.k8s.io/v1"),
        ("1.36", "apiextensions.k8s.io/v1beta1 CustomResourceDefinition", "1.22", "apiextensions.k8s.io/v1"),
        ("1.25", "policy/v1beta1 PodDisruptionBudget", "1.25", "policy/v1"),
        ("1.36", "policy/v1beta1 PodSecurityPolicy", "1.25", ""),
        ("1.36", "autoscaling/v2beta2 HorizontalPodAutoscaler", "1.26", "autoscaling/v2"),
        ("1.36", "storage.k8s.io/v1beta1 CSIStorageCapacity", "1.27", "storage.k8s.io/v1"),
        ("1.28", "flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema", "1.26", "flowcontrol.apiserver.k8s.io/v1beta3"),
        ("1.36", "flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema", "1.26", "flowcontrol.apiserver.k8s.io/v1"),
        ("1.37", "networking.k8s.io/v1beta1 IPAddress", "1.37", "networking.k8s.io/v1"),
    ],
)
def test_what_was_removed_tells_when_and_what_instead(version: str, gone: str, removed: str, replacement: str) -> None:
    assert load(version).absence(*gone.split()) == Absence("", removed, replacement)


@pytest.mark.parametrize(
    ("version", "later", "added", "replacement"),
    [
        ("1.30", "resource.k8s.io/v1 ResourceClaim", "1.34", "resource.k8s.io/v1alpha2"),
        ("1.28", "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy", "1.30", "admissionregistration.k8s.io/v1beta1"),
        ("1.30", "networking.k8s.io/v1beta1 IPAddress", "1.31", "networking.k8s.io/v1alpha1"),  # gone again in 1.37
        ("1.36", "lifecycle.k8s.io/v1alpha1 Eviction", "1.37", ""),  # another thing than the Eviction of policy/v1
    ],
)
def test_what_comes_later_tells_when_and_what_instead(version: str, later: str, added: str, replacement: str) -> None:
    assert load(version).absence(*later.split()) == Absence(added, "", replacement)


@pytest.mark.parametrize(
    ("version", "api_version", "kind"),
    [
        ("1.36", "apps/v1", "Deployment"),  # served
        ("1.25", "autoscaling/v2beta2", "HorizontalPodAutoscaler"),  # still served
        ("1.36", "apps/v2", "Deployment"),  # never was
        ("1.36", "extensions/v1beta1", "Widget"),
        ("1.36", "serving.knative.dev/v1", "Service"),
    ],
)
def test_no_absence_of_what_is_served_or_never_was(version: str, api_version: str, kind: str) -> None:
    assert load(version).absence(api_version, kind) is None


def test_versions_of_a_kind_the_stable_first() -> None:
    assert load("1.36").versions_of("Deployment") == ("apps/v1",)
    assert load("1.36").versions_of("Event") == ("v1", "events.k8s.io/v1")
    assert load("1.25").versions_of("HorizontalPodAutoscaler") == ("autoscaling/v2", "autoscaling/v1", "autoscaling/v2beta2")
    assert load("1.36").versions_of("ResourceSlice") == ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1")
    assert load("1.36").versions_of("PodSecurityPolicy") == ()


def test_the_past_agrees_with_the_tables() -> None:
    past = json.loads((tables.folder() / "removed.json").read_text())
    for version in tables.available():
        for api_version, kind in load(version).kinds():
            removed = past["removed"].get(api_version, {}).get(kind, "1.999")
            added = past["added"].get(api_version, {}).get(kind, "1.0")
            assert number(added) <= number(version) < number(removed), (version, api_version, kind)


def number(version: str) -> int:
    return int(version.split(".")[1])


def test_definitions_of_a_table_of_ones_own() -> None:
    table = {
        "version": "1.36.3",
        "kinds": {"v1": {"Node": ["core/v1 Node", "nodes", False]}},
        "types": {"core/v1 Node": {"fields": {"kind": "string", "name": "string", "peers": "{}[]core/v1 Node"}, "plain": ["kind"]}},
    }
    node = Definitions(table).shape("core/v1 Node")
    peers = node.fields["peers"].shape
    assert peers.items is not None
    assert peers.items.items is node
    assert node.fields["kind"].plain
    assert not node.fields["name"].plain


# --- the tool


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load_tool("refresh_schemas")
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "removed.json").write_text('{"added": {}, "removed": {"old/v1": {"Box": "1.9"}}}')
    (tmp_path / "schemas" / "resources.json").write_text("{}")
    monkeypatch.setattr(module, "SCHEMAS", tmp_path / "schemas")
    monkeypatch.setattr(module, "VOCABULARY", tmp_path / "vocabulary.json")
    return module


def definitions_of(color: str, **more: Any) -> dict[str, Any]:
    """The definitions of a version with one kind and one type that no kind leads to."""
    return {
        "$defs": {
            "io.k8s.api.toys.v1.Box": {
                "type": ["object", "null"],
                "required": ["color"],
                "x-kubernetes-group-version-kind": [{"group": "toys.k8s.io", "version": "v1", "kind": "Box"}],
                "properties": {
                    "kind": {"type": ["string", "null"], "enum": ["Box"]},
                    "color": {"type": "string", "description": color},
                    "parts": {"type": ["array", "null"], "items": {"$ref": "#/$defs/io.k8s.api.toys.v1.Box"}},
                    "size": {"$ref": "#/$defs/io.k8s.apimachinery.pkg.api.resource.Quantity"},
                    **more,
                },
            },
            "io.k8s.api.toys.v1.Unused": {"type": "object", "properties": {"name": {"type": "string"}}},
            "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": "string"},
        }
    }


OPENAPI = {
    "version": "v1.51.2",
    "resources": [{"apiVersion": each, "kind": "Box", "resource": "boxes", "namespaced": True} for each in ("toys.k8s.io/v1", "old/v1")],
    "schemas": {
        "io.k8s.api.toys.v1.Box": {
            "properties": {
                "kind": {"type": "string"},
                "color": {"type": "string", "default": "", "enum": ["Blue", "Red", "Teal"]},
                "parts": {
                    "type": "array",
                    "items": {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.toys.v1.Box"}], "default": {}},
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["color"],
                },
                "size": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"}]},
                "weight": {"type": "integer", "format": "int32", "default": 7},
            }
        }
    },
}


def write_sources(tmp_path: Path, **versions: dict[str, Any]) -> list[str]:
    for name, document in versions.items():
        path = tmp_path / "definitions" / f"v1.{name[1:]}.0-local"
        path.mkdir(parents=True)
        (path / "_definitions.json").write_text(json.dumps(document))
    (tmp_path / "openapi.json").write_text(json.dumps(OPENAPI))
    return ["--definitions", str(tmp_path / "definitions")]


def test_the_tool_carries_facts_to_other_versions(tool: ModuleType, tmp_path: Path) -> None:
    weight = {"type": ["string", "null"]}  # another type than the server's: nothing is carried
    arguments = write_sources(tmp_path, v50=definitions_of("Red or Blue", weight=weight), v51=definitions_of("Red, Blue or Teal"))
    assert tool.main([*arguments, "--openapi", str(tmp_path / "openapi.json")]) == 0
    old, new = (json.loads((tmp_path / "schemas" / f"kubernetes-1.{minor}.json").read_text()) for minor in (50, 51))
    assert (old["version"], new["version"]) == ("1.50.0", "1.51.2")
    assert old["kinds"] == {"toys.k8s.io/v1": {"Box": ["toys/v1 Box", "boxes", True]}}
    assert list(old["types"]) == ["toys/v1 Box"]
    assert old["types"]["toys/v1 Box"] == {
        "fields": {
            "color": {"type": "string", "enum": ["Blue", "Red"]},
            "kind": "string",
            "size": "quantity",
            "weight": "string",
            "parts": {"type": "[]toys/v1 Box", "list": "map", "keys": ["color"]},
        },
        "required": ["color"],
        "plain": ["color"],
    }
    assert new["types"]["toys/v1 Box"]["fields"]["color"]["enum"] == ["Blue", "Red", "Teal"]
    assert json.loads((tmp_path / "schemas" / "removed.json").read_text())["removed"] == {"old/v1": {"Box": "1.9"}}
    before = [path.read_text() for path in sorted((tmp_path / "schemas").iterdir())]
    assert tool.main(arguments) == 0  # without the server's dump its facts come from the table made with it
    assert [path.read_text() for path in sorted((tmp_path / "schemas").iterdir())] == before


@pytest.mark.parametrize(
    ("group", "kind", "complaint"),
    [
        ("toys.k8s.io", "Robot", "unknown scope of toys.k8s.io Robot"),
        ("old", "Box", "contradicts the tables"),
    ],
)
def test_the_tool_stops_at_what_it_cannot_know(
    tool: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    group: str,
    kind: str,
    complaint: str,
) -> None:
    document = definitions_of("Red")
    document["$defs"]["io.k8s.api.toys.v1.Box"]["x-kubernetes-group-version-kind"] = [{"group": group, "version": "v1", "kind": kind}]
    assert tool.main([*write_sources(tmp_path, v51=document), "--openapi", str(tmp_path / "openapi.json")]) == 2
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "schemas" / "kubernetes-1.51.json").exists()


def test_the_tool_without_sources_says_so(tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--definitions", str(tmp_path)]) == 2
    assert "no v1.*-local" in capsys.readouterr().err
    assert tool.main(write_sources(tmp_path, v51=definitions_of("Red"))) == 2
    assert "pass --openapi" in capsys.readouterr().err
