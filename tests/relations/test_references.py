"""ConfigMaps and Secrets that pods refer to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, holder, lines, workload

RULES = ("missing-config-map", "missing-secret", "missing-key")


def uses(*references: str, pod: str = "", name: str = "web", metadata: str = "") -> str:
    """A Deployment whose container has these variables or sources of variables."""
    env = ", ".join(r for r in references if r.startswith("{name"))
    sources = ", ".join(r for r in references if not r.startswith("{name"))
    return workload(name, f"app: {name}", container=f", env: [{env}], envFrom: [{sources}]", pod=pod, metadata=metadata)


def key(kind: str, name: str, entry: str, more: str = "") -> str:
    field = "configMapKeyRef" if kind == "ConfigMap" else "secretKeyRef"
    return f"{{name: V, valueFrom: {{{field}: {{name: {name}, key: {entry}{more}}}}}}}"


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_a_key_that_is_not_there(kind: str, tmp_path: Path) -> None:
    files = {"a.yaml": holder(kind, "c", "a: b, d: e") + uses(key(kind, "c", "a"), key(kind, "c", "z"))}
    (finding,) = check(tmp_path, files, *RULES)
    assert (finding.rule, finding.concise) == ("missing-key", f'{kind} "c" has no key "z"; use one of "a", "d"')
    assert lines(tmp_path, [finding]) == ["a.yaml:13 z"]
    assert [related.place.range.start.line for related in finding.related] == [3]


def test_optional_references_may_miss(tmp_path: Path) -> None:
    text = holder("ConfigMap", "c") + uses(
        key("ConfigMap", "c", "z", ", optional: true"),
        key("Secret", "s", "z", ", optional: true"),
        "{secretRef: {name: x, optional: true}}",
    )
    assert check(tmp_path, {"a.yaml": text}, *RULES, complete=True) == []


@pytest.mark.parametrize(
    "metadata",
    [
        ", labels: {config.openshift.io/inject-trusted-cabundle: 'true'}",
        ", annotations: {service.beta.openshift.io/inject-cabundle: 'true'}",
        ", annotations: {secretgenerator.mittwald.de/autogenerate: password}",
    ],
)  # fmt: skip
def test_objects_that_somebody_fills(metadata: str, tmp_path: Path) -> None:
    assert check(tmp_path, {"a.yaml": holder("ConfigMap", "c", metadata=metadata) + uses(key("ConfigMap", "c", "z"))}, *RULES) == []


def test_objects_without_any_key_are_there_to_be_filled(tmp_path: Path) -> None:
    empty = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\n"
    token = "apiVersion: v1\nkind: Secret\nmetadata: {name: t}\ntype: kubernetes.io/service-account-token\ndata: {extra: YQ==}\n---\n"
    assert check(tmp_path, {"a.yaml": empty + token + uses(key("Secret", "s", "k"), key("Secret", "t", "token"))}, *RULES) == []


def test_binary_data_counts(tmp_path: Path) -> None:
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\nbinaryData: {z: YQ==}\n---\n"
    assert check(tmp_path, {"a.yaml": config + uses(key("ConfigMap", "c", "z"))}, *RULES) == []


def test_volumes_items_and_sub_paths(tmp_path: Path) -> None:
    pod = (
        ", volumes: [{name: all, configMap: {name: c}},"
        " {name: some, configMap: {name: c, items: [{key: a, path: x/y}, {key: b, path: z}]}},"
        " {name: both, projected: {sources: [{secret: {name: s, items: [{key: u, path: u}]}}]}}]"
    )
    mounts = (
        ", volumeMounts: [{name: all, mountPath: /a, subPath: a}, {name: all, mountPath: /b, subPath: q},"
        " {name: all, mountPath: /c, subPath: q/r},"
        " {name: some, mountPath: /d, subPath: z}]"
    )
    text = holder("ConfigMap", "c") + holder("Secret", "s", "v: w") + workload(pod=pod, container=mounts)
    found = check(tmp_path, {"a.yaml": text}, *RULES)
    assert [line.rpartition(" ")[2] for line in lines(tmp_path, found)] == ["q", "b", "u"]


def test_a_config_map_that_its_file_should_have(tmp_path: Path) -> None:
    text = holder("ConfigMap", "other") + uses("{configMapRef: {name: shop}}")
    assert lines(tmp_path, check(tmp_path, {"a.yaml": text}, *RULES)) == ["a.yaml:13 shop"]
    assert check(tmp_path, {"a.yaml": holder("ConfigMap", "other"), "b.yaml": uses("{configMapRef: {name: shop}}")}, *RULES) == []


def test_a_missing_object_is_reported_once_per_location(tmp_path: Path) -> None:
    pod = ", volumes: [{name: v, configMap: {name: gone, items: [{key: a, path: a}, {key: b, path: b}]}}]"
    assert len(check(tmp_path, {"a.yaml": workload(pod=pod)}, *RULES, complete=True)) == 1


def test_other_secrets_prove_nothing(tmp_path: Path) -> None:
    text = holder("Secret", "other") + uses("{secretRef: {name: shop}}")
    assert check(tmp_path, {"a.yaml": text}, *RULES) == []
    assert [f.rule for f in check(tmp_path, {"a.yaml": text}, *RULES, complete=True)] == ["missing-secret"]


@pytest.mark.parametrize(("kind", "source"), [("ConfigMap", "configMapRef"), ("Secret", "secretRef")])
def test_a_slip_in_a_name(kind: str, source: str, tmp_path: Path) -> None:
    files = {"config.yaml": holder(kind, "shop-config"), "web.yaml": uses(f"{{{source}: {{name: shop-confg}}}}")}
    (finding,) = check(tmp_path, files, *RULES)
    assert finding.concise == f'{kind} "shop-confg" does not exist; did you mean "shop-config"?'
    assert finding.fix is not None
    assert not finding.fix.safe
    used = {**files, "api.yaml": uses(f"{{{source}: {{name: shop-config}}}}", name="api")}
    assert check(tmp_path, used, *RULES) == []


def test_names_that_differ_in_digits_are_two_names(tmp_path: Path) -> None:
    files = {"config.yaml": holder("ConfigMap", "shop-config-2"), "web.yaml": uses("{configMapRef: {name: shop-config-1}}")}
    assert check(tmp_path, files, *RULES) == []


def test_another_namespace(tmp_path: Path) -> None:
    files = {
        "config.yaml": holder("ConfigMap", "shop", metadata=", namespace: a"),
        "web.yaml": uses("{configMapRef: {name: shop}}", metadata=", namespace: b"),
    }
    (finding,) = check(tmp_path, files, *RULES)
    assert finding.concise == (
        'ConfigMap "shop" does not exist in namespace "b", only in namespace "a"; add ConfigMap "shop" to namespace "b"'
    )
    later = {**files, "web.yaml": uses("{configMapRef: {name: shop}}")}
    assert check(tmp_path, later, *RULES) == []


def test_versions_side_by_side_are_not_mixed(tmp_path: Path) -> None:
    files = {
        "v1/config.yaml": holder("ConfigMap", "shop", "a: b"), "v1/web.yaml": uses(key("ConfigMap", "shop", "a")),
        "v2/config.yaml": holder("ConfigMap", "shop", "c: d"), "v2/web.yaml": uses(key("ConfigMap", "shop", "a")),
    }  # fmt: skip
    assert lines(tmp_path, check(tmp_path, files, *RULES)) == ["v2/web.yaml:8 a"]


def test_an_overlay_may_patch_the_config_map_of_its_base(tmp_path: Path) -> None:
    files = {
        "base/config.yaml": holder("ConfigMap", "shop", "a: b, c: d"),
        "base/web.yaml": uses(key("ConfigMap", "shop", "a")),
        "overlay/config.yaml": holder("ConfigMap", "shop", "a: z"),
        "overlay/worker.yaml": uses(key("ConfigMap", "shop", "c"), name="worker"),
    }
    assert check(tmp_path, files, *RULES) == []


MAKERS = {
    "external-secrets.io/v1 ExternalSecret": "target: {name: made}",
    "kubernetes-client.io/v1 ExternalSecret made": "x: y",
    "bitnami.com/v1alpha1 SealedSecret made": "encryptedData: {k: AgB}",
    "cert-manager.io/v1 Certificate": "secretName: made",
    "secrets-store.csi.x-k8s.io/v1 SecretProviderClass": "secretObjects: [{secretName: made}]",
    "secrets.hashicorp.com/v1beta1 VaultStaticSecret": "destination: {name: made, create: true}",
    "onepassword.com/v1 OnePasswordItem made": "itemPath: x",
    "kafka.strimzi.io/v1beta2 KafkaUser made": "authentication: {type: tls}",
    "acme.example.com/v1 Thing": "credentials: {output: made}",
    "database.example.org/v1 Postgres": "writeConnectionSecretToRef: {name: made}",
}


@pytest.mark.parametrize("what", MAKERS)
def test_secrets_that_something_in_the_input_makes(what: str, tmp_path: Path) -> None:
    version, kind, *name = what.split()
    custom = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name[0] if name else 'x'}}}\nspec: {{{MAKERS[what]}}}\n---\n"
    assert check(tmp_path, {"a.yaml": custom + uses("{secretRef: {name: made}}")}, *RULES, complete=True) == []
    assert len(check(tmp_path, {"a.yaml": custom + uses("{secretRef: {name: not-made}}")}, *RULES, complete=True)) == 1


def test_keys_of_what_is_made(tmp_path: Path) -> None:
    certificate = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: x}\nspec: {secretName: tls}\n---\n"
    sealed = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: s}\nspec: {encryptedData: {k: AgB}}\n---\n"
    pairs = (("tls", "tls.crt"), ("tls", "cert"), ("s", "k"), ("s", "q"))
    text = certificate + sealed + uses(*(key("Secret", *pair) for pair in pairs))
    assert [f.concise for f in check(tmp_path, {"a.yaml": text}, "missing-key")] == [
        'Secret "tls" has no key "cert"; use one of "ca.crt", "key.der", "keystore.jks", "keystore.p12", "tls-combined.pem", ...',
        'Secret "s" has no key "q"; did you mean "k"?',
    ]


def test_what_jobs_and_roles_mention(tmp_path: Path) -> None:
    job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n"
    job += "      containers: [{name: c, image: 'b:1', args: [create, --secret-name=made-by-job]}]\n---\n"
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r}\n"
    role += "rules: [{apiGroups: [''], resources: [secrets], resourceNames: [made-by-role], verbs: [update]}]\n---\n"
    text = job + role + uses(*(f"{{secretRef: {{name: {name}}}}}" for name in ("made-by-job", "made-by-role", "made-by-none")))
    assert [f.message.split('"')[1] for f in check(tmp_path, {"a.yaml": text}, *RULES, complete=True)] == ["made-by-none"]


def test_certificates_of_ingresses(tmp_path: Path) -> None:
    ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, annotations: {cert-manager.io/cluster-issuer: x}}\n"
    ingress += "spec: {tls: [{hosts: [a.example.com], secretName: tls}], defaultBackend: {service: {name: s, port: {number: 80}}}}\n---\n"
    assert check(tmp_path, {"a.yaml": ingress + uses("{secretRef: {name: tls}}")}, *RULES, complete=True) == []


def test_a_custom_resource_does_not_make_what_its_own_template_refers_to(tmp_path: Path) -> None:
    rollout = uses("{configMapRef: {name: gone}}").replace("apps/v1", "argoproj.io/v1alpha1").replace("kind: Deployment", "kind: Rollout")
    assert [f.rule for f in check(tmp_path, {"a.yaml": rollout}, *RULES, complete=True)] == ["missing-config-map"]


def test_config_maps_of_every_namespace(tmp_path: Path) -> None:
    text = uses("{configMapRef: {name: kube-root-ca.crt}}", "{configMapRef: {name: istio-ca-root-cert}}")
    assert check(tmp_path, {"a.yaml": text}, *RULES, complete=True) == []
