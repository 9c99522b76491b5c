"""What is used, by whom, and what nothing uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, facts, holder, workload

ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n---\n"
CUSTOM = """\
apiVersion: example.com/v1
kind: Database
metadata: {{name: main, namespace: shop}}
spec: {{{spec}}}
---
"""


def role(verbs: str, resources: str, kind: str = "Role", name: str = "reader", more: str = "") -> str:
    rule = f'{{apiGroups: [""], resources: [{resources}], verbs: [{verbs}]{more}}}'
    return f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}}}\nrules: [{rule}]\n---\n"


def binding(kind: str = "Role", name: str = "reader", account: str = "robot") -> str:
    return (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\n"
        f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {name}}}\n"
        f"subjects: [{{kind: ServiceAccount, name: {account}, namespace: shop}}]\n---\n"
    )


def unused(folder: Path, text: str, *more: str) -> list[str]:
    files = {f"{number}.yaml": each for number, each in enumerate((text, *more))}
    return [f.rule for f in check(folder, files, "unused-config-map", "unused-secret", "unused-service-account", "unused-key")]


def test_nothing_uses_it(tmp_path: Path) -> None:
    text = workload() + holder("ConfigMap", "shop-config") + holder("Secret", "shop-keys") + ACCOUNT
    assert unused(tmp_path, text) == ["unused-config-map", "unused-secret", "unused-service-account"]


def test_without_pods_in_sight_nothing_is_reported(tmp_path: Path) -> None:
    assert unused(tmp_path, holder("ConfigMap", "shop-config") + ACCOUNT) == []
    assert [f.rule for f in check(tmp_path, {}, "unused-config-map", complete=True)] == ["unused-config-map"]


@pytest.mark.parametrize(
    "user",
    [
        workload(container=", args: [--settings=shop/shop-config]"),
        workload(container=', env: [{name: SETTINGS, value: "other,shop-config"}]'),
        workload(metadata=", annotations: {example.com/config: shop-config}"),
        workload(pod=", volumes: [{name: v, projected: {sources: [{configMap: {name: shop-config}}]}}]"),
        workload() + CUSTOM.format(spec="settings: {from: shop-config}"),
        workload() + role("get", "configmaps", more=", resourceNames: [shop-config]"),
        workload() + role("get", "configmaps") + binding(),
        workload(pod=", volumes: [{name: v, configMap: {name: ctl}}]") + holder("ConfigMap", "ctl", 'a: "configMap: shop-config"'),
    ],
)  # fmt: skip
def test_it_is_used(tmp_path: Path, user: str) -> None:
    assert unused(tmp_path, user + holder("ConfigMap", "shop-config")) == []


@pytest.mark.parametrize(
    "metadata", [", labels: {grafana_dashboard: '1'}", ", annotations: {reloader.example.com/load: 'true'}", ", namespace: kube-system"]
)
def test_it_is_found_by_other_means(tmp_path: Path, metadata: str) -> None:
    assert unused(tmp_path, workload() + holder("ConfigMap", "shop-config", metadata=metadata)) == []


def test_labels_that_say_whose_it_is_mean_nothing(tmp_path: Path) -> None:
    labels = ", labels: {app: web, app.kubernetes.io/part-of: shop}"
    assert unused(tmp_path, workload() + holder("ConfigMap", "shop-config", metadata=labels)) == ["unused-config-map"]


def test_a_program_that_makes_pods_may_use_any_account(tmp_path: Path) -> None:
    assert unused(tmp_path, workload() + ACCOUNT + role("create", "pods") + binding()) == []


def test_entries_that_nothing_selects(tmp_path: Path) -> None:
    data = holder("ConfigMap", "web", "a: b, c: d, e: f")
    chosen = "{name: v, configMap: {name: web, items: [{key: a, path: a}]}}"
    variable = ", env: [{name: C, valueFrom: {configMapKeyRef: {name: web, key: c}}}]"
    (reported,) = check(tmp_path, {"a.yaml": workload(pod=f", volumes: [{chosen}]", container=variable) + data}, "unused-key")
    assert reported.concise == 'key "e" of ConfigMap "web" is not used in the input; remove the key or reference it'
    whole = ", volumes: [{name: v, configMap: {name: web}}]"
    assert not check(tmp_path, {"a.yaml": workload(pod=whole, container=variable) + data}, "unused-key")


def test_mounts_of_single_entries_choose_them(tmp_path: Path) -> None:
    pod = ", volumes: [{name: v, configMap: {name: web}}]"
    data = holder("ConfigMap", "web", "a: b, c: d")
    one = ", volumeMounts: [{name: v, mountPath: /a, subPath: a}]"
    assert len(check(tmp_path, {"a.yaml": workload(pod=pod, container=one) + data}, "unused-key")) == 1
    both = ", volumeMounts: [{name: v, mountPath: /a, subPath: a}, {name: v, mountPath: /all}]"
    assert not check(tmp_path, {"a.yaml": workload(pod=pod, container=both) + data}, "unused-key")


@pytest.mark.parametrize(
    ("spec", "kind", "name", "key"),
    [
        ("passwordSecretRef: {name: db, key: password}", "Secret", "db", "password"),
        ("auth: {secretKeyRef: {name: db, key: p}}", "Secret", "db", "p"),
        ("tls: {secretName: db-tls}", "Secret", "db-tls", ""),
        ("auth: {existingSecret: db}", "Secret", "db", ""),
        ("backup: {credentialsSecret: s3}", "Secret", "s3", ""),
        ("triggers: [{secretTargetRef: [{parameter: a, name: db, key: b}]}]", "Secret", "db", "b"),
        ("configMapRef: {name: settings}", "ConfigMap", "settings", ""),
        ("settingsConfigMapName: settings", "ConfigMap", "settings", ""),
        ("valuesFrom: [{kind: ConfigMap, name: values}]", "ConfigMap", "values", ""),
        ("pods: {imagePullSecrets: [{name: registry}]}", "Secret", "registry", ""),
    ],
)
def test_fields_of_custom_resources_that_name_what_they_read(spec: str, kind: str, name: str, key: str) -> None:
    (fact,) = facts(CUSTOM.format(spec=spec))
    assert [(r.kind, r.namespace, r.name, r.key) for r in fact.references] == [(kind, "shop", name, key)]


@pytest.mark.parametrize(
    "spec",
    ["privateKeySecretRef: {name: key}", "writeConnectionSecretToRef: {name: db}", "targetSecretName: db", 'secretName: "{{ name }}"',
     "secret: {size: 3}", "secretRef: {namespace: a}"],
)  # fmt: skip
def test_fields_of_custom_resources_that_name_nothing_to_read(spec: str) -> None:
    (fact,) = facts(CUSTOM.format(spec=spec))
    assert not fact.references


def test_a_slip_in_a_custom_resource_is_reported(tmp_path: Path) -> None:
    text = CUSTOM.format(spec="passwordSecretRef: {name: databse-password, key: password}")
    text += holder("Secret", "database-password", "password: a")
    (reported,) = check(tmp_path, {"a.yaml": text}, "missing-secret", "missing-key")
    assert reported.concise == 'Secret "databse-password" does not exist; did you mean "database-password"?'


def test_what_a_custom_resource_names_alone_may_be_made_for_it(tmp_path: Path) -> None:
    text = CUSTOM.format(spec="passwordSecretRef: {name: db}")
    assert not check(tmp_path, {"a.yaml": text}, "missing-secret")
    assert len(check(tmp_path, {"a.yaml": text}, "missing-secret", complete=True)) == 1
