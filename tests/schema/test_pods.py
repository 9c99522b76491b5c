"""Pods in custom resources: where they are found, and what is asked of them."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent

import pytest

from kcheck.check.session import Session
from kcheck.discovery.discover import Discovery, Target
from kcheck.rule.ruleset import choose
from kcheck.run.run import run_pipeline
from kcheck.schema.builtin.definitions import load
from kcheck.schema.external.catalog import add_schemas
from kcheck.schema.pods.detection import PodSchemas
from kcheck.schema.pods.known_kinds import PodPlace, read_path
from kcheck.schema.store import Store
from kcheck.testing import check_text
from kcheck.testing.texts import registry_with
from tests.schema.judging import crd, documents, spec, thing

CONTAINER = """\
type: object
required: [name]
properties:
  name: {type: string}
  image: {type: string}
  imagePullPolicy: {type: string}
  command: {type: array, items: {type: string}}
  args: {type: array, items: {type: string}}
  env: {type: array, items: {type: object, properties: {name: {type: string}, value: {type: string}}}}
  resources:
    type: object
    properties:
      limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
      requests: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}
  securityContext:
    type: object
    properties: {privileged: {type: boolean}, runAsUser: {type: integer}, allowPrivilegeEscalation: {type: boolean}}
  volumeMounts: {type: array, items: {type: object, properties: {name: {type: string}, mountPath: {type: string}}}}
"""
POD = f"""\
type: object
required: [containers]
properties:
  containers:
    type: array
    items:
{indent(CONTAINER, "      ")}
  hostNetwork: {{type: boolean}}
  nodeSelector: {{type: object, additionalProperties: {{type: string}}}}
  serviceAccountName: {{type: string}}
  stages: {{type: integer}}
"""
FIELDS = """\
type: object
properties:
  size: {type: integer}
  image: {type: string}
  hostNetwork: {type: boolean}
  tolerations: {type: array, items: {type: object, properties: {key: {type: string}, effect: {type: string}}}}
  securityContext: {type: object, properties: {privileged: {type: boolean}, runAsUser: {type: integer}}}
  serviceAccountName: {type: string}
"""


def properties(**schemas: str) -> str:
    return "type: object\nproperties:\n" + "".join(f"  {name}:\n{indent(schema, '    ')}" for name, schema in schemas.items())


def places(schema: str, kind: str = "Thing") -> list[tuple[str, str, bool | None]]:
    root = documents(crd(spec(schema)))[0].root
    node = root["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return [(".".join(p.path), p.part, p.runs_forever) for p in PodSchemas(load("1.36")).find(node, kind)]


def reported(text: str, *rules: str) -> list[tuple[str, str]]:
    return [(f.rule, f.place.field) for f in check_text(text, rules)]


def with_crd(schema: str, spec_yaml: str) -> str:
    return f"{crd(spec(schema))}---\n{thing(spec_yaml)}"


def test_a_pod_spec_is_known_by_its_shape() -> None:
    assert places(properties(runner=POD)) == [("spec.runner", "pod", None)]


def test_a_template_is_a_pod_spec_with_metadata() -> None:
    template = properties(metadata="type: object\n", spec=POD)
    assert places(properties(template=template, replicas="type: integer\n")) == [("spec.template", "template", True)]


def test_containers_by_themselves_in_lists_and_maps() -> None:
    listed = f"type: array\nitems:\n{indent(CONTAINER, '  ')}"
    mapped = f"type: object\nadditionalProperties:\n{indent(CONTAINER, '  ')}"
    assert places(properties(main=CONTAINER, sidecars=listed, more=mapped)) == [
        ("spec.main", "container", None), ("spec.sidecars.*", "container", None), ("spec.more.*", "container", None),
    ]  # fmt: skip


def test_some_fields_of_a_pod_among_others() -> None:
    assert places(properties(operator=FIELDS)) == [("spec.operator", "fields", None)]
    assert places(FIELDS) == [("spec", "fields", None)]


def test_amounts_of_resources() -> None:
    amounts = "type: object\nproperties: {limits: {type: object}, requests: {type: object}}\n"
    assert places(properties(resources=amounts)) == [("spec.resources", "resources", None)]


@pytest.mark.parametrize(
    "schema",
    [
        "type: object\nproperties: {image: {type: string}, name: {type: string}, url: {type: string}}\n",
        "type: object\nproperties: {containers: {type: array, items: {type: string}}, name: {type: string}}\n",
        "type: object\nproperties: {containers: {type: array, items: {type: object, properties: {name: {type: string}}}}}\n",
        "type: object\nproperties: {volumes: {type: string}, tolerations: {type: string}, affinity: {type: string}, env: {type: string}}\n",
        "type: object\nx-kubernetes-preserve-unknown-fields: true\n",
    ],
)  # fmt: skip
def test_field_names_alone_do_not_make_a_pod(schema: str) -> None:
    assert places(properties(x=schema)) == []


@pytest.mark.parametrize("odd", ["5", "{}", "[]", "{properties: 5}", "{properties: {}}", "{type: object, properties: {containers: {}}}"])
def test_unusual_schemas_are_accepted(odd: str) -> None:
    names = ("image", "env", "resources", "securityContext", "containers", "tolerations", "spec", "metadata", "affinity")
    schema = "type: object\nproperties:\n" + "".join(f"  {name}: {odd}\n" for name in names)
    assert all(part in ("", "fields") for _, part, _ in places(properties(x=schema)))


def test_null_beside_a_type_is_ignored() -> None:
    assert places(properties(runner=POD.replace("type: object", "type: [object, 'null']"))) == [("spec.runner", "pod", None)]


def test_kinds_whose_pods_end() -> None:
    assert places(properties(runner=POD), "NightlyJob") == [("spec.runner", "pod", False)]


def test_rules_run_on_pods_in_custom_resources() -> None:
    text = with_crd(properties(runner=POD), "runner: {hostNetwork: true, containers: [{name: a, image: nginx}]}")
    assert reported(text, "practice") == [("host-network", "spec.runner.hostNetwork"), ("latest-tag", "spec.runner.containers[0].image")]


def test_the_schema_alone_says_what_is_right() -> None:
    """A pod without containers, an amount above its limit, a protocol that is none: the server takes it, for its definition does."""
    broken = "containers: [{name: A_A, image: 'a:1', imagePullPolicy: Now, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]"
    assert reported(with_crd(properties(runner=POD), f"runner: {{{broken}}}"), "spec") == []


def test_nothing_is_missed_where_only_some_fields_are_taken() -> None:
    text = with_crd(properties(operator=FIELDS), f"operator: {{size: 3, image: 'a:1@sha256:{'0' * 64}'}}")
    ids = [rule.id for rule in registry_with().rules.values() if rule.family == "practice" and rule.types]
    assert [field for _, field in reported(text, *ids) if "operator" in field] == []


def test_what_is_written_there_is_judged() -> None:
    text = with_crd(properties(operator=FIELDS), "operator: {image: nginx, hostNetwork: true, securityContext: {privileged: true}}")
    assert reported(text, "latest-tag", "host-network", "privileged-container") == [
        ("latest-tag", "spec.operator.image"), ("host-network", "spec.operator.hostNetwork"),
        ("privileged-container", "spec.operator.securityContext.privileged"),
    ]  # fmt: skip


def test_custom_fields_are_not_fields_of_a_pod() -> None:
    """In a PodSpec, `schedulerName` would be the default anyway; here the default is unknown."""
    text = with_crd(properties(operator=FIELDS), "operator: {image: 'a:1', schedulerName: default-scheduler}")
    assert [field for _, field in reported(text, "redundant-default") if "operator" in field] == []


def test_probes_are_asked_for_only_where_pods_are_known_to_last() -> None:
    pod = "{containers: [{name: a, image: 'a:1'}]}"
    one = with_crd(properties(runner=POD), f"runner: {pod}")
    many = with_crd(properties(runner=POD, replicas="type: integer\n"), f"runner: {pod}")
    assert reported(one, "missing-readiness-probe") == []
    assert reported(many, "missing-readiness-probe") == [("missing-readiness-probe", "spec.runner.containers[0].readinessProbe")]


WIDELY_KNOWN = {
    "argoproj.io/v1alpha1 Rollout": "template: {spec: {containers: [IT]}}",
    "argoproj.io/v1alpha1 Workflow": "templates: [{name: a, container: IT}, {name: b, script: IT, sidecars: [IT]}]",
    "argoproj.io/v1alpha1 CronWorkflow": "workflowSpec: {templates: [{name: a, container: IT, initContainers: [IT]}]}",
    "argoproj.io/v1alpha1 WorkflowTemplate": "templates: [{name: a, containerSet: {containers: [IT, IT]}}]",
    "serving.knative.dev/v1 Service": "template: {spec: {containers: [IT]}}",
    "serving.knative.dev/v1 Revision": "containers: [IT]",
    "keda.sh/v1alpha1 ScaledJob": "jobTargetRef: {template: {spec: {containers: [IT]}}}",
    "tekton.dev/v1 Task": "steps: [IT]\nsidecars: [IT]",
    "tekton.dev/v1 Pipeline": "tasks: [{name: a, taskSpec: {steps: [IT, IT]}}]",
    "apps.kruise.io/v1alpha1 CloneSet": "template: {spec: {containers: [IT], initContainers: [IT]}}",
    "batch.volcano.sh/v1alpha1 Job": "tasks: [{template: {spec: {containers: [IT]}}}]",
    "kubeflow.org/v1 PyTorchJob": "pytorchReplicaSpecs: {Master: {template: {spec: {containers: [IT]}}}}",
    "kubeflow.org/v2beta1 MPIJob": "mpiReplicaSpecs: {Launcher: {template: {spec: {containers: [IT]}}}}",
    "sparkoperator.k8s.io/v1beta2 SparkApplication": "driver: {template: {spec: {containers: [IT]}}}\nexecutor: IT",
    "serving.kserve.io/v1beta1 InferenceService": "predictor: {containers: [IT]}\ntransformer: {model: IT}",
    "kafka.strimzi.io/v1 Kafka": "kafka: {template: {kafkaContainer: IT}}",
    "monitoring.coreos.com/v1 Prometheus": "containers: [IT]\nimage: nginx",
    "opentelemetry.io/v1beta1 OpenTelemetryCollector": "image: nginx\nadditionalContainers: [IT]",
    "apps.openshift.io/v1 DeploymentConfig": "template: {spec: {containers: [IT]}}",
    "extensions/v1beta1 Deployment": "template: {spec: {containers: [IT]}}",
    "physics.example.com/v1 Whatever": "template: {spec: {containers: [IT]}}",
}


@pytest.mark.parametrize("kind", WIDELY_KNOWN)
def test_kinds_in_wide_use_need_no_schema(kind: str) -> None:
    api_version, name = kind.split()
    body = indent(WIDELY_KNOWN[kind].replace("IT", "{name: c, image: nginx}"), "  ")
    text = f"apiVersion: {api_version}\nkind: {name}\nmetadata: {{name: a}}\nspec:\n{body}\n"
    assert len(reported(text, "latest-tag")) == text.count("nginx")


def test_paths_without_a_schema_know_maps_within_pods() -> None:
    container = "{name: c, image: 'a:1', resources: {limits: {memory: 128m}}}"
    text = f"apiVersion: a.example.com/v1\nkind: A\nmetadata: {{name: a}}\nspec: {{template: {{spec: {{containers: [{container}]}}}}}}\n"
    assert reported(text, "wrong-resource-unit") == [("wrong-resource-unit", "spec.template.spec.containers[0].resources.limits[memory]")]


def test_a_container_without_a_name_is_named_after_its_template() -> None:
    text = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\n"
    text += "spec: {templates: [{name: build, container: {image: 'a:1'}}]}\n"
    assert 'container "build" does not drop' in check_text(text, ["undropped-capabilities"])[0].concise


def test_the_config_says_where_pods_are(tmp_path: Path) -> None:
    text = "apiVersion: physics.example.com/v1\nkind: Simulation\nmetadata: {name: a}\n"
    text += "spec: {stages: [{pod: {containers: [{image: nginx}]}}]}\n"
    (tmp_path / "a.yaml").write_text(text)
    assert found_in(tmp_path, PodPlace(read_path("spec.stages.*.pod"))) == ["spec.stages[0].pod.containers[0].image"]
    assert found_in(tmp_path, PodPlace(read_path("spec.stages"))) == []


def found_in(folder: Path, *said: PodPlace) -> list[str]:
    store = Store(load("1.36"))
    store.pods = {("physics.example.com", "Simulation"): said}
    registry = registry_with()
    session = Session(registry, choose(registry, ["latest-tag"]), [store])
    return [f.place.field for f in run_pipeline(Discovery([Target(str(folder / "a.yaml"), named=True)]), session).findings]


def test_a_json_schema_shows_pods_too(tmp_path: Path) -> None:
    pod = documents(crd(spec(properties(runner=POD))))[0].root["spec"]["versions"][0]["schema"]["openAPIV3Schema"].plain()
    (tmp_path / "thing_v1.json").write_text(json.dumps(pod))
    store = Store(load("1.36"))
    add_schemas(store, tmp_path)
    (tmp_path / "a.yaml").write_text(thing("runner: {containers: [{name: a, image: nginx}]}"))
    registry = registry_with()
    session = Session(registry, choose(registry, ["latest-tag"]), [store])
    found = run_pipeline(Discovery([Target(str(tmp_path / "a.yaml"), named=True)]), session).findings
    assert [f.place.field for f in found] == ["spec.runner.containers[0].image"]


@pytest.mark.parametrize(
    ("text", "path"),
    [("spec.template", ("spec", "template")), ("spec.a[*].b", ("spec", "a", "*", "b")), (".spec.a[].*", ("spec", "a", "*", "*"))],
)
def test_ways_in_the_config(text: str, path: tuple[str, ...]) -> None:
    assert read_path(text) == path


def test_pods_of_a_custom_resource_are_facts() -> None:
    """A Service leads to the pods of a Rollout by their labels and ports."""
    rollout = """
        apiVersion: argoproj.io/v1alpha1
        kind: Rollout
        metadata: {name: web}
        spec:
          template:
            metadata: {labels: {app: web}}
            spec: {containers: [{name: c, image: 'a:1', ports: [{name: http, containerPort: 80}]}]}
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: web}
        spec: {selector: {app: web}, ports: [{port: 80, targetPort: htpp}]}
    """
    found = check_text(dedent(rollout), ["relations"])
    assert any("htpp" in f.concise for f in found)


def test_unusual_values_are_accepted() -> None:
    for odd in ("5", "[]", "[a]", "{containers: 5}", "{containers: [5]}", "{containers: {a: b}}", "null"):
        rollout = f"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {{name: a}}\nspec: {{template: {{spec: {odd}}}}}\n"
        assert all(f.rule != "internal-error" for f in check_text(rollout, ["all"])), odd
        text = with_crd(properties(runner=POD), f"runner: {odd}")
        assert all(f.rule != "internal-error" for f in check_text(text, ["all"])), odd


def doomed(pod: str, kind: str = "argoproj.io/v1alpha1 Rollout") -> list[str]:
    api_version, name = kind.split()
    text = f"apiVersion: {api_version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {{template: {{spec: {pod}}}}}\n"
    return [f.place.field.removeprefix("spec.template.spec.") for f in check_text(text, ["invalid-pod-in-custom-resource"])]


def test_what_is_written_and_wrong_dooms_a_pod() -> None:
    assert doomed("{containers: [{name: A_B, image: 'a:1'}]}") == ["containers[0].name"]
    assert doomed("{containers: [{name: a, image: 'a:1'}], restartPolicy: Sometimes}") == ["restartPolicy"]
    assert doomed("{containers: [{name: a, image: 5}]}") == ["containers[0].image"]
    assert doomed("{containers: [{name: a, image: 'a:1', imagepullpolicy: Always}]}") == ["containers[0].imagepullpolicy"]


def test_what_may_yet_come_does_not() -> None:
    assert doomed("{containers: [{image: 'a:1'}], containerConcurrency: 5}") == []
    assert doomed("{containers: [{name: a, image: 'a:1', volumeMounts: [{name: v, mountPath: /v}]}]}") == []


def test_only_whole_pods_are_doomed() -> None:
    text = "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n  templates:\n"
    text += "  - {name: a, container: {image: a:1, imagePullPolicy: '{{inputs.parameters.policy}}'}}\n"
    assert reported(text, "invalid-pod-in-custom-resource") == []


def test_a_value_that_the_schema_rejects_is_reported_once() -> None:
    text = with_crd(properties(runner=POD), "runner: {containers: [{name: a, image: 5}]}")
    assert reported(text, "spec", "invalid-pod-in-custom-resource") == [("wrong-type", "spec.runner.containers[0].image")]
