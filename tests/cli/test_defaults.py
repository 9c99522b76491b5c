"""`kcheck defaults`"""

import json
from pathlib import Path

from tests.cli.conftest import POD, Program

SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, default: {}, properties: {size: {type: integer, default: 1}}}}
"""


def test_defaults_are_marked(program: Program) -> None:
    done = program("defaults", "-", "--no-creation", stdin=POD.replace("1.29.1", "1.29.1\n      args: []\n      stdin: false").encode())
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: web\n    image: nginx:1.29.1\n    ports:\n"
        "    - containerPort: 8080\n      protocol: TCP  # default\n"
        "    resources: {}  # default\n    imagePullPolicy: IfNotPresent  # default\n"
        "    terminationMessagePath: /dev/termination-log  # default\n    terminationMessagePolicy: File  # default\n"
        "    # args: dropped\n    # stdin: dropped\n"
        "  dnsPolicy: ClusterFirst  # default\n  restartPolicy: Always  # default\n  securityContext: {}  # default\n"
        "  terminationGracePeriodSeconds: 30  # default\n  schedulerName: default-scheduler  # default\n"
        "  enableServiceLinks: true  # default\nstatus: {}  # default\n"
    )


def test_several_files_and_custom_resources(program: Program) -> None:
    Path("thing.yaml").write_text("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n")
    Path("z-crd.yaml").write_text(CRD)
    done = program("defaults", ".", "-n", "shop")
    assert "  name: t\n  namespace: shop  # on creation\nspec:  # default\n  size: 1  # default\n---\n" in done.out


def test_json(program: Program) -> None:
    Path("a.yaml").write_text("---\n" + POD.replace("8080", "8080\n      resources: {requests: {cpu: 1000m}}\n      x: 1"))
    done = json.loads(program("defaults", "a.yaml", "--format", "json").out)
    [found] = done["objects"]
    assert (done["version"], found["file"], found["line"]) == (1, "a.yaml", 2)
    assert found["object"]["spec"]["restartPolicy"] == "Always"
    assert "/spec/restartPolicy" in found["defaults"]["set"]
    assert found["defaults"]["changed"] == ["/spec/containers/0/resources/requests/cpu"]
    assert found["defaults"]["dropped"] == ["/spec/containers/0/x"]
    assert "/spec/tolerations" in found["creation"]["set"]


def test_secret_values_are_asterisks(program: Program) -> None:
    for form in ("yaml", "json"):
        done = program("defaults", "-", "--format", form, stdin=SECRET.encode())
        assert done.code == 0
        assert not any(text in done.out for text in ("hunter2", "aHVudGVyMg=="))
        assert "***" in done.out
    assert "# from stringData" in program("defaults", "-", stdin=SECRET.encode()).out
    done = program("defaults", "-", "--format", "json", stdin=SECRET.replace("hunter2", "5").encode())
    assert json.loads(done.out)["objects"][0]["object"]["kind"] == "Secret"


def test_version(program: Program) -> None:
    text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {}}\n"
    for version, shown in (("1.33", True), ("1.34", False), ("1.30-1.34", False)):
        done = program("defaults", "-", "--kubernetes", version, stdin=text.encode())
        assert ("creationTimestamp: null  # default" in done.out) == shown


def test_what_cannot_be_shown(program: Program) -> None:
    Path("bad.yaml").write_text("a: [")
    Path("good.yaml").write_text(POD)
    done = program("defaults", "good.yaml", "bad.yaml")
    assert done.code == 2
    assert "restartPolicy: Always  # default" in done.out
    assert done.err.startswith("kcheck: bad.yaml: invalid YAML: ")
    done = program("defaults", "-", stdin=b"a: 1\n")
    assert (done.code, done.err) == (2, "kcheck: no objects found\n")
    assert program("defaults", "missing.yaml").code == 2
