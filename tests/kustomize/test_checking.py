"""The checks of manifests run on built objects, and what they find has its place in the files of the user."""

from kcheck.check.document import check_documents
from kcheck.check.session import Session
from kcheck.rule.ruleset import choose
from kcheck.schema.builtin.definitions import load
from kcheck.schema.store import Store
from kcheck.testing.texts import registry_with
from tests.kustomize.building import DEPLOYMENT, Repository


def findings(*files: tuple[str, str]) -> list[tuple[str, str, int, str]]:
    """Rule, file, line and field of each finding in the objects of a build."""
    repository = Repository(dict(files))
    objects = repository.build().objects
    registry = registry_with()
    rules = choose(registry, ["spec"])
    documents = [repository.library.document(each.node) for each in objects]
    found = []
    for each in check_documents(documents, Session(registry, rules, [Store(load("1.36"))]), rules).findings:
        source, start, _ = repository.library.extent(each.place.start, each.place.start)
        found.append((each.rule, source.path, source.position(start).line, each.place.field))
    return sorted(found)


def test_findings_stand_where_the_values_are_written() -> None:
    kustomization = """\
resources: [base]
namespace: Live
labels:
- pairs: {team: "a b"}
replicas:
- {name: web, count: -1}
patches:
- path: patch.yaml
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/paussed, value: true}
"""
    patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  minReadySeconds: -5\n"
    base = DEPLOYMENT.replace("value: a", "value: a\n        ports: [{containerPort: 99999}]")
    found = findings(
        ("kustomization.yaml", kustomization), ("patch.yaml", patch), ("base/kustomization.yaml", "resources: [web.yaml]\n"),
        ("base/web.yaml", base),
    )  # fmt: skip
    assert found == [
        ("invalid-label", "kustomization.yaml", 4, "metadata.labels"),
        ("invalid-name", "kustomization.yaml", 2, "metadata.namespace"),
        ("invalid-port-number", "base/web.yaml", 19, "spec.template.spec.containers[0].ports[0].containerPort"),
        ("number-out-of-range", "kustomization.yaml", 6, "spec.replicas"),
        ("number-out-of-range", "patch.yaml", 5, "spec.minReadySeconds"),
        ("unknown-field", "kustomization.yaml", 11, "spec.paussed"),
    ]
