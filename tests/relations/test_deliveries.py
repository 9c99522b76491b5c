"""What Argo CD and Flux are to deliver."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.relations.world import check, service

REPOSITORY = "https://git.example.com/shop.git"


def application(path: str, repository: str = REPOSITORY, more: str = "", name: str = "web") -> str:
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}, namespace: argocd}}
spec:
  project: shop
  source: {{repoURL: "{repository}", path: "{path}"}}
  destination: {{server: "https://kubernetes.default.svc", namespace: shop{more}}}
---
"""


def kustomization(path: str, more: str = "", name: str = "web") -> str:
    return f"""\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: {name}, namespace: flux-system}}
spec:
  interval: 1h
  prune: true
  path: "{path}"
  sourceRef: {{kind: GitRepository, name: flux-system}}{more}
---
"""


def project(repositories: str = '"*"', destinations: str = '{server: "*", namespace: "*"}') -> str:
    return f"""\
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {{name: shop, namespace: argocd}}
spec: {{sourceRepos: [{repositories}], destinations: [{destinations}]}}
---
"""


def reported(folder: Path, files: dict[str, str], *rules: str, complete: bool = False) -> list[str]:
    return [finding.concise for finding in check(folder, files, *rules, complete=complete)]


@pytest.mark.parametrize("path", ["apps/storefrnt", "./apps/storefrnt", "apps/storefrnt/"])
@pytest.mark.parametrize("deliver", [application, kustomization])
def test_a_slip_in_the_path(tmp_path: Path, deliver: object, path: str) -> None:
    assert callable(deliver)
    files = {"clusters/prod/web.yaml": deliver(path), "apps/storefront/web.yaml": service()}
    assert reported(tmp_path, files, "missing-source-path") == [
        'directory "apps/storefrnt" does not exist in the input; did you mean "apps/storefront"?'
    ]


def test_a_folder_that_is_there(tmp_path: Path) -> None:
    files = {"apps/storefront/web.yaml": service(), "charts/web/Chart.yaml": "name: web\nversion: 1.0.0\n"}
    text = application("apps/storefront") + application("charts/web", name="b") + application("apps", name="c") + application(".", name="d")
    assert reported(tmp_path, {**files, "clusters/prod/web.yaml": text}, "missing-source-path", complete=True) == []


def test_another_repository_is_none_of_ours(tmp_path: Path) -> None:
    files = {"apps/storefront/web.yaml": service(), "clusters/web.yaml": application("deploy/other") + application("{{path}}/x")}
    assert reported(tmp_path, files, "missing-source-path", complete=True) == []


def test_in_a_complete_input_all_folders_of_its_repository_are_there(tmp_path: Path) -> None:
    text = application("apps/storefront") + application("apps/orders", name="b")
    files = {"apps/storefront/web.yaml": service(), "clusters/web.yaml": text}
    assert reported(tmp_path, files, "missing-source-path") == []
    expected = ['directory "apps/orders" does not exist in the input; add the directory or correct the path']
    assert reported(tmp_path, files, "missing-source-path", complete=True) == expected


@pytest.mark.parametrize(
    ("allowed", "left"),
    [
        (project(), []),
        (project("https://git.example.com/*"), []),
        (project("https://GIT.example.com/shop"), []),
        (project("'https://git.example.com/{shop,x}'"), []),
        (project("https://git.example.com/other.git"), ["source"]),
        (project(destinations='{name: in-cluster, namespace: "sh*"}'), []),
        (project(destinations="{server: https://other.example.com, namespace: shop}"), ["cluster"]),
        (project(destinations='{server: "*", namespace: other}'), ["namespace"]),
    ],
)
def test_what_a_project_allows(tmp_path: Path, allowed: str, left: list[str]) -> None:
    messages = reported(tmp_path, {"a.yaml": allowed + application("apps/web")}, "application-not-permitted")
    assert [message.split("does not permit ")[1].split()[0] for message in messages] == left


def test_references_of_flux(tmp_path: Path) -> None:
    source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n---\n"
    values = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop-values, namespace: flux-system}\ndata: {values.yaml: a}\n---\n"
    release = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: flux-system}
spec: {interval: 1h, valuesFrom: [{kind: ConfigMap, name: shop-valus}, {kind: Secret, name: x, optional: true}]}
---
"""
    database = kustomization("a", name="database")
    files = {"a.yaml": source + values + release + database + kustomization("b", "\n  dependsOn: [{name: databse}]")}
    assert reported(tmp_path, files, "missing-referenced-object", "missing-config-map", "missing-secret") == [
        'ConfigMap "shop-valus" does not exist; did you mean "shop-values"?',
        'Kustomization "databse" does not exist; did you mean "database"?',
    ]
