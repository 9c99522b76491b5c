"""Component configuration is typed like API objects and is none: the tables, and how kcheck tells kinds that are no more."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kcheck.kube.resource import resources
from kcheck.schema.builtin import definitions as tables
from kcheck.schema.builtin.components import end_of, instead_of
from kcheck.schema.builtin.definitions import load
from kcheck.schema.shape import Choice, Shape
from kcheck.schema.store import Store
from kcheck.testing import check_text
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

SCHEDULER = "kubescheduler.config.k8s.io/"
KIND = "KubeSchedulerConfiguration"


def store(version: str) -> Store:
    return Store(load(version))


def reported(text: str, version: str = "1.36") -> list[tuple[str, str]]:
    return [(f.rule, f.place.field) for f in check_text(text, kubernetes=version)]


def scheduler(rest: str, version: str = "v1") -> str:
    return f"apiVersion: {SCHEDULER}{version}\nkind: {KIND}\n{rest}"


def below(shape: Shape, seen: set[int]) -> Iterator[Shape]:
    """A shape and all that hangs on it."""
    if id(shape) in seen:
        return
    seen.add(id(shape))
    yield shape
    parts = [field.shape for field in shape.fields.values()]
    parts += [shape.items] if shape.items is not None else []
    parts += shape.of.values() if isinstance(shape, Choice) else []
    for part in parts:
        yield from below(part, seen)


@pytest.mark.parametrize("version", tables.available())
def test_every_type_of_a_version_resolves(version: str) -> None:
    components = store(version).components
    reached: set[str] = set()
    for api_version, name in components.kinds():
        kind = components.kind(api_version, name)
        assert kind is not None
        assert {"apiVersion", "kind"} <= kind.shape.fields.keys()
        assert "metadata" not in kind.shape.fields
        reached |= {shape.name for shape in below(kind.shape, set()) if shape.name}
    own = {name for name in components.types() if name not in load(version).types()}
    versions = {name.partition(" ")[0] for name in own if name.partition(" ")[0] in ("kubescheduler/v1beta2", "kubescheduler/v1beta3")}
    assert {name for name in own if name.partition(" ")[0] not in versions} <= reached


def test_every_field_that_is_required_or_plain_exists() -> None:
    table = json.loads((tables.folder() / "components.json").read_text())
    for name, entry in table["types"].items():
        assert {*entry.get("required", ()), *entry.get("plain", ())} <= entry["fields"].keys(), name


def test_fields_and_types_come_with_their_version() -> None:
    profile = "kubescheduler/v1 KubeSchedulerProfile"
    assert "percentageOfNodesToScore" not in store("1.25").components.shape(profile).fields
    assert "percentageOfNodesToScore" in store("1.26").components.shape(profile).fields
    args = store("1.33").components.shape("kubescheduler/v1 PluginConfig").fields["args"].shape
    assert isinstance(args, Choice)
    assert "DynamicResources" not in args.of
    assert "NodeAffinity" in args.of


@pytest.mark.parametrize(
    ("version", "served"),
    [("1.25", ["v1", "v1beta3", "v1beta2"]), ("1.27", ["v1", "v1beta3", "v1beta2"]), ("1.28", ["v1", "v1beta3"]), ("1.29", ["v1"])],
)
def test_versions_of_the_scheduler_configuration(version: str, served: list[str]) -> None:
    components = store(version).components
    assert components.versions_of(KIND) == tuple(f"{SCHEDULER}{each}" for each in served)
    for each in ("v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"):
        absence = store(version).absence(SCHEDULER + each, KIND)
        assert (absence is None) == (each in served)
        if absence is not None:
            assert absence.replacement == f"{SCHEDULER}v1"


def test_component_configuration_is_not_an_api_object() -> None:
    known = load("1.36")
    assert known.kind("v1", "Config") is None
    assert known.kind(f"{SCHEDULER}v1", KIND) is None
    assert store("1.36").builtin("v1", "Config") is None
    # No name, no namespace, no metadata at all is asked for.
    assert reported("apiVersion: v1\nkind: Config\n") == []
    assert reported(scheduler("")) == []
    (resource,) = resources(parse(Source("x", scheduler("")))[0])
    assert not resource.built_in
    assert resource.namespaced is None


def test_unknown_fields_and_wrong_types_are_reported_with_their_paths() -> None:
    cluster = "{name: a, cluster: {server: 'https://a', disable-compression: 1}}"
    text = f"apiVersion: v1\nkind: Config\ncurent-context: a\nclusters: [{cluster}]\n"
    assert reported(text) == [("unknown-field", "curent-context"), ("wrong-type", "clusters[0].cluster.disable-compression")]
    assert reported("apiVersion: v1\nkind: Config\nmetadata: {name: a}\n") == [("unknown-field", "metadata")]


def test_arguments_are_of_the_type_that_their_plugin_has() -> None:
    def with_args(name: str, args: str) -> str:
        return scheduler(f"profiles: [{{pluginConfig: [{{name: {name}, args: {args}}}]}}]\n")

    where = "profiles[0].pluginConfig[0].args"
    assert reported(with_args("NodeAffinity", "{affinity: {}}")) == [("unknown-field", f"{where}.affinity")]
    assert reported(with_args("InterPodAffinity", "{hardPodAffinityWeight: many}")) == [("wrong-type", f"{where}.hardPodAffinityWeight")]
    assert reported(with_args("Coscheduling", "{permitWaitingTimeSeconds: 10}")) == []
    assert reported(with_args("NodeAffinity", "null")) == []
    terms = "nodeSelectorTerms: [{matchExpressions: [{key: a, operator: in}]}]"
    field = ".addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator"
    affinity = f"{{addedAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{{terms}}}}}}}"
    assert reported(with_args("NodeAffinity", affinity)) == [("invalid-affinity-term", where + field)]


def test_older_versions_have_their_own_fields_and_are_deprecated() -> None:
    text = scheduler("healthzBindAddress: 0.0.0.0:10251\nprofiles: [{percentageOfNodesToScore: 50}]\n", "v1beta2")
    assert reported(text, "1.27") == [("deprecated-crd-version", "apiVersion"), ("unknown-field", "profiles[0].percentageOfNodesToScore")]
    assert reported(text) == [("removed-api", "apiVersion")]
    assert reported(scheduler("", "v1beta3"), "1.25") == []
    assert reported(scheduler("delayCacheUntilActive: true\n"), "1.27") == [("unknown-field", "delayCacheUntilActive")]


def test_a_kind_under_another_version_or_a_slip_of_it() -> None:
    assert reported("apiVersion: apps/v1\nkind: Config\n") == [("unknown-kind", "apiVersion")]
    (finding,) = check_text(scheduler("").replace("Configuration", "Config"))
    assert finding.rule == "unknown-kind"


@pytest.mark.parametrize(
    ("api_version", "kind", "words"),
    [
        ("v1", "Policy", "use a KubeSchedulerConfiguration"),
        ("policy/v1beta1", "PodSecurityPolicy", "label namespaces with pod-security.kubernetes.io/enforce"),
        ("extensions/v1beta1", "PodSecurityPolicy", "label namespaces with pod-security.kubernetes.io/enforce"),
        ("settings.k8s.io/v1alpha1", "PodPreset", "use a MutatingAdmissionPolicy"),
        ("servicecatalog.k8s.io/v1beta1", "ClusterServiceBroker", "retired in 2022"),
        ("servicecatalog.k8s.io/v1beta1", "ServiceBinding", "retired in 2022"),
    ],
)
def test_what_went_for_good_says_what_to_do_instead(api_version: str, kind: str, words: str) -> None:
    (finding,) = check_text(f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n")
    assert finding.rule == "removed-api"
    assert words in finding.concise


def test_with_its_crd_a_retired_group_is_one_like_others() -> None:
    crd = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: serviceinstances.servicecatalog.k8s.io}\n"
        "spec:\n  group: servicecatalog.k8s.io\n  scope: Namespaced\n  names: {kind: ServiceInstance, plural: serviceinstances}\n"
        "  versions: [{name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"
    )
    instance = "---\napiVersion: servicecatalog.k8s.io/v1beta1\nkind: ServiceInstance\nmetadata: {name: a}\n"
    found = check_text(crd + instance, ["removed-api", "missing-schema", "unknown-kind"])
    assert found == []


def test_advice_is_given_where_nothing_of_the_same_name_came_after() -> None:
    retired = json.loads((tables.folder() / "retired.json").read_text())
    past = json.loads((tables.folder() / "removed.json").read_text())["removed"]
    newest = load(tables.newest())
    gone = {
        f"{api_version.rpartition('/')[0]} {kind}".lstrip()
        for api_version, kinds in past.items()
        for kind in kinds
        if (absence := newest.absence(api_version, kind)) is not None and not absence.replacement
    }
    assert retired["kinds"].keys() - {"Policy"} <= gone
    assert instead_of("", "Pod") == ""
    assert end_of("apps") == ""
