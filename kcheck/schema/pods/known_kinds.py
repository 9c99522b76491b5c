"""Where custom resources hold pods: what the config says, what the schema of their kind shows, and what is known of kinds in wide use.

Source: the API references of the projects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from kcheck.kube.resource import Resource
from kcheck.text.record import NamedTuple
from kcheck.yaml.node import Node

PodPart = Literal["template", "pod", "container", "fields", "resources", ""]


class PodPlace(NamedTuple):
    """A way from an object to something of pods. `path`: keys, with * for all items of a list or values of a map.

    `part`: what stands there: a PodTemplateSpec, a PodSpec, a Container, an object that has some fields of pods or containers among
    others, ResourceRequirements; "" for whichever of the first three it looks like. `loose`: of containers that get some of what they
    need elsewhere. `lasts`: as of a Pod.
    """

    path: tuple[str, ...]
    part: PodPart = ""
    lasts: bool | None = None
    loose: bool = False


Places = tuple[PodPlace, ...]


def read_path(text: str) -> tuple[str, ...]:
    """The keys of `spec.tasks.*.template`; `[]`, `[*]` and `[0]` after a key mean its items, too."""
    parts: list[str] = []
    for step in text.strip().removeprefix(".").split("."):
        name, bracket, _ = step.partition("[")
        parts += [name] if name else []
        parts += ["*"] if bracket else []
    return tuple(parts)


def follow(root: Node, path: Iterable[str]) -> list[Node]:
    """What a path leads to in an object."""
    nodes = [root]
    for step in path:
        nodes = [child for node in nodes for child in (node if step == "*" else (node[step],)) if child]
    return nodes


def look(node: Node) -> PodPart:
    """What a value of an object is, as far as it shows: "" for nothing of pods."""
    if not node.is_map:
        return ""
    if _is_pod(node["spec"]):
        return "template"
    if _is_pod(node):
        return "pod"
    return "container" if node["image"].text or node["command"].is_list else ""


def known_places(resource: Resource) -> Places:
    """What is known of a kind in wide use, whatever its definition says."""
    return _TABLE.get(f"{resource.group} {resource.kind}", ())


def usual_places(resource: Resource) -> Places:
    """Where an object of a kind that nobody has told anything of shows pod templates, in the usual places."""
    return tuple(place for place in _USUAL if any(look(node) == "template" for node in follow(resource.node, place.path)))


def _is_pod(node: Node) -> bool:
    containers = node["containers"]
    return containers.is_list and all(each.is_map for each in containers) and len(containers) > 0


def _at(*paths: str, part: PodPart = "", lasts: bool | None = None, loose: bool = False) -> Places:
    return tuple(PodPlace(read_path(path), part, lasts, loose) for path in paths)


def _under(prefixes: Iterable[str], places: Places) -> Places:
    return tuple(place._replace(path=(*read_path(prefix), *place.path)) for prefix in prefixes for place in places)


def _tables(*tables: tuple[str, str, Places]) -> Iterator[tuple[str, Places]]:
    for group, kinds, places in tables:
        for kind in kinds.split():
            yield f"{group} {kind}", places


_TEMPLATE = _at("spec.template")
_LASTING = _at("spec.template", lasts=True)
_ENDING = _at("spec.template", lasts=False)
# A template of Argo Workflows is a pod of its own making around one container, or a set of them.
_WORK = (
    *_at("container", "script", "initContainers.*", "sidecars.*", "containerSet.containers.*", part="container", lasts=False),
    *_at("steps.*.*.inline.container", "steps.*.*.inline.script", "dag.tasks.*.inline.container", "dag.tasks.*.inline.script",
         part="container", lasts=False),
)  # fmt: skip
_WORKFLOW = _under(("spec.templates.*",), _WORK)
# Steps take what they leave out from stepTemplate, and amounts from computeResources.
_STEPS = (
    *_at("steps.*", "sidecars.*", part="container", lasts=False, loose=True),
    *_at("stepTemplate", part="fields", lasts=False, loose=True),
)
_TASK_RUN = (*_under(("spec.taskSpec",), _STEPS), *_at("spec.podTemplate", part="fields", lasts=False))
_PIPELINE = ("tasks.*.taskSpec", "finally.*.taskSpec")
_MEASURES = _at("spec.metrics.*.provider.job.spec.template", lasts=False)
# The operator puts a container of its own into these, or adds to it what it knows.
_MIXED = (
    *_at("spec", part="fields", lasts=True, loose=True),
    *_at("spec.containers.*", "spec.initContainers.*", part="container"),
)
_MODEL = (
    *_at("", part="fields", loose=True),
    *_at("containers.*", "initContainers.*", part="container"),
    *_at("model", part="fields", loose=True),
)
_SPARK = (
    *_at("driver", "executor", part="fields", lasts=False, loose=True),
    *_at("driver.template.spec", "executor.template.spec", part="fields", lasts=False, loose=True),
)
_STRIMZI = tuple(f"spec.{part}template.*" for part in ("", "kafka.", "zookeeper.", "entityOperator.", "cruiseControl.", "kafkaExporter."))
_RAY = _at("headGroupSpec.template", "workerGroupSpecs.*.template", lasts=True)
_TABLE: dict[str, Places] = dict(
    _tables(
        ("extensions", "Deployment DaemonSet ReplicaSet", _LASTING),
        ("apps", "Deployment DaemonSet ReplicaSet StatefulSet", _LASTING),
        ("batch", "Job", _ENDING),
        ("batch", "CronJob", _at("spec.jobTemplate.spec.template", lasts=False)),
        ("apps.openshift.io", "DeploymentConfig", _LASTING),
        ("argoproj.io", "Rollout", _LASTING),
        ("argoproj.io", "Experiment", _at("spec.templates.*.template")),
        ("argoproj.io", "AnalysisTemplate ClusterAnalysisTemplate AnalysisRun", _MEASURES),
        ("argoproj.io", "Workflow WorkflowTemplate ClusterWorkflowTemplate", _WORKFLOW),
        ("argoproj.io", "CronWorkflow", _under(("spec.workflowSpec.templates.*",), _WORK)),
        # Knative probes on its own, so nothing is missed where no probe is written.
        ("serving.knative.dev", "Service Configuration", _TEMPLATE),
        ("serving.knative.dev", "Revision", _at("spec")),
        ("sources.knative.dev", "ContainerSource", _TEMPLATE),
        ("keda.sh", "ScaledJob", _at("spec.jobTargetRef.template", lasts=False)),
        ("tekton.dev", "Task ClusterTask", _under(("spec",), _STEPS)),
        ("tekton.dev", "StepAction", _at("spec", part="container", lasts=False, loose=True)),
        ("tekton.dev", "TaskRun", _TASK_RUN),
        ("tekton.dev", "Pipeline", _under([f"spec.{each}" for each in _PIPELINE], _STEPS)),
        ("tekton.dev", "PipelineRun", (*_under([f"spec.pipelineSpec.{each}" for each in _PIPELINE], _STEPS),
                                       *_at("spec.podTemplate", "spec.taskRunTemplate.podTemplate", part="fields", lasts=False))),
        ("apps.kruise.io", "CloneSet StatefulSet DaemonSet", _LASTING),
        ("apps.kruise.io", "BroadcastJob", _ENDING),
        ("apps.kruise.io", "AdvancedCronJob",
         _at("spec.template.jobTemplate.spec.template", "spec.template.broadcastJobTemplate.spec.template", lasts=False)),
        ("apps.kruise.io", "SidecarSet", _at("spec.containers.*", "spec.initContainers.*", part="container")),
        ("apps.kruise.io", "UnitedDeployment", _at("spec.template.*.spec.template", lasts=True)),
        ("batch.volcano.sh", "Job", _at("spec.tasks.*.template", lasts=False)),
        ("kubeflow.org", "TFJob PyTorchJob MPIJob XGBoostJob PaddleJob JAXJob MXJob",
         _at(*(f"spec.{each}ReplicaSpecs.*.template" for each in ("tf", "pytorch", "mpi", "xgb", "paddle", "jax", "mx")), lasts=False)),
        ("kubeflow.org", "Notebook", _TEMPLATE),
        ("trainer.kubeflow.org", "TrainingRuntime ClusterTrainingRuntime",
         _at("spec.template.spec.replicatedJobs.*.template.spec.template.spec", part="fields", lasts=False, loose=True)),
        ("jobset.x-k8s.io", "JobSet", _at("spec.replicatedJobs.*.template.spec.template", lasts=False)),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet",
         _at("spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate", lasts=True)),
        ("sparkoperator.k8s.io", "SparkApplication", _under(("spec",), _SPARK)),
        ("sparkoperator.k8s.io", "ScheduledSparkApplication", _under(("spec.template",), _SPARK)),
        ("ray.io", "RayCluster", _under(("spec",), _RAY)),
        ("ray.io", "RayJob", _under(("spec.rayClusterSpec",), _RAY)),
        ("ray.io", "RayService", _under(("spec.rayClusterConfig",), _RAY)),
        ("serving.kserve.io", "InferenceService", _under(("spec.predictor", "spec.transformer", "spec.explainer"), _MODEL)),
        ("serving.kserve.io", "ServingRuntime ClusterServingRuntime", _at("spec", part="fields", loose=True)),
        ("monitoring.coreos.com", "Prometheus PrometheusAgent Alertmanager ThanosRuler", _MIXED),
        ("opentelemetry.io", "OpenTelemetryCollector",
         (*_at("spec", part="fields", lasts=True, loose=True),
          *_at("spec.initContainers.*", "spec.additionalContainers.*", part="container"))),
        ("kafka.strimzi.io", "Kafka KafkaConnect KafkaBridge KafkaMirrorMaker2 KafkaNodePool", _at(*_STRIMZI, part="fields", loose=True)),
        ("agones.dev", "GameServer", _at("spec.template")),
        ("agones.dev", "Fleet GameServerSet", _at("spec.template.spec.template")),
        ("actions.github.com", "AutoscalingRunnerSet EphemeralRunnerSet EphemeralRunner",
         _at("spec.template.spec", part="fields", loose=True)),
        *((f"{group}.k8s.elastic.co", kind, _at(*paths, part="fields", loose=True))
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
_USUAL = _at("spec.template", "spec.workload.template", "spec.jobTemplate.spec.template", "spec.jobTargetRef.template")
