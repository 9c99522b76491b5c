"""The places of Pods in custom resources: from the config, from the schema of the kind, and from a table of widely used kinds.

Source: the API references of the projects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from kcheck.kube.resource import Resource
from kcheck.yaml.node import Node

PodPart = Literal["template", "pod", "container", "fields", "resources", ""]


class PodPlace(NamedTuple):
    """A path from an object to a part of a Pod.

    Attributes:
        path: keys, with * for all items of a list or values of a map.
        part: the type at the path: a PodTemplateSpec, a PodSpec, a Container, an object with some fields of Pods or containers among
            others,
            ResourceRequirements; "" for the one of the first three that the value looks like.
        runs_forever: whether the Pods run until they are stopped, as `Pod.runs_forever`.
        is_partial: the containers get some required settings from elsewhere.
    """

    path: tuple[str, ...]
    part: PodPart = ""
    runs_forever: bool | None = None
    is_partial: bool = False


Places = tuple[PodPlace, ...]


def read_path(text: str) -> tuple[str, ...]:
    """Return the keys of a path such as `spec.tasks.*.template`; `[]`, `[*]` and `[0]` after a key select its items as well."""
    parts: list[str] = []
    for step in text.strip().removeprefix(".").split("."):
        name, bracket, _ = step.partition("[")
        parts += [name] if name else []
        parts += ["*"] if bracket else []
    return tuple(parts)


def follow(root: Node, path: Iterable[str]) -> list[Node]:
    """Return the nodes that a path selects in an object."""
    nodes = [root]
    for step in path:
        if step == "*":
            nodes = [child for node in nodes for child in node if child]
        elif len(nodes) == 1:
            nodes = [child] if (child := nodes[0][step]) else []
        else:
            nodes = [child for node in nodes if (child := node[step])]
        if not nodes:
            break
    return nodes


def detect_part(node: Node) -> PodPart:
    """Return the part of a Pod that a value looks like, or ""."""
    if not node.is_map:
        return ""
    if _is_pod(node["spec"]):
        return "template"
    if _is_pod(node):
        return "pod"
    return "container" if node["image"].text or node["command"].is_list else ""


def known_places(resource: Resource) -> Places:
    """Return the places of a widely used kind, independent of its definition."""
    return _KNOWN_PLACES.get(f"{resource.group} {resource.kind}", ())


def usual_places(resource: Resource) -> Places:
    """Return the common places in which an object of an unknown kind has Pod templates."""
    return tuple(place for place in _COMMON_PLACES if any(detect_part(node) == "template" for node in follow(resource.node, place.path)))


def _is_pod(node: Node) -> bool:
    containers = node["containers"]
    return containers.is_list and all(each.is_map for each in containers) and len(containers) > 0


def _at(*paths: str, part: PodPart = "", runs_forever: bool | None = None, is_partial: bool = False) -> Places:
    return tuple(PodPlace(read_path(path), part, runs_forever, is_partial) for path in paths)


def _with_prefix(prefixes: Iterable[str], places: Places) -> Places:
    return tuple(place._replace(path=(*read_path(prefix), *place.path)) for prefix in prefixes for place in places)


def _table_entries(*tables: tuple[str, str, Places]) -> Iterator[tuple[str, Places]]:
    for group, kinds, places in tables:
        for kind in kinds.split():
            yield f"{group} {kind}", places


_TEMPLATE = _at("spec.template")
_LONG_RUNNING_TEMPLATE = _at("spec.template", runs_forever=True)
_RUN_TO_COMPLETION_TEMPLATE = _at("spec.template", runs_forever=False)
# A template of Argo Workflows is a Pod generated around one container or a set of containers.
_ARGO_TEMPLATE = (
    *_at("container", "script", "initContainers.*", "sidecars.*", "containerSet.containers.*", part="container", runs_forever=False),
    *_at("steps.*.*.inline.container", "steps.*.*.inline.script", "dag.tasks.*.inline.container", "dag.tasks.*.inline.script",
         part="container", runs_forever=False),
)  # fmt: skip
_ARGO_WORKFLOW = _with_prefix(("spec.templates.*",), _ARGO_TEMPLATE)
# Steps take missing fields from stepTemplate and resources from computeResources.
_STEPS = (
    *_at("steps.*", "sidecars.*", part="container", runs_forever=False, is_partial=True),
    *_at("stepTemplate", part="fields", runs_forever=False, is_partial=True),
)
_TASK_RUN = (*_with_prefix(("spec.taskSpec",), _STEPS), *_at("spec.podTemplate", part="fields", runs_forever=False))
_PIPELINE = ("tasks.*.taskSpec", "finally.*.taskSpec")
_ANALYSIS = _at("spec.metrics.*.provider.job.spec.template", runs_forever=False)
# The operator adds a container to these or completes them.
_PROMETHEUS = (
    *_at("spec", part="fields", runs_forever=True, is_partial=True),
    *_at("spec.containers.*", "spec.initContainers.*", part="container"),
)
_KSERVE = (
    *_at("", part="fields", is_partial=True),
    *_at("containers.*", "initContainers.*", part="container"),
    *_at("model", part="fields", is_partial=True),
)
_SPARK = (
    *_at("driver", "executor", part="fields", runs_forever=False, is_partial=True),
    *_at("driver.template.spec", "executor.template.spec", part="fields", runs_forever=False, is_partial=True),
)
_STRIMZI = tuple(f"spec.{part}template.*" for part in ("", "kafka.", "zookeeper.", "entityOperator.", "cruiseControl.", "kafkaExporter."))
_RAY = _at("headGroupSpec.template", "workerGroupSpecs.*.template", runs_forever=True)
_KNOWN_PLACES: dict[str, Places] = dict(
    _table_entries(
        ("extensions", "Deployment DaemonSet ReplicaSet", _LONG_RUNNING_TEMPLATE),
        ("apps", "Deployment DaemonSet ReplicaSet StatefulSet", _LONG_RUNNING_TEMPLATE),
        ("batch", "Job", _RUN_TO_COMPLETION_TEMPLATE),
        ("batch", "CronJob", _at("spec.jobTemplate.spec.template", runs_forever=False)),
        ("apps.openshift.io", "DeploymentConfig", _LONG_RUNNING_TEMPLATE),
        ("argoproj.io", "Rollout", _LONG_RUNNING_TEMPLATE),
        ("argoproj.io", "Experiment", _at("spec.templates.*.template")),
        ("argoproj.io", "AnalysisTemplate ClusterAnalysisTemplate AnalysisRun", _ANALYSIS),
        ("argoproj.io", "Workflow WorkflowTemplate ClusterWorkflowTemplate", _ARGO_WORKFLOW),
        ("argoproj.io", "CronWorkflow", _with_prefix(("spec.workflowSpec.templates.*",), _ARGO_TEMPLATE)),
        # Knative adds default probes, so missing probes are not reported.
        ("serving.knative.dev", "Service Configuration", _TEMPLATE),
        ("serving.knative.dev", "Revision", _at("spec")),
        ("sources.knative.dev", "ContainerSource", _TEMPLATE),
        ("keda.sh", "ScaledJob", _at("spec.jobTargetRef.template", runs_forever=False)),
        ("tekton.dev", "Task ClusterTask", _with_prefix(("spec",), _STEPS)),
        ("tekton.dev", "StepAction", _at("spec", part="container", runs_forever=False, is_partial=True)),
        ("tekton.dev", "TaskRun", _TASK_RUN),
        ("tekton.dev", "Pipeline", _with_prefix([f"spec.{each}" for each in _PIPELINE], _STEPS)),
        ("tekton.dev", "PipelineRun", (*_with_prefix([f"spec.pipelineSpec.{each}" for each in _PIPELINE], _STEPS),
                                       *_at("spec.podTemplate", "spec.taskRunTemplate.podTemplate", part="fields", runs_forever=False))),
        ("apps.kruise.io", "CloneSet StatefulSet DaemonSet", _LONG_RUNNING_TEMPLATE),
        ("apps.kruise.io", "BroadcastJob", _RUN_TO_COMPLETION_TEMPLATE),
        ("apps.kruise.io", "AdvancedCronJob",
         _at("spec.template.jobTemplate.spec.template", "spec.template.broadcastJobTemplate.spec.template", runs_forever=False)),
        ("apps.kruise.io", "SidecarSet", _at("spec.containers.*", "spec.initContainers.*", part="container")),
        ("apps.kruise.io", "UnitedDeployment", _at("spec.template.*.spec.template", runs_forever=True)),
        ("batch.volcano.sh", "Job", _at("spec.tasks.*.template", runs_forever=False)),
        ("kubeflow.org", "TFJob PyTorchJob MPIJob XGBoostJob PaddleJob JAXJob MXJob",
         _at(*(f"spec.{each}ReplicaSpecs.*.template" for each in ("tf", "pytorch", "mpi", "xgb", "paddle", "jax", "mx")),
             runs_forever=False)),
        ("kubeflow.org", "Notebook", _TEMPLATE),
        ("trainer.kubeflow.org", "TrainingRuntime ClusterTrainingRuntime",
         _at("spec.template.spec.replicatedJobs.*.template.spec.template.spec", part="fields", runs_forever=False, is_partial=True)),
        ("jobset.x-k8s.io", "JobSet", _at("spec.replicatedJobs.*.template.spec.template", runs_forever=False)),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet",
         _at("spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate", runs_forever=True)),
        ("sparkoperator.k8s.io", "SparkApplication", _with_prefix(("spec",), _SPARK)),
        ("sparkoperator.k8s.io", "ScheduledSparkApplication", _with_prefix(("spec.template",), _SPARK)),
        ("ray.io", "RayCluster", _with_prefix(("spec",), _RAY)),
        ("ray.io", "RayJob", _with_prefix(("spec.rayClusterSpec",), _RAY)),
        ("ray.io", "RayService", _with_prefix(("spec.rayClusterConfig",), _RAY)),
        ("serving.kserve.io", "InferenceService", _with_prefix(("spec.predictor", "spec.transformer", "spec.explainer"), _KSERVE)),
        ("serving.kserve.io", "ServingRuntime ClusterServingRuntime", _at("spec", part="fields", is_partial=True)),
        ("monitoring.coreos.com", "Prometheus PrometheusAgent Alertmanager ThanosRuler", _PROMETHEUS),
        ("opentelemetry.io", "OpenTelemetryCollector",
         (*_at("spec", part="fields", runs_forever=True, is_partial=True),
          *_at("spec.initContainers.*", "spec.additionalContainers.*", part="container"))),
        ("kafka.strimzi.io", "Kafka KafkaConnect KafkaBridge KafkaMirrorMaker2 KafkaNodePool",
         _at(*_STRIMZI, part="fields", is_partial=True)),
        ("agones.dev", "GameServer", _at("spec.template")),
        ("agones.dev", "Fleet GameServerSet", _at("spec.template.spec.template")),
        ("actions.github.com", "AutoscalingRunnerSet EphemeralRunnerSet EphemeralRunner",
         _at("spec.template.spec", part="fields", is_partial=True)),
        *((f"{group}.k8s.elastic.co", kind, _at(*paths, part="fields", is_partial=True))
          for group, kind, paths in (
              ("elasticsearch", "Elasticsearch", ("spec.nodeSets.*.podTemplate.spec",)),
              ("kibana", "Kibana", ("spec.podTemplate.spec",)),
              ("apm", "ApmServer", ("spec.podTemplate.spec",)),
              ("logstash", "Logstash", ("spec.podTemplate.spec",)),
              ("beat", "Beat", ("spec.deployment.podTemplate.spec", "spec.daemonSet.podTemplate.spec")),
              ("agent", "Agent", tuple(f"spec.{each}.podTemplate.spec" for each in ("deployment", "daemonSet", "statefulSet"))),
          )),
    )
)  # fmt: skip
_COMMON_PLACES = _at("spec.template", "spec.workload.template", "spec.jobTemplate.spec.template", "spec.jobTargetRef.template")
