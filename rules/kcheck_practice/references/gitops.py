"""What Argo CD and Flux are to deliver. Sources: Argo CD's documentation ("Projects", "Application Specification"), Flux's API
reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from kcheck.api import ERROR, Bundle, Delivery, Facts, Lexicon, Location, Problem, Related, rule
from kcheck.api import pattern as late
from kcheck_practice._support.typos import meant

_GROUPS = ("relations", "gitops")
_ARGO = "argoproj.io"
# Templates and patterns are filled in or compared later.
_PLAIN = late(r"[\w./-]+")
_HERE = ("https://kubernetes.default.svc", "in-cluster")
_SPECIAL = frozenset("{[")


@rule("missing-source-path", "Source path of an Argo CD Application or Flux Kustomization does not exist", severity=ERROR, groups=_GROUPS,
      kinds=("argoproj.io Application", "kustomize.toolkit.fluxcd.io Kustomization"))  # fmt: skip
def missing_source_path(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Asked of Argo CD's Applications and Flux' Kustomizations. Told where the input has a folder of nearly that name in its place, or
    is complete and has other folders of that repository.
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
            near = meant(last, bundle.once(_GitOpsFolders).of(_join(root, above)))
            if near is not None and above:
                yield Problem(origin.place, f"there is no folder {path} in the input", help=f"did you mean {above}/{near}?")
                break
        else:
            if bundle.complete and origin.repository in bundle.once(_repositories):
                yield Problem(origin.place, f"there is no folder {path} in the input", help="add it, or correct the path")


@rule("application-not-permitted", "Argo CD Application is not permitted by its AppProject", severity=ERROR, facts="references",
      kinds="argoproj.io Application",
      groups=_GROUPS)  # fmt: skip
def project_forbids(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Argo CD takes the Application and never delivers it. Asked where the project is in the input."""
    if facts.delivery is None or facts.group != _ARGO:
        return
    for reference in facts.references:
        if reference.kind != "AppProject":
            continue
        projects = [f for f in bundle.meant(facts, reference) if f.whole]
        allowed = [f.delivery for f in projects if f.delivery is not None]
        for place, what, field in _forbidden(facts.delivery, allowed) if allowed else ():
            message = f"{reference.kind} {reference.name} allows no {what}"
            yield Problem(
                place, message, help=f"add it to its {field}, or correct it", related=(Related(projects[0].place, projects[0].title),)
            )


def _forbidden(delivery: Delivery, allowed: list[Delivery]) -> Iterator[tuple[Location, str, str]]:
    """What no project allows: where it stands, what it is, the field of a project that it belongs in."""
    for origin in delivery.origins:
        # What a project excludes is not heeded, for patterns of Go are not quite these.
        patterns = [each.repository for project in allowed for each in project.origins if not each.repository.startswith("!")]
        if not any(_matches(_normal(pattern), _normal(origin.repository)) for pattern in patterns):
            yield origin.place, f"source {origin.repository}", "sourceRepos"
    for goal in delivery.goals:
        goals = [each for project in allowed for each in project.goals]
        there = [each for each in goals if _may_be(each.server, goal.server) and _may_be(each.cluster, goal.cluster)]
        if not there and (goal.server or goal.cluster):
            yield goal.place, f"cluster {goal.server or goal.cluster}", "destinations"
        elif there and goal.namespace and not any(_matches(each.namespace, goal.namespace) for each in there):
            yield goal.place, f"namespace {goal.namespace}", "destinations"


def _normal(repository: str) -> str:
    return repository.lower().removesuffix("/").removesuffix(".git")


def _matches(pattern: str, text: str) -> bool:
    return not _SPECIAL.isdisjoint(pattern) or fnmatchcase(text, pattern.removeprefix("!"))


def _may_be(pattern: str, text: str) -> bool:
    """Whether a project's cluster may be the one that is meant; one has an address and a name, and each side may say either."""
    return not pattern or not text or (pattern in _HERE and text in _HERE) or _matches(pattern, text)


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
    """The folders that the repository may begin in: those around an object."""
    parts = facts.folder.split("/")
    return [root for end in range(len(parts), -1, -1) if (root := "/".join(parts[:end])) in bundle.folders]


def _repositories(bundle: Bundle) -> frozenset[str]:
    """The repositories that the input is, for folders of theirs are in it."""
    deliveries: Iterable[tuple[Facts, str, str]] = (
        (f, origin.repository, _folder(origin.path)) for f in bundle.facts if f.delivery is not None for origin in f.delivery.origins
    )
    return frozenset(
        repository for f, repository, path in deliveries if path and any(_join(root, path) in bundle.folders for root in _roots(f, bundle))
    )
