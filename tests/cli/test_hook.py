"""`kcheck hook` in real git repositories: what a commit breaks is reported wherever it is, and nothing else in other files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, Program
from tests.git import GitRepository, git, ignore_git_settings, run_git

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web-config\ndata:\n  LEVEL: info\n"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: web
          image: nginx:1.29.1
          resources:
            requests: {cpu: 10m, memory: 16Mi}
            limits: {memory: 16Mi}
          ports:
            - name: http
              containerPort: 8080
          readinessProbe:
            httpGet: {path: /, port: http}
          envFrom:
            - configMapRef:
                name: web-config
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector: {app: web}
  ports:
    - name: http
      port: 80
      targetPort: http
"""
INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
spec:
  rules:
    - host: web.example.com
      http:
        paths:
          - path: /
            pathType: Prefix
            backend:
              service:
                name: web
                port:
                  name: http
"""
APP = {"k8s/configmap.yaml": CONFIG_MAP, "k8s/deployment.yaml": DEPLOYMENT, "k8s/service.yaml": SERVICE, "k8s/ingress.yaml": INGRESS}
OLD_FAULT = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: old}\nspec: {containers: [{name: a, image: 'nginx:1.29.1', imagePullpolicy: Always}]}\n"
)


class Repository(GitRepository):
    """A repository in the current folder, and `kcheck hook` for its staged files, as pre-commit calls it."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program

    def hook(self, *arguments: str, files: list[str] | None = None) -> Outcome:
        if files is None:
            listed = git("diff", "--staged", "--name-only", "--diff-filter=ACMRTUXB", "-z").split("\0")
            files = [name for name in listed if name.endswith((".yaml", ".json"))]
        return self.program("hook", *arguments, *files)

    def findings(self, *arguments: str, files: list[str] | None = None) -> list[str]:
        """The findings as FILE rule."""
        lines = self.hook("--format", "concise", "--quiet", *arguments, files=files).out.splitlines()
        return [f"{line.split(':')[0]} {line.split('[')[1].split(']')[0]}" for line in lines]


@pytest.fixture
def repository(program: Program, monkeypatch: pytest.MonkeyPatch) -> Repository:
    ignore_git_settings(monkeypatch)
    return Repository(program)


@pytest.fixture
def app(repository: Repository) -> Repository:
    """An application in four files, and a fault in another one that was there before."""
    repository.commit({**APP, "old/pod.yaml": OLD_FAULT})
    return repository


COMPLETE = pytest.mark.parametrize("arguments", [(), ("--complete",)], ids=["default", "complete"])
GOOD: dict[str, dict[str, str | None]] = {
    "image": {"k8s/deployment.yaml": DEPLOYMENT.replace("1.29.1", "1.29.2")},
    "lines moved": {"k8s/deployment.yaml": f"# Web server\n\n{DEPLOYMENT}"},
    "file renamed": {"k8s/service.yaml": None, "k8s/svc.yaml": SERVICE},
    "object moved into another file": {"k8s/configmap.yaml": None, "k8s/deployment.yaml": f"{DEPLOYMENT}---\n{CONFIG_MAP}"},
    "object renamed with its references": {
        "k8s/configmap.yaml": CONFIG_MAP.replace("web-config", "settings"),
        "k8s/deployment.yaml": DEPLOYMENT.replace("web-config", "settings"),
    },
    "labels renamed with the selector": {
        "k8s/service.yaml": SERVICE.replace("app: web", "app: site"),
        "k8s/deployment.yaml": DEPLOYMENT.replace("app: web", "app: site"),
    },
    "object deleted with its references": {"k8s/configmap.yaml": None, "k8s/deployment.yaml": DEPLOYMENT.partition("          envFrom")[0]},
    "application deleted": dict.fromkeys(APP),
    "application added": {name.replace("k8s", "new"): text.replace("web", "new") for name, text in APP.items()},
    "only another file": {"README.md": "Text\n"},
    "files of other tools": {"compose.yaml": "services:\n  web: {image: nginx}\n", "settings.json": "[1]\n"},
    "fault fixed": {"old/pod.yaml": OLD_FAULT.replace("imagePullpolicy: Always", "resources: {limits: {memory: 1Mi}}")},
    "file with a fault deleted": {"old/pod.yaml": None},
}  # fmt: skip


@COMPLETE
@pytest.mark.parametrize("change", GOOD.values(), ids=GOOD.keys())
def test_a_good_commit_passes(app: Repository, change: dict[str, str | None], arguments: tuple[str, ...]) -> None:
    app.stage(change)
    done = app.hook(*arguments)
    assert done.code == 0, done.out
    assert "old/pod.yaml" not in done.out


BAD: dict[str, tuple[dict[str, str | None], str]] = {
    "selector": ({"k8s/service.yaml": SERVICE.replace("app: web", "app: webb")}, "k8s/service.yaml service-without-pods"),
    "labels": ({"k8s/deployment.yaml": DEPLOYMENT.replace("app: web", "app: site")}, "k8s/service.yaml service-without-pods"),
    "port name": ({"k8s/deployment.yaml": DEPLOYMENT.replace(": http", ": web")}, "k8s/service.yaml unknown-target-port-name"),
    "ConfigMap renamed": ({"k8s/configmap.yaml": CONFIG_MAP.replace("web-config", "web-conf")}, "k8s/deployment.yaml missing-config-map"),
    "ConfigMap deleted": ({"k8s/configmap.yaml": None}, "k8s/deployment.yaml missing-config-map"),
    "Deployment deleted": ({"k8s/deployment.yaml": None}, "k8s/service.yaml service-without-pods"),
    "Service deleted": ({"k8s/service.yaml": None}, "k8s/ingress.yaml missing-service"),
    "ConfigMap deleted in a commit of its user": (
        {"k8s/configmap.yaml": None, "k8s/deployment.yaml": DEPLOYMENT.replace("1.29.1", "1.29.2")},
        "k8s/deployment.yaml missing-config-map",
    ),
}


@COMPLETE
@pytest.mark.parametrize(("change", "finding"), BAD.values(), ids=BAD.keys())
def test_a_commit_that_breaks_something_elsewhere_is_rejected(
    app: Repository, change: dict[str, str | None], finding: str, arguments: tuple[str, ...]
) -> None:
    app.stage(change)
    assert app.findings(*arguments) == [finding]
    assert app.hook(*arguments).code == 1


def test_faults_in_passed_files_are_reported_even_if_they_are_old(app: Repository) -> None:
    app.stage({"old/pod.yaml": f"# comment\n{OLD_FAULT}"})
    assert "old/pod.yaml unknown-field" in app.findings()
    assert app.hook().code == 1


def test_the_report_says_why_an_unchanged_file_has_findings(app: Repository) -> None:
    commit = git("rev-parse", "HEAD")[:10]
    app.stage({"k8s/deployment.yaml": DEPLOYMENT.replace("app: web", "app: site")})
    said = app.hook().err
    assert said == f"kcheck: 1 finding is in a file that this commit does not change; compared with {commit}, the commit causes it\n"
    assert app.hook("--quiet").err == ""
    app.stage({"k8s/service.yaml": SERVICE.replace("app: web", "app: webb")})
    assert app.hook().err == ""


def test_references_to_objects_that_were_never_in_the_repository_pass(app: Repository) -> None:
    app.stage({"k8s/deployment.yaml": DEPLOYMENT.replace("web-config", "platform-settings")})
    assert app.hook().code == 0
    assert app.hook("--complete").code == 1


def test_the_first_commit_is_checked(repository: Repository) -> None:
    repository.stage({**APP})
    assert repository.hook().code == 0
    repository.stage({"k8s/service.yaml": SERVICE.replace("app: web", "app: webb")})
    assert repository.findings() == ["k8s/service.yaml service-without-pods"]


def test_untracked_files_are_not_part_of_the_repository(app: Repository) -> None:
    """pre-commit leaves them in the working tree, but the commit does not contain them."""
    app.stage({"k8s/configmap.yaml": None})
    app.write({"k8s/configmap.yaml": CONFIG_MAP, "k8s/scratch.yaml": OLD_FAULT})
    assert app.findings(files=[]) == ["k8s/deployment.yaml missing-config-map"]


def test_folders_with_untracked_files_are_checked_as_a_whole(repository: Repository) -> None:
    ingress = INGRESS.replace("name: web\n                port", "name: payments\n                port")
    repository.stage({"k8s/deployment.yaml": DEPLOYMENT, "k8s/web.yaml": f"{CONFIG_MAP}---\n{SERVICE}---\n{ingress}"})
    repository.write({"k8s/scratch.yaml": OLD_FAULT})
    assert repository.findings() == ["k8s/web.yaml missing-service"]


def test_files_that_the_config_of_the_hook_excludes_have_no_findings(app: Repository) -> None:
    app.stage({"vendor/pod.yaml": OLD_FAULT, "k8s/deployment.yaml": DEPLOYMENT.replace("1.29.1", "1.29.2")})
    assert app.findings(files=["k8s/deployment.yaml"]) == []


def test_changes_without_manifests_need_no_check(repository: Repository) -> None:
    repository.commit({"app.py": "a = 1\n"})
    repository.stage({"app.py": "a = 2\n"})
    assert repository.hook() == Outcome(0, "", "No manifests changed.\n")


def test_a_hook_that_never_checks_anything_fails(repository: Repository) -> None:
    """Otherwise it would succeed forever in a repository with charts only. Files of other tools are no reason to fail."""
    repository.commit({".pre-commit-config.yaml": "repos: []\n", "compose.yaml": "services: {}\n"})
    repository.stage({"compose.yaml": "services: {web: {image: nginx}}\n"})
    assert repository.hook().code == 0
    repository.stage({"web/Chart.yaml": "name: web\n", "web/templates/web.yaml": SERVICE})
    done = repository.hook()
    assert done.code == 2
    assert "no manifest in the repository was checked; web/templates/web.yaml was skipped: Helm template" in done.err
    repository.stage({"k8s/service.yaml": SERVICE})
    assert repository.hook().code == 0


def test_revisions_are_compared_with_their_common_ancestor(app: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in `pre-commit run --from-ref main --to-ref HEAD` and before a push."""
    git("switch", "--quiet", "--create", "feature")
    app.commit({"k8s/deployment.yaml": DEPLOYMENT.replace("app: web", "app: site")})
    app.commit({"README.md": "Text\n"})
    git("switch", "--quiet", "main")
    app.commit({"k8s/ingress.yaml": None})
    git("switch", "--quiet", "feature")
    assert app.findings() == []
    assert app.findings("--from-ref", "main", "--to-ref", "feature") == ["k8s/service.yaml service-without-pods"]
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "main")
    monkeypatch.setenv("PRE_COMMIT_TO_REF", "HEAD")
    assert app.findings() == ["k8s/service.yaml service-without-pods"]


def test_merges_are_compared_with_both_parents(app: Repository) -> None:
    """A fault of the merged branch is not one of the merge. What only both changes together break is."""
    git("switch", "--quiet", "--create", "feature")
    app.commit({"k8s/configmap.yaml": CONFIG_MAP.replace("info", "debug"), "k8s/broken.yaml": SERVICE.replace("web", "nothing")})
    app.commit({"k8s/job.yaml": DEPLOYMENT.replace("web", "job").replace("job-config", "web-config")})
    git("switch", "--quiet", "main")
    app.commit({"k8s/configmap.yaml": None, "k8s/deployment.yaml": DEPLOYMENT.partition("          envFrom")[0]})
    assert run_git(Path(), "merge", "feature").returncode == 1
    git("rm", "--quiet", "k8s/configmap.yaml")
    assert app.findings(files=[]) == ["k8s/job.yaml missing-config-map"]


def test_findings_are_relative_to_the_current_folder(app: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    app.stage({"k8s/service.yaml": None, "other/ingress.yaml": INGRESS})
    monkeypatch.chdir("k8s")
    assert app.findings(files=["../other/ingress.yaml"]) == ["../other/ingress.yaml missing-service", "ingress.yaml missing-service"]


def test_sparse_checkouts_lack_files_but_no_objects(app: Repository) -> None:
    app.commit({"shared/configmap.yaml": CONFIG_MAP, "k8s/configmap.yaml": None})
    git("sparse-checkout", "set", "k8s")
    assert not Path("shared").exists()
    app.stage({"k8s/ingress.yaml": INGRESS.replace("web.example", "www.example")})
    assert app.findings("--complete") == []


KUSTOMIZATION = "resources: [deployment.yaml, service.yaml]\nconfigMapGenerator:\n- name: web-config\n  files: [settings.properties]\n"


def test_files_of_kustomizations_count(repository: Repository) -> None:
    files = {"base/deployment.yaml": DEPLOYMENT, "base/service.yaml": SERVICE, "base/settings.properties": "a=b\n"}
    repository.commit({**files, "base/kustomization.yaml": KUSTOMIZATION})
    repository.stage({"base/service.yaml": None})
    assert repository.findings() == ["base/kustomization.yaml missing-kustomization-file"]
    repository.stage({"base/service.yaml": SERVICE, "base/settings.properties": None})
    assert repository.findings() == ["base/kustomization.yaml missing-kustomization-file"]
    repository.stage({"base/settings.properties": "a=c\n"})
    assert repository.findings() == []


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {size: {type: integer}}}}
"""


@pytest.mark.parametrize("arguments", [(), ("--schemas", "crds")], ids=["in the input", "as schemas"])
def test_changed_definitions_of_kinds_are_compared(repository: Repository, arguments: tuple[str, ...]) -> None:
    thing = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 1, colour: red}\n"
    repository.commit({"crds/things.yaml": CRD, "things/a.yaml": thing})
    repository.stage({"crds/things.yaml": CRD.replace("integer", "string")})
    assert repository.findings(*arguments) == ["things/a.yaml wrong-type"]


def test_the_config_applies_to_the_earlier_revision(repository: Repository) -> None:
    """Overrides, roles and exclude name files relative to the config. A finding that they disable must not look new."""
    config = "rules: {latest-tag: off}\noverrides: [{files: [old/*], rules: {latest-tag: error}}]\nexclude: [vendor]\n"
    latest = OLD_FAULT.replace("nginx:1.29.1", "nginx:latest")
    repository.commit({**APP, ".kcheck.yaml": config, "old/pod.yaml": latest, "vendor/configmap.yaml": CONFIG_MAP})
    repository.stage({"k8s/deployment.yaml": DEPLOYMENT.replace("1.29.1", "1.29.2")})
    assert repository.findings() == []
    # Objects in excluded files do not count in either revision.
    repository.stage({"k8s/configmap.yaml": None, "vendor/configmap.yaml": CONFIG_MAP.replace("web", "other")})
    assert repository.findings() == ["k8s/deployment.yaml missing-config-map"]
    repository.commit({"k8s/configmap.yaml": None, "vendor/configmap.yaml": CONFIG_MAP} if Path("k8s/configmap.yaml").exists() else {})
    repository.stage({"vendor/configmap.yaml": CONFIG_MAP.replace("web", "other")})
    assert repository.findings() == []
    # A changed config is not a change of the objects.
    repository.stage({".kcheck.yaml": config.replace("rules: {latest-tag: off}", "rules: {missing-memory-limit: error}")})
    assert repository.findings() == []


def test_the_cache_changes_no_result(app: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The findings of a commit are stored, and used when the next commit is compared with it."""
    monkeypatch.delenv("KCHECK_NO_CACHE")
    monkeypatch.setenv("KCHECK_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    app.stage({"k8s/ingress.yaml": INGRESS.replace("web.example", "www.example")})
    assert app.findings() == []
    git("commit", "--quiet", "--message", "change")
    monkeypatch.setattr("kcheck.cli.git.GitRepository.checked_out", _unexpected)
    app.stage({"k8s/deployment.yaml": DEPLOYMENT.replace("app: web", "app: site")})
    for _ in range(2):
        assert app.findings() == ["k8s/service.yaml service-without-pods"]
    # The findings depend on the options.
    assert "an earlier revision is checked out" in app.hook("--select", "all").err


def _unexpected(*_: object) -> None:
    raise AssertionError("an earlier revision is checked out")


FIXABLE = """\
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  hostNetwork: "false"
  containers:
    - {name: a, image: nginx:1.29.1}
"""


def test_only_passed_files_are_fixed(repository: Repository) -> None:
    repository.commit({"old.yaml": FIXABLE.replace("web", "old")})
    repository.stage({"new.yaml": FIXABLE})
    done = repository.hook("--fix")
    assert done.code == 1
    assert done.err == "Fixed 1 finding in 1 file.\n"
    assert "hostNetwork: false" in Path("new.yaml").read_text()
    assert '"false"' in Path("old.yaml").read_text()
    git("add", "--all")
    assert repository.hook("--fix").code == 0


def test_links_are_checked_once(app: Repository) -> None:
    Path("k8s/a-link.yaml").symlink_to("service.yaml")
    app.stage({"k8s/service.yaml": SERVICE.replace("app: web", "app: webb")})
    assert app.findings() == ["k8s/service.yaml service-without-pods"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from-ref", "missing"], "unknown revision missing; fetch it, or use another --from-ref"),
        (["--unsafe-fixes"], "--unsafe-fixes requires --fix"),
        (["absent.yaml"], "no such file: absent.yaml"),
    ],
)
def test_wrong_use_is_an_error(app: Repository, arguments: list[str], message: str) -> None:
    done = app.program("hook", *arguments)
    assert done.code == 2
    assert message in done.err


def test_a_repository_is_required(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))
    assert "not a git repository" in program("hook").err


def test_git_is_required(app: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "git was not found" in app.program("hook").err
