"""Rules about the consequences of changes, beyond the examples of their pages."""

from __future__ import annotations

import pytest

from kcheck.testing.texts import check_text

WORKLOAD = """\
apiVersion: apps/v1
kind: {kind}
metadata:
  name: web
spec:
{spec}  selector:
    matchLabels: {{app: web}}
  template:
    metadata:
      labels: {{app: web}}
    spec:
      containers:
        - name: web
          image: {image}
"""
CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {name}
spec: {{accessModes: [ReadWriteOnce], storageClassName: {of}}}
"""
OLD_INGRESS = """\
apiVersion: networking.k8s.io/v1beta1
kind: Ingress
metadata: {name: a}
spec: {backend: {serviceName: a, servicePort: 80}}
"""
SWITCHES = "          tty: true\n          stdin: true\n          stdinOnce: true\n          workingDir: /a\n"
APPLICATION = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec: {source: {repoURL: a, path: b}}\n"


def messages(rule: str, before: str, after: str) -> list[str]:
    return [finding.message for finding in check_text(after, [rule], before=before)]


@pytest.mark.parametrize(
    ("kind", "spec", "effect"),
    [
        ("Deployment", "", "replaces all Pods"),
        ("Deployment", "  strategy: {type: Recreate}\n", "stops all Pods before new ones start"),
        ("Deployment", "  paused: true\n", None),
        ("Deployment", "  replicas: 0\n", None),
        ("DaemonSet", "", "replaces the Pods of all nodes"),
        ("DaemonSet", "  updateStrategy: {type: OnDelete}\n", None),
        ("StatefulSet", "  serviceName: web\n", "replaces all Pods"),
        ("StatefulSet", "  replicas: 3\n  updateStrategy: {rollingUpdate: {partition: 2}}\n", "replaces the Pods with ordinals from 2"),
        ("StatefulSet", "  replicas: 3\n  updateStrategy: {rollingUpdate: {partition: 3}}\n", None),
    ],
)
def test_strategies_decide_which_pods_are_replaced(kind: str, spec: str, effect: str | None) -> None:
    old, new = (WORKLOAD.format(kind=kind, spec=spec, image=image) for image in ("web:1.0.0", "web:1.1.0"))
    expected = [] if effect is None else [f'image of container "web" changes, which {effect}']
    assert messages("pod-restart", old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("app: web}\n    spec", "app: web}\n      annotations: {a: b}\n    spec", "annotation a changes, which replaces all Pods"),
        ("    spec:\n", "    spec:\n      hostNetwork: true\n", "spec.template.spec.hostNetwork changes, which replaces all Pods"),
        ("        - name: web\n", "        - {name: proxy, image: a}\n        - name: web\n", 'container "proxy" changes'),
        ("          image", f"{SWITCHES}          image", "2 more fields"),
        ("        - name: web\n", "        - name: main\n", 'container "main" and spec.template.spec.containers change'),
    ],
)  # fmt: skip
def test_messages_name_the_fields(old: str, new: str, message: str) -> None:
    before = WORKLOAD.format(kind="Deployment", spec="", image="web:1.0.0")
    after = before.replace(old, new, 1)
    assert after != before
    (found,) = messages("pod-restart", before, after)
    assert message in found


def test_fields_that_equal_their_defaults_restart_nothing() -> None:
    before = WORKLOAD.format(kind="Deployment", spec="", image="web:1.0.0")
    after = before.replace("    spec:\n", "    spec:\n      restartPolicy: Always\n      dnsPolicy: ClusterFirst\n")
    assert messages("pod-restart", before, after) == []


@pytest.mark.parametrize("version", ["1.36", "1.35-1.36"])
def test_refused_changes_restart_nothing(version: str) -> None:
    """The selector cannot change, and an image without a name is never accepted."""
    before = WORKLOAD.format(kind="Deployment", spec="", image="web:1.0.0")
    for after in (before.replace("app: web", "app: shop"), before.replace("image: web:1.0.0", "image: ''")):
        found = check_text(after, ["pod-restart", "spec"], before=before, kubernetes=version)
        assert "pod-restart" not in {finding.rule for finding in found}
        assert "spec" in {finding.family for finding in found}


def test_other_kinds_and_contents_are_not_renamed() -> None:
    before = WORKLOAD.format(kind="Deployment", spec="", image="web:1.0.0")
    renamed = before.replace("name: web\nspec", "name: frontend\nspec")
    assert len(messages("renamed-object", before, renamed)) == 1
    assert messages("renamed-object", before, f"{APPLICATION}---\n{renamed}") == []
    assert messages("renamed-object", before, renamed.replace("Deployment", "DaemonSet")) == []
    assert messages("renamed-object", before, f"{before}---\n{renamed}") == []
    other = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: db}\nspec: {selector: {}, template: {}}\n"
    assert messages("renamed-object", before, other) == []


def test_claims_are_renamed_to_similar_ones_only() -> None:
    before = CLAIM.format(name="data", of="fast")
    assert messages("removed-persistent-volume-claim", before, CLAIM.format(name="database", of="fast")) == [
        'PersistentVolumeClaim was renamed from "data" to "database": the new volume is empty'
    ]
    assert messages("removed-persistent-volume-claim", before, before.replace("fast", "slow")) == []
    keep = before.replace("  name: data\n", "  name: data\n  annotations: {argocd.argoproj.io/sync-options: 'Prune=false'}\n")
    assert messages("removed-persistent-volume-claim", keep, CLAIM.format(name="database", of="fast")) == []


@pytest.mark.parametrize(
    ("before", "after", "dropped"),
    [
        (
            OLD_INGRESS,
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\nspec: {ingressClassName: a}\n",
            ["spec.backend"],
        ),
        (
            OLD_INGRESS,
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: a}\n"
            "spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}\n",
            [],
        ),
        (
            "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: '* * * * *', suspend: true}\n",
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: '* * * * *'}\n",
            [],
        ),
    ],
    ids=["dropped", "replaced", "known"],
)
def test_fields_that_a_new_version_lacks(before: str, after: str, dropped: list[str]) -> None:
    assert [message.split(" ")[0] for message in messages("dropped-field", before, after)] == dropped
