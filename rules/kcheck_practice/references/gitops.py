"""What Argo CD and Flux deliver: paths that do not exist, and Applications that their AppProject does not permit.

Sources: Argo CD's documentation ("Projects", "Application Specification"), Flux's API reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from kcheck.api import ERROR, Bundle, Delivery, Facts, Lexicon, Location, Problem, Related, did_you_mean, rule
from kcheck.api import pattern as late
from kcheck_practice._support.typos import meant

_GROUPS = ("relations", "gitops")
_ARGO = "argoproj.io"
# Other paths contain templates or patterns, which are not checked.
_PLAIN = late(r"[\w./-]+")
_LOCAL_CLUSTER = ("https://kubernetes.default.svc", "in-cluster")
_UNSUPPORTED = frozenset("{[")


@rule("missing-source-path", "Source path of an Argo CD Application or Flux Kustomization does not exist", severity=ERROR, groups=_GROUPS,
      kinds=("argoproj.io Application", "kustomize.toolkit.fluxcd.io Kustomization"))  # fmt: skip
def missing_source_path(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Paths of Argo CD Applications and Flux Kustomizations.

    Reported where the input has a directory with a similar name in the same place, or where it is complete and has other directories
    of the repository.
    """
    if facts.delivery is None:
        return
    for origin in facts.delivery.origins:
        path = _folder(origin.path)
        roots = _roots(facts, bundle)
        if not path or any(_join(root, path) in bundle.folders for root in roots):
            continue
        above, _, last = path.rpartition("/")
        for root in roots:
            near = meant(last, bundle.input.once(_GitOpsFolders).of(_join(root, above)))
            if near is not None and above:
                yield Problem(origin.place, f'directory "{path}" does not exist in the input', help=did_you_mean(f"{above}/{near}"))
                break
        else:
            if bundle.complete and origin.repository in bundle.input.once(_repositories):
                message = f'directory "{path}" does not exist in the input'
                yield Problem(origin.place, message, help="add the directory or correct the path")


@rule("application-not-permitted", "Argo CD Application is not permitted by its AppProject", severity=ERROR, facts="references",
      kinds="argoproj.io Application",
      groups=_GROUPS)  # fmt: skip
def project_forbids(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Argo CD stores such an Application but does not sync it. Only where the AppProject is in the input."""
    if facts.delivery is None or facts.group != _ARGO:
        return
    for reference in facts.references:
        if reference.kind != "AppProject":
            continue
        projects = [f for f in bundle.nearest(facts, reference) if f.is_complete]
        allowed = [f.delivery for f in projects if f.delivery is not None]
        for place, what, value, field in _forbidden(facts.delivery, allowed) if allowed else ():
            project = f'AppProject "{reference.name}"'
            related = (Related(projects[0].place, project),)
            yield Problem(
                place, f'{project} does not permit {what} "{value}"', help=f"add the {what} to spec.{field} of {project}", related=related
            )


def _forbidden(delivery: Delivery, allowed: list[Delivery]) -> Iterator[tuple[Location, str, str, str]]:
    """What no project permits: place, noun and value, and the field of spec of a project that permits it."""
    for origin in delivery.origins:
        # Exclusions ("!") of a project are ignored, because patterns of Go differ from those of fnmatch.
        patterns = [each.repository for project in allowed for each in project.origins if not each.repository.startswith("!")]
        if not any(_matches(_normal(pattern), _normal(origin.repository)) for pattern in patterns):
            yield origin.place, "source", origin.repository, "sourceRepos"
    for goal in delivery.goals:
        goals = [each for project in allowed for each in project.goals]
        there = [each for each in goals if _may_be(each.server, goal.server) and _may_be(each.cluster, goal.cluster)]
        if not there and (goal.server or goal.cluster):
            yield goal.place, "cluster", goal.server or goal.cluster, "destinations"
        elif there and goal.namespace and not any(_matches(each.namespace, goal.namespace) for each in there):
            yield goal.place, "namespace", goal.namespace, "destinations"


def _normal(repository: str) -> str:
    return repository.lower().removesuffix("/").removesuffix(".git")


def _matches(pattern: str, text: str) -> bool:
    return not _UNSUPPORTED.isdisjoint(pattern) or fnmatchcase(text, pattern.removeprefix("!"))


def _may_be(pattern: str, text: str) -> bool:
    """Whether the cluster of a project may be that of an Application; each side may give its name, its address or both."""
    return not pattern or not text or (pattern in _LOCAL_CLUSTER and text in _LOCAL_CLUSTER) or _matches(pattern, text)


def _folder(path: str) -> str:
    path = path.removeprefix("./").strip("/")
    return path if _PLAIN.fullmatch(path) and ".." not in path and path != "." else ""


def _join(root: str, path: str) -> str:
    return "/".join(part for part in (root, path) if part)


class _GitOpsFolders:
    """The folders inside a folder of the input, indexed by their names."""

    def __init__(self, bundle: Bundle) -> None:
        self._folders = bundle.folders
        self._known: dict[str, Lexicon] = {}

    def of(self, folder: str) -> Lexicon:
        if folder not in self._known:
            self._known[folder] = Lexicon(self._folders.get(folder, ()))
        return self._known[folder]


def _roots(facts: Facts, bundle: Bundle) -> list[str]:
    """The folders that may be the root of the repository: those that contain an object."""
    parts = facts.folder.split("/")
    return [root for end in range(len(parts), -1, -1) if (root := "/".join(parts[:end])) in bundle.folders]


def _repositories(bundle: Bundle) -> frozenset[str]:
    """The repositories that the input is a checkout of: the input contains directories of them."""
    deliveries: Iterable[tuple[Facts, str, str]] = (
        (f, origin.repository, _folder(origin.path)) for f in bundle.facts if f.delivery is not None for origin in f.delivery.origins
    )
    return frozenset(
        repository for f, repository, path in deliveries if path and any(_join(root, path) in bundle.folders for root in _roots(f, bundle))
    )
