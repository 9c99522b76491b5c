"""Settings one by one: what they make of small objects.

The outcomes follow kustomize's documentation. Where a comment says that kustomize does something else, and for the hashes, they were
recorded with kubectl 1.32.4.
"""

from typing import Any

import pytest

from tests.kustomize.building import CONFIG_MAP, DEPLOYMENT, Repository, built

MAP = {"map.yaml": CONFIG_MAP.format("a")}
WEB = {"web.yaml": DEPLOYMENT}


def patched(patch: str, kustomization: str = "") -> dict[str, Any]:
    """The spec of the Deployment after a strategic merge patch of its pod."""
    text = f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {{template: {{spec: {patch}}}}}\n"
    files = {**WEB, "p.yaml": text, "kustomization.yaml": f"resources: [web.yaml]\npatches: [{{path: p.yaml}}]\n{kustomization}"}
    spec: dict[str, Any] = built(files)["Deployment web"]["spec"]["template"]["spec"]
    return spec


def test_nested_bases_apply_from_the_inside() -> None:
    files = {
        **MAP, "kustomization.yaml": "resources: [map.yaml]\nnamePrefix: in-\n",
        "mid/kustomization.yaml": "bases: [..]\nnamePrefix: mid-\nnameSuffix: -end\n",
        "out/kustomization.yaml": "resources: [../mid]\nnamePrefix: out-\n",
    }  # fmt: skip
    assert list(built(files, "out")) == ["ConfigMap out-mid-in-a-end"]


def test_component_changes_the_objects_of_the_one_that_names_it() -> None:
    files = {
        **MAP, "kustomization.yaml": "resources: [map.yaml]\ncomponents: [c]\n",
        "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -c\n",
    }  # fmt: skip
    assert list(built(files)) == ["ConfigMap a-c"]
    assert Repository(files).build("c").is_component


@pytest.mark.parametrize(
    ("kind", "namespace"), [("v1 ConfigMap", "live"), ("v1 PersistentVolume", None), ("example.com/v1 Widget", "live")]
)  # fmt: skip
def test_namespace_is_not_set_on_cluster_scoped_kinds(kind: str, namespace: str | None) -> None:
    api_version, _, name = kind.partition(" ")
    text = f"apiVersion: {api_version}\nkind: {name}\nmetadata:\n  name: x\n"
    found = built({"x.yaml": text, "kustomization.yaml": "resources: [x.yaml]\nnamespace: live\n"})
    assert found[f"{name} x"]["metadata"].get("namespace") == namespace


def test_namespace_renames_namespaces_and_subjects() -> None:
    text = (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: old}\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n"
        "metadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\n"
        "subjects: [{kind: ServiceAccount, name: default}, {kind: ServiceAccount, name: other, namespace: far}]\n"
    )
    found = built({"x.yaml": text, "kustomization.yaml": "resources: [x.yaml]\nnamespace: live\n"})
    assert "Namespace live" in found
    assert [each.get("namespace") for each in found["RoleBinding b"]["subjects"]] == ["live", "far"]


def test_labels_by_what_they_include() -> None:
    kustomization = "resources: [web.yaml]\nlabels:\n- pairs: {{a: b}}\n  {}\n"
    places = {
        "includeSelectors: false": (1, 0, 0), "includeTemplates: true": (1, 1, 0), "includeSelectors: true": (1, 1, 1),
        "fields: [{path: spec/selector/matchLabels, create: true}]": (1, 0, 1),
    }  # fmt: skip
    for option, expected in places.items():
        web = built({**WEB, "kustomization.yaml": kustomization.format(option)})["Deployment web"]
        maps = (web["metadata"]["labels"], web["spec"]["template"]["metadata"]["labels"], web["spec"]["selector"]["matchLabels"])
        assert tuple(int("a" in each) for each in maps) == expected


@pytest.mark.parametrize(
    ("image", "setting", "expected"),
    [
        ("nginx", "{name: nginx, newTag: '2'}", "nginx:2"),
        ("nginx:1@sha256:ab", "{name: nginx, newTag: '2'}", "nginx:2"),
        ("nginx:1", "{name: nginx, digest: 'sha256:ab'}", "nginx@sha256:ab"),
        ("nginx:1", "{name: nginx, newName: r.io/n}", "r.io/n:1"),
        # kustomize goes through the images of pods twice.
        ("nginx:1", "{name: nginx, tagSuffix: -slim}", "nginx:1-slim-slim"),
        ("r.io:5000/nginx:1", "{name: 'r.io:5000/nginx', newTag: '2'}", "r.io:5000/nginx:2"),
        ("my-nginx:1", "{name: nginx, newTag: '2'}", "my-nginx:1"),
        ("r.io/nginx:1", "{name: '.*/nginx', newTag: '2'}", "r.io/nginx:2"),
    ],
)
def test_images(image: str, setting: str, expected: str) -> None:
    files = {"web.yaml": DEPLOYMENT.replace("nginx:1.0", image), "kustomization.yaml": f"resources: [web.yaml]\nimages: [{setting}]\n"}
    assert built(files)["Deployment web"]["spec"]["template"]["spec"]["containers"][0]["image"] == expected


def test_patch_merges_by_key_and_puts_its_items_first() -> None:
    patch = "{containers: [{name: new, image: b}, {name: web, env: [{name: B, value: b}, {name: A, value: x}]}]}"
    containers = patched(patch)["containers"]
    assert [each["name"] for each in containers] == ["new", "web"]
    assert containers[1]["env"] == [{"name": "B", "value": "b"}, {"name": "A", "value": "x"}]
    assert containers[1]["image"] == "nginx:1.0"


@pytest.mark.parametrize(
    ("patch", "containers"),
    [
        ("{containers: [{name: web, $patch: delete}]}", []),
        # kustomize does not replace items of lists that it merges.
        (
            "{containers: [{name: web, $patch: replace}]}",
            [{"name": "web", "image": "nginx:1.0", "env": [{"name": "A", "value": "a"}]}],
        ),
        ("{containers: [{$patch: replace}, {name: x}]}", [{"name": "x"}]),
        ("{containers: null}", None),
        ("{$patch: replace, nodeName: n}", None),
        ("{containers: [{name: web, image: null, env: null}]}", [{"name": "web"}]),
    ],
)
def test_patch_directives(patch: str, containers: object) -> None:
    assert patched(patch).get("containers") == containers


def test_patch_of_a_custom_resource_replaces_lists() -> None:
    head = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: "
    files = {
        "w.yaml": head + "{containers: [{name: a}], map: {x: 1}}\n", "p.yaml": head + "{containers: [{name: b}], map: {y: 2}}\n",
        "kustomization.yaml": "resources: [w.yaml]\npatchesStrategicMerge: [p.yaml]\n",
    }  # fmt: skip
    assert built(files)["Widget w"]["spec"] == {"containers": [{"name": "b"}], "map": {"x": 1, "y": 2}}


def test_patch_by_target_ignores_its_own_name() -> None:
    files = {
        **MAP, "b.yaml": CONFIG_MAP.format("b"),
        "kustomization.yaml": "resources: [map.yaml, b.yaml]\npatches:\n- target: {kind: Config.*}\n"
        "  patch: |\n    {apiVersion: v1, kind: ConfigMap, metadata: {name: any}, data: {k: v}}\n",
    }  # fmt: skip
    assert {name: each.get("data") for name, each in built(files).items()} == {"ConfigMap a": {"k": "v"}, "ConfigMap b": {"k": "v"}}


def test_references_follow_names() -> None:
    volumes = "[{name: v, configMap: {name: a}}, {name: w, secret: {secretName: a}}]"
    pod = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec:\n  volumes: {volumes}\n"
    files = {**MAP, "pod.yaml": pod, "kustomization.yaml": "resources: [map.yaml, pod.yaml]\nnamePrefix: my-\n"}
    first, second = built(files)["Pod my-p"]["spec"]["volumes"]
    # There is no Secret of that name in the build.
    assert (first["configMap"]["name"], second["secret"]["secretName"]) == ("my-a", "a")


def test_reference_to_one_of_two_of_the_same_first_name() -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  volumes: [{name: v, configMap: {name: a}}]\n"
    files = {
        **MAP, "kustomization.yaml": "resources: [map.yaml, pod.yaml]\n", "pod.yaml": pod,
        "x/kustomization.yaml": "resources: [..]\nnamePrefix: x-\n", "y/kustomization.yaml": "resources: [..]\nnamePrefix: y-\n",
        "all/kustomization.yaml": "resources: [../x, ../y]\n",
    }  # fmt: skip
    found = built(files, "all")
    assert [found[f"Pod {side}-p"]["spec"]["volumes"][0]["configMap"]["name"] for side in "xy"] == ["x-a", "y-a"]


# Recorded with kubectl 1.32.4.
@pytest.mark.parametrize(
    ("generator", "name"),
    [
        ("configMapGenerator: [{name: m, literals: [a=b]}]", "ConfigMap m-4h2mbtbbt6"),
        ("configMapGenerator: [{name: m}]", "ConfigMap m-6ct58987ht"),
        ("secretGenerator: [{name: m, literals: [a=b]}]", "Secret m-k695gkmbtk"),
        ("configMapGenerator: [{name: m, literals: ['a=<&> é']}]", "ConfigMap m-hdbkhh2dc4"),
        ("generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator: [{name: m}]", "ConfigMap m"),
    ],
)
def test_hash_of_generated_objects(generator: str, name: str) -> None:
    assert list(built({"kustomization.yaml": f"{generator}\n"})) == [name]


def test_yaml_is_read_as_kustomize_reads_it() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {switch: on, really: true, y: y}\n"
    found = built({"a.yaml": text, "kustomization.yaml": "resources: [a.yaml]\n"})
    assert found["ConfigMap a"]["data"] == {"switch": "on", "really": True, "y": "y"}


def test_settings_are_found_in_upper_and_lower_case() -> None:
    assert list(built({**MAP, "kustomization.yaml": "Resources: [map.yaml]\nnameprefix: x-\n"})) == ["ConfigMap x-a"]


def test_variable_that_leads_to_a_map_is_left_alone() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {v: $(V)}\n"
    variables = "vars: [{name: V, objref: {apiVersion: v1, kind: ConfigMap, name: a}, fieldref: {fieldPath: metadata}}]\n"
    found = built({"a.yaml": text, "kustomization.yaml": f"resources: [a.yaml]\n{variables}"})
    assert found["ConfigMap a"]["metadata"]["annotations"] == {"v": "$(V)"}
