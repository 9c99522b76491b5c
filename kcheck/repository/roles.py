"""Finds the role of each file: from its path and the files near it before it is checked, and from its content when it is parsed.

Only the part of a path below the folder on the command line counts, so that `kcheck check ~/testdata/app` does not make everything a
fixture. A file that is named on the command line is checked like a manifest.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from kcheck.discovery.discover import Target
from kcheck.discovery.load import Folders, kind_of_file
from kcheck.finding.role import (
    ARCHIVED,
    ASSERTION,
    CLUSTER_DUMP,
    CRD_BUNDLE,
    DOCUMENTATION,
    EXAMPLE,
    EXAMPLES,
    GOLDEN_FILE,
    INVALID_EXAMPLE,
    KUSTOMIZATION,
    MANIFEST,
    OTHER,
    PATCH,
    POLICY_EXAMPLE,
    TEST_DATA,
    TEST_FIXTURE,
    TEST_MANIFEST,
    UNKNOWN,
    UNMAINTAINED,
    VENDORED,
    Role,
)
from kcheck.kube.resource import Resource, resources
from kcheck.text.pattern import name_pattern, pattern
from kcheck.yaml.document import Document

_VENDORED = frozenset({"vendor", "_vendor", "vendored", "third_party", "third-party", "thirdparty", "3rdparty"})
_ARCHIVED = frozenset({"archived", "_archived", "_archive", "attic"})
_DOCUMENTATION = frozenset({"doc", "docs", "documentation", "website"})
_EXAMPLES = frozenset(
    {
        "example", "examples", "sample", "samples", "demo", "demos", "tutorial", "tutorials", "quickstart", "quickstarts", "quick-start",
        "getting-started", "playground",
    }
)  # fmt: skip
_FIXTURES = frozenset(
    {"testdata", "test-data", "test_data", "test-files", "test_files", "fixture", "fixtures", "mock", "mocks", "fake", "fakes", "__tests__"}
)
_TESTS = frozenset({"test", "tests", "testing"})
_GOLDEN = frozenset({"golden", "goldens", "__snapshots__"})
_POLICY_TESTS = frozenset({".kyverno-test", ".chainsaw-test"})
# Tests that apply objects to a cluster. The second group of names also occurs elsewhere, so it counts only below a folder of tests.
_CLUSTER_TESTS = name_pattern(
    r"e2e|kuttl|chainsaw|bats|(?:e2e|kuttl|chainsaw)[-_].+|.+[-_]e2e|(?:integration|conformance|smoke|system)[-_]tests?"
)
_CLUSTER_TESTS_IN_TESTS = frozenset({"integration", "conformance", "smoke", "acceptance", "system", "scale", "stress"})
# Names of environments: a folder `test` beside one of them is an environment as well.
_ENVIRONMENTS = frozenset(
    {"prod", "production", "stage", "staging", "dev", "development", "qa", "uat", "preprod", "preview", "live", "sandbox"}
)
_ENVIRONMENT_PARENTS = frozenset({"overlay", "overlays", "env", "envs", "environment", "environments", "cluster", "clusters", "stages"})

_EXPECTATION_NAME = name_pattern(r"(?:.*[-_.])?(?:asserts?|assertions?|errors?)(?:[-_.].*)?\.(?:ya?ml|json)")
# Only names that nothing but a test has are evidence by themselves: `05-error-pages.yaml` and `golden-signals.yaml` are manifests.
_STEP_NAME = pattern(r"\d+-assert(?:-.*)?\.ya?ml")
_GOLDEN_NAME = pattern(r"(?:.*\.)?golden(?:\..*)?\.(?:ya?ml|json)")
_GOLDEN_NAME_IN_TESTS = name_pattern(r"(?:.*[-_.])?golden(?:[-_.].*)?\.(?:ya?ml|json)")
_EXPECTED_NAME = name_pattern(r"(?:.*[-_.])?(?:expected|expect|want)(?:[-_.].*)?\.(?:ya?ml|json)")
_PATCH_NAME = name_pattern(r"(?:.*[-_.])?(?:patch|patches)(?:[-_.].*)?\.(?:ya?ml|json)")
_INVALID = r"(?:bad|broken|corrupt(?:ed)?|fail(?:ing|ure|ures)?|faulty|illegal|incorrect|invalid|malformed|wrong)"
_INVALID_NAME = name_pattern(rf"(?:.*[-_.])?{_INVALID}(?:[-_.\d].*)?\.(?:ya?ml|json)")
_INVALID_FOLDER = name_pattern(rf"{_INVALID}(?:[-_].*)?")
_KUSTOMIZATIONS = frozenset({"kustomization.yaml", "kustomization.yml"})
_ALLOWED_NAME = pattern(r"(?:.*[-_.])?allowed(?:[-_.\d].*)?\.(?:ya?ml|json)")
_DISALLOWED_NAME = pattern(r"(?:.*[-_.])?disallowed(?:[-_.\d].*)?\.(?:ya?ml|json)")
# The files that a step of chainsaw compares with the cluster.
_EXPECTED_FILES = pattern(r"\b(?:assert|error):\s*+(?:\{\s*+)?(?:#[^\n]*\n\s*+|)*+file:\s*+[\"']?([^\s\"'}]+)")

# The name of a repository, such as kubernetes-examples. A single word is the name of a folder that the user wants to check.
_TEACHING_NAME = pattern(r"(?:.*[-+ ])?(?:examples?|samples?|tutorials?|quickstarts?)(?:[-+ ].*)?")
# Region tags mark the part of a file that the documentation of Google Cloud shows.
_REGION_TAG = pattern(r"#[ \t]*\[START \w+\]")
# A version of a release in a path: v1.2.3, v2_0_1. Versions of APIs and of Kubernetes have fewer parts.
# It begins with a letter, so that searches skip to it.
_RELEASE = pattern(r"v(?<![A-Za-z0-9]v)(\d+)([._])(\d+)\2(\d+)(?:[._-]?(?:alpha|beta|rc)[._-]?(\d+))?")
_MIN_RELEASES = 3
"""Files for so many releases are a history. Two may be alternatives."""

_WORKLOADS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})


class ListedFiles:
    """What the kustomizations of an input say about other files.

    Attributes:
        patches: Patches, by normalized path, with the kustomization that lists them.
        commented: The same for patches in comments.
        objects: The same for files and folders of complete objects.
        settings: Settings of kustomize, such as generators and transformers, with the kustomization.
    """

    def __init__(self) -> None:
        self.patches: dict[str, str] = {}
        self.commented: dict[str, str] = {}
        self.objects: dict[str, str] = {}
        self.settings: dict[str, str] = {}

    def role_of(self, path: str) -> Role | None:
        """Return the role of a listed file, by its normalized path, that is not an object of any kustomization."""
        if path in self.objects:
            return None
        if path in self.patches:
            return Role(PATCH, f"{self.patches[path]} lists it as a patch")
        if path in self.settings:
            return Role(KUSTOMIZATION, f"{self.settings[path]} lists it as settings of kustomize")
        if path in self.commented:
            return Role(PATCH, f"{self.commented[path]} lists it as a patch in a comment")
        return None


class RoleFinder:
    """Finds the roles of the files of one input.

    Args:
        paths: All files of the input, as displayed.
        assigned: Returns the role that the config assigns to a file.
        as_server: Whether a name alone does not make a file a patch, because the API server would reject the file.
    """

    def __init__(self, paths: Iterable[str], assigned: Callable[[str], Role | None] | None = None, as_server: bool = False) -> None:
        paths = list(paths)
        self.tool_folders = Folders()
        self.assigned = assigned
        self.as_server = as_server
        self.listed_files = ListedFiles()
        self._expected: dict[str, str] = {}
        self._superseded = _superseded_files(paths) if not as_server else {}
        self._by_folder: dict[tuple[str, int], Role | None] = {}
        self._by_root: dict[str, Role | None] = {}
        self._names: dict[str, set[str]] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            self._names.setdefault(folder, set()).add(name)
        self._step_folders = {folder for folder, names in self._names.items() if any(map(_is_step, names))}
        self._policy_folders = {folder for folder, names in self._names.items() if any(map(_is_policy_test, names))}
        self._kustomized = {folder for folder, names in self._names.items() if not names.isdisjoint(_KUSTOMIZATIONS)}
        self._folders: set[str] = set()

    def before_reading(self, target: Target) -> Role:
        """Return the role of a file whose content is not known yet."""
        if self.assigned is not None and (role := self.assigned(target.path)) is not None:
            return role
        if target.named:
            return NAMED
        if role := kind_of_file(target.path, self.tool_folders):
            return role
        if (newer := self._superseded.get(target.path)) is not None:
            return Role(ARCHIVED, f"{newer} is for a newer release")
        role = _of_unmaintained_folder(target)
        return UNKNOWN if role is None or (role.name == ARCHIVED and self.as_server) else role

    def of_folder(self, target: Target) -> Role:
        """Return the role of the objects of a chart, by the path of its Chart.yaml."""
        if self.assigned is not None and (role := self.assigned(target.path)) is not None:
            return role
        role = _of_unmaintained_folder(target) or self._of_folder(target)
        return UNKNOWN if role is None else role

    def add_text(self, path: str, text: str) -> None:
        """Learn from a file which other files are assertions."""
        if _is_chainsaw_test(path.rpartition("/")[2]):
            folder = os.path.dirname(path)
            for match in _EXPECTED_FILES.finditer(text):
                self._expected[os.path.normpath(os.path.join(folder, match[1]))] = path

    def after_reading(self, target: Target, role: Role) -> Role:
        """Return the role of a file when all kustomizations of the input are known."""
        if role.name in UNMAINTAINED and self._is_deployed(target):
            role = UNKNOWN
        if role is not UNKNOWN and role is not NAMED:
            return role
        path = _normalized(target.path)
        listed = self.listed_files.role_of(path)
        if target.named:
            # A file that the user names is checked, but a patch is still a patch.
            return listed if listed is not None and listed.name == PATCH else role
        found = listed or self._of_tests(target) or self._of_patches(target, path) or self._of_folder(target)
        lister = self.listed_files.objects.get(path)
        return found or (Role(MANIFEST, f"{lister} lists it as a resource") if lister else role)

    def _is_deployed(self, target: Target) -> bool:
        """Whether a kustomization outside of an unmaintained folder lists a file in it, or a folder around the file."""
        path = os.path.normpath(target.path)
        if not _unmaintained_folder(target):
            return path in self.listed_files.objects
        unmaintained = os.path.normpath(_unmaintained_folder(target))
        while len(path) >= len(unmaintained):
            lister = self.listed_files.objects.get(path, "")
            if lister and not os.path.normpath(lister).startswith(f"{unmaintained}/"):
                return True
            path = os.path.dirname(path)
        return False

    def _of_tests(self, target: Target) -> Role | None:
        """Return the role of an assertion, a golden file or a policy example, by its name."""
        name = target.path.rpartition("/")[2]
        lower = name.lower()
        if self._expected and (test := self._expected.get(os.path.normpath(target.path))):
            return Role(ASSERTION, f"{test} compares it with the cluster")
        if _is_policy_test(lower):
            return Role(ASSERTION, "its name is that of a test of policies")
        around = self._of_folder(target)
        in_tests = around is not None and around.name in (TEST_FIXTURE, TEST_MANIFEST)
        in_cluster_tests = around is not None and around.name == TEST_MANIFEST
        if ("assert" in lower and _STEP_NAME.fullmatch(lower)) or (in_cluster_tests and _EXPECTATION_NAME.fullmatch(lower)):
            return Role(ASSERTION, f'its name "{name}" is that of an assertion of kuttl or chainsaw')
        is_golden = "golden" in lower and (_GOLDEN_NAME.fullmatch(lower) or (in_tests and _GOLDEN_NAME_IN_TESTS.fullmatch(lower)))
        if is_golden or (in_tests and _EXPECTED_NAME.fullmatch(lower)):
            return Role(GOLDEN_FILE, f'its name "{name}" is that of an expected output')
        if around is not None and (around.name in TEST_DATA or around.name in EXAMPLES) and not self.as_server:
            folder = target.path[target.start :].rpartition("/")[0].rpartition("/")[2]
            if _INVALID_NAME.fullmatch(lower) or _INVALID_FOLDER.fullmatch(folder.lower()):
                return Role(INVALID_EXAMPLE, "its name or the name of its folder says that it is wrong on purpose")
        is_policy_example = "allowed" in lower and (_ALLOWED_NAME.fullmatch(lower) or _DISALLOWED_NAME.fullmatch(lower))
        if is_policy_example and self._has_policy_examples(target):
            return Role(POLICY_EXAMPLE, f'its name "{name}" is that of an example of a policy')
        return None

    def _has_policy_examples(self, target: Target) -> bool:
        """Whether the folder of a file contains both an example that a policy allows and one that it denies."""
        names = [name.lower() for name in self._names.get(target.path.rpartition("/")[0], ())]
        return any(map(_ALLOWED_NAME.fullmatch, names)) and any(map(_DISALLOWED_NAME.fullmatch, names))

    def _of_patches(self, target: Target, path: str) -> Role | None:
        """Return the role of a file that is called a patch, or whose folder is, and that no kustomization lists. `path`: normalized."""
        folder, _, name = target.path.rpartition("/")
        own, lower = folder[target.start :].rpartition("/")[2].lower(), name.lower()
        if own not in ("patch", "patches") and not ("patch" in lower and _PATCH_NAME.fullmatch(lower)):
            return None
        if path in self.listed_files.objects or (self.as_server and not self._is_near_kustomization(target)):
            return None
        return _PATCH_BY_NAME

    def _is_near_kustomization(self, target: Target) -> bool:
        """Whether the folder of a file, or one of the two above it, has a kustomization."""
        folder = target.path.rpartition("/")[0]
        parent = folder.rpartition("/")[0]
        near = next((each for each in (folder, parent, os.path.dirname(parent)) if each in self._kustomized), None)
        return near is not None and len(near) >= target.start - 1

    def _of_folder(self, target: Target) -> Role | None:
        """Return the role that follows from the names of the folders of a file."""
        folder = target.path.rpartition("/")[0]
        key = folder, target.start
        if key not in self._by_folder:
            self._by_folder[key] = self._find_by_folder(folder, target.start)
        return self._by_folder[key]

    def _find_by_folder(self, folder: str, start: int) -> Role | None:
        names = folder[start:].lower().split("/") if len(folder) > start else []
        tests = [name for at, name in enumerate(names) if name in _TESTS and not self._is_environment(folder, names, at)]
        fixture = next((name for name in names if name in _FIXTURES), "")
        golden = next((name for name in names if name in _GOLDEN), "")
        cluster = next((n for n in names if _CLUSTER_TESTS.fullmatch(n) or (tests and n in _CLUSTER_TESTS_IN_TESTS)), "")
        if golden:
            return Role(GOLDEN_FILE, f'the folder "{golden}" contains expected outputs')
        if folder in self._policy_folders or not _POLICY_TESTS.isdisjoint(names):
            return Role(POLICY_EXAMPLE, "its folder contains a test of policies")
        if cluster:
            return Role(TEST_MANIFEST, f'the folder "{cluster}" contains tests that run in a cluster')
        if folder in self._step_folders:
            return Role(TEST_MANIFEST, "its folder contains a test of kuttl or chainsaw")
        if fixture:
            return Role(TEST_FIXTURE, f'the folder "{fixture}" contains test data')
        if tests:
            return Role(TEST_FIXTURE, f'the folder "{tests[0]}" contains tests')
        example = next((name for at, name in enumerate(names) if name in _EXAMPLES and not self._is_environment(folder, names, at)), "")
        if example:
            return Role(EXAMPLE, f'the folder "{example}" contains examples')
        documentation = next((name for name in names if name in _DOCUMENTATION), "")
        if documentation:
            return Role(DOCUMENTATION, f'the folder "{documentation}" contains documentation')
        return self._of_root(folder[: max(start - 1, 0)])

    def _of_root(self, folder: str) -> Role | None:
        """Return the role that follows from the name of a folder on the command line. All files below it share the result."""
        if folder not in self._by_root:
            root = _name_of_root(folder)
            is_teaching = _TEACHING_NAME.fullmatch(root.lower()) and root.lower() not in _EXAMPLES
            self._by_root[folder] = Role(EXAMPLE, f'the checked folder "{root}" contains examples') if is_teaching else None
        return self._by_root[folder]

    def _is_environment(self, folder: str, names: Sequence[str], at: int) -> bool:
        """Whether a folder called `test` is an environment, such as overlays/test beside overlays/production."""
        if at and names[at - 1] in _ENVIRONMENT_PARENTS:
            return True
        parts = folder.split("/")
        parts = parts[: len(parts) - len(names) + at]
        return any("/".join((*parts, name)) in self._all_folders() for name in _ENVIRONMENTS)

    def _all_folders(self) -> set[str]:
        """Return all folders of the input, also those that contain only folders."""
        if not self._folders:
            for folder in self._names:
                while folder and folder not in self._folders:
                    self._folders.add(folder)
                    folder = folder.rpartition("/")[0]
        return self._folders


def _normalized(path: str) -> str:
    """Like `os.path.normpath` for the path of a file. A folder is normalized once for all its files."""
    folder, _, name = path.rpartition("/")
    return _normalized_prefix(folder) + name if folder else os.path.normpath(path)


@lru_cache(maxsize=10_000)
def _normalized_prefix(folder: str) -> str:
    folder = os.path.normpath(folder)
    return "" if folder == os.curdir else os.path.join(folder, "")


def _name_of_root(folder: str) -> str:
    """Return the name of a folder on the command line; "" is the working folder."""
    return os.path.basename(os.path.abspath(folder))


def _superseded_files(paths: Iterable[str]) -> dict[str, str]:
    """Return the files for releases before the newest one, each with the path of the newest one.

    They have the same path except for the version, such as docs/install/v2_0_0.yaml.
    """
    releases: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for path in paths:
        if (found := _RELEASE.search(path)) is not None:
            # A release follows its candidates.
            version = int(found[1]), int(found[3]), int(found[4]), int(found[5]) if found[5] else sys.maxsize
            releases.setdefault(f"{path[: found.start()]}*{path[found.end() :]}", []).append((version, path))
    superseded = {}
    for each in releases.values():
        newest, newest_path = max(each)
        if len({version for version, _ in each}) >= _MIN_RELEASES:
            superseded.update({path: newest_path for version, path in each if version < newest})
    return superseded


def _unmaintained_folder(target: Target) -> str:
    """Return the path of the outermost folder around a file with copies of other projects or archived files, or "" if there is none."""
    return _find_unmaintained(target.path.rpartition("/")[0], target.start)


@lru_cache(maxsize=10_000)
def _find_unmaintained(folder: str, start: int) -> str:
    names = folder[start:].split("/")
    at = next((at for at, name in enumerate(names) if name.lower() in _VENDORED or name.lower() in _ARCHIVED), -1)
    return folder[:start] + "/".join(names[: at + 1]) if at >= 0 else ""


def _of_unmaintained_folder(target: Target) -> Role | None:
    folder = _unmaintained_folder(target)
    if not folder:
        return None
    name = os.path.basename(folder)
    if name.lower() in _ARCHIVED:
        return Role(ARCHIVED, f'the folder "{name}" contains files that are no longer maintained')
    return Role(VENDORED, f'the folder "{name}" contains copies of other projects')


def is_unmaintained(target: Target) -> bool:
    """Whether a file is in a folder with copies of other projects or archived files."""
    return bool(_unmaintained_folder(target))


def _is_step(name: str) -> bool:
    return _is_chainsaw_test(name) or (name[:1].isdigit() and _STEP_NAME.fullmatch(name) is not None)


def _is_chainsaw_test(name: str) -> bool:
    return name.startswith("chainsaw-test")


def _is_policy_test(name: str) -> bool:
    return name.startswith("kyverno-test") or name.endswith("kcheck-test.yaml")


NAMED = Role(MANIFEST, "named on the command line")
"""The role of a file on the command line."""

_PATCH_BY_NAME = Role(PATCH, "its name or the name of its folder is that of a patch")
_PATCH_BY_SHAPE = Role(PATCH, "its objects contain directives of kustomize, or workloads without a selector and without an image")
_CRDS = Role(CRD_BUNDLE, "all its objects are CustomResourceDefinitions")
_NO_OBJECTS = Role(OTHER, "it contains no Kubernetes object")
_DUMPED = Role(CLUSTER_DUMP, "its objects have fields that only the API server sets, such as metadata.uid")


def role_by_content(role: Role, documents: Sequence[Document], as_server: bool = False) -> Role:
    """Return the role of a file whose path indicates no other one, or only by a name, from its documents.

    `as_server`: whether the content does not make a file a patch, because the API server would reject the file.
    """
    if role == _PATCH_BY_NAME:
        return UNKNOWN if any(_is_whole_workload(each) for document in documents for each in resources(document)) else role
    if role.name != MANIFEST and role.name not in EXAMPLES:
        return role
    objects = [resource for document in documents for resource in resources(document)]
    if not objects:
        return role if any(document.fault for document in documents) else _NO_OBJECTS
    if (role == UNKNOWN or role.name in EXAMPLES) and not as_server and all(map(_is_patch, objects)):
        return _PATCH_BY_SHAPE
    if role.name in EXAMPLES:
        return role
    if role == UNKNOWN and (tag := _region_tag(documents)):
        return Role(EXAMPLE, f'documentation shows the part with the region tag "{tag}"')
    if all(resource.kind == "CustomResourceDefinition" for resource in objects):
        return _CRDS
    return _DUMPED if any(map(is_dumped, objects)) else role


def _region_tag(documents: Sequence[Document]) -> str:
    """Return the first region tag of a file, "" if it has none."""
    found = _REGION_TAG.search(documents[0].source.text) if documents and "[START " in documents[0].source.text else None
    return found[0].lstrip("# \t") if found is not None else ""


def is_dumped(resource: Resource) -> bool:
    """Whether an object was read from a cluster: it has fields that only the API server sets."""
    metadata = resource["metadata"]
    return bool(metadata["uid"].text and (metadata["resourceVersion"].text or metadata["creationTimestamp"].text)) or (
        metadata["managedFields"].is_list and bool(metadata["managedFields"])
    )


def is_written_by_cluster(resource: Resource) -> bool:
    """Whether a controller, a kubelet or the API server creates an object that was read from a cluster, so that no user can change it."""
    if not is_dumped(resource):
        return False
    return resource.kind in _KINDS_OF_CLUSTER or any(
        owner["controller"].value is True for owner in resource.node.at("metadata", "ownerReferences")
    )


_KINDS_OF_CLUSTER = frozenset({"Node", "CSINode", "Lease", "Event", "Endpoints", "EndpointSlice", "ControllerRevision"})


def _is_whole_workload(resource: Resource) -> bool:
    """Whether a workload has a selector and an image in each container, which a patch has no reason to repeat."""
    containers = resource.node.at("spec", "template", "spec", "containers")
    whole = bool(containers) and all(container["image"] for container in containers)
    return resource.kind in _WORKLOADS and bool(resource.node.at("spec", "selector")) and whole


def _is_patch(resource: Resource) -> bool:
    """Whether an object is clearly a part of another one: it has a `$patch` directive, or is a workload without selector and images."""
    return bool(resource["$patch"]) or is_partial_workload(resource, is_applied=True)


def is_partial_workload(resource: Resource, is_applied: bool) -> bool:
    """Whether a workload of a test contains only what the test needs.

    `is_applied`: whether the test applies it to a cluster. It then has neither a selector nor a container with an image, because it is
    merged into an existing object. Data of other tests are partial without a selector, which the API server requires.
    """
    if resource.kind not in _WORKLOADS or resource.node.at("spec", "selector"):
        return False
    return not (is_applied and any(container["image"] for container in resource.node.at("spec", "template", "spec", "containers")))
