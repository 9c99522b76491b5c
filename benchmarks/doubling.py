"""Measures how the processor time of kcheck grows when adversarial inputs double in size.

    python benchmarks/doubling.py [ROW ...] [--doublings 2] [--limit 120] [--list]

Each row is an input of n, 2n and 4n parts, checked by one process without a cache. Prints user and system seconds, the factor of each
doubling, and the peak memory of the largest run in MiB; '>': stopped after `--limit` seconds of processor time. The start
of the program (about 0.1 s) is part of every run, so a factor near 2 means linear and one near 4 quadratic. Linux and macOS only.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

Make = Callable[[Path, int], Sequence[str]]
"""Writes an input of a given size to a folder and returns the command line options to check it with."""


class Row(NamedTuple):
    """A row. `size`: number of parts of the smallest input; `what`: the name of the parts."""

    size: int
    what: str
    make: Make


def _complete(folder: Path, more: str = "") -> None:
    (folder / ".kcheck.yaml").write_text(f"complete: true\n{more}")


def _pod(name: str, body: str) -> str:
    head = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: a}}\n"
    return f"{head}spec:\n  containers:\n  - {{name: c, image: 'a:1'{body}}}\n"


def _config_map(name: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: a}}\ndata: {{k: v}}\n"


def near_names(folder: Path, n: int) -> Sequence[str]:
    """Pods that refer to a ConfigMap and a Secret with names similar to those of all existing ones."""
    _complete(folder)
    letters = "abcdefghijklmnopqrstuvwxyz"

    def word(number: int) -> str:
        return "".join(letters[number // 26**place % 26] for place in range(4))

    documents = []
    for i in range(n):
        name = f"common-prefix-{word(i * 7919)}"
        documents.append(_pod(f"p{i}", f", envFrom: [{{configMapRef: {{name: {name}-confg}}}}, {{secretRef: {{name: {name}-secrt}}}}]"))
        other = f"common-prefix-{word(i * 7919 + 3)}"
        documents.append(_config_map(f"{other}-config"))
        documents.append(_config_map(f"{other}-secret").replace("ConfigMap", "Secret").replace("data", "stringData"))
    (folder / "a.yaml").write_text("---\n".join(documents))
    return ()


def similar_names(folder: Path, n: int) -> Sequence[str]:
    """The realistic variant: team-service-0001-env is referred to and team-service-0001-cfg exists."""
    _complete(folder)
    documents = []
    for i in range(n):
        name = f"team-service-{i:04d}"
        documents += [_pod(f"p{i}", f", envFrom: [{{configMapRef: {{name: {name}-env}}}}]"), _config_map(f"{name}-cfg")]
    (folder / "a.yaml").write_text("---\n".join(documents))
    return ()


def missing_files(folder: Path, n: int) -> Sequence[str]:
    """A kustomization of n files that do not exist, next to n files that do."""
    lines = [f"- component-{i:05d}-deploymnt.yaml" for i in range(n)]
    (folder / "kustomization.yaml").write_text("resources:\n" + "\n".join(lines) + "\n")
    for i in range(n):
        (folder / f"component-{i:05d}-deployment.txt").touch()
    return ()


def _long_names(folder: Path) -> None:
    for i in range(50):
        (folder / f"{'a' * 80}{i}.yaml").write_text(_config_map(f"a{i}"))


def exclude_stars(folder: Path, n: int) -> Sequence[str]:
    """`exclude` with n stars in one name."""
    _complete(folder, f"exclude: ['{'*a' * n}X']\n")
    _long_names(folder)
    return ()


def exclude_double_stars(folder: Path, n: int) -> Sequence[str]:
    """`exclude` with n times '**' for deep folders."""
    _complete(folder, f"exclude: ['{'**/a/' * n}X']\n")
    deep = folder.joinpath(*["a"] * 60)
    deep.mkdir(parents=True)
    _long_names(deep)
    return ()


def ignored_stars(folder: Path, n: int) -> Sequence[str]:
    """.gitignore with n stars in one name."""
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("*a" * n + "X\n")
    _long_names(folder)
    return ()


def override_stars(folder: Path, n: int) -> Sequence[str]:
    """`overrides` with n stars in one name."""
    _complete(folder, f"overrides: [{{files: '{'*a' * n}X', rules: {{latest-tag: off}}}}]\n")
    _long_names(folder)
    return ()


def name_pattern(folder: Path, n: int) -> Sequence[str]:
    """An option with a pattern, and names of n characters."""
    _complete(folder, 'rules: {name-pattern-mismatch: {pattern: "(a+)+$"}}\n')
    (folder / "a.yaml").write_text(_config_map("a" * n + "!"))
    return ()


def overrides(folder: Path, n: int) -> Sequence[str]:
    """n overrides of one file each, and n files."""
    said = "".join(f"- {{files: 'team-{i}/**', rules: {{latest-tag: warning}}}}\n" for i in range(n))
    _complete(folder, f"overrides:\n{said}")
    for i in range(n):
        (folder / f"team-{i}").mkdir()
        (folder / f"team-{i}" / "a.yaml").write_text(_config_map(f"a{i}"))
    return ()


def star_overrides(folder: Path, n: int) -> Sequence[str]:
    """Like overrides, with globs that have no literal prefix."""
    said = "".join(f"- {{files: '**/team-{i}-*.yaml', rules: {{latest-tag: warning}}}}\n" for i in range(n))
    _complete(folder, f"overrides:\n{said}")
    for i in range(n):
        (folder / f"team-{i}-a.yaml").write_text(_config_map(f"a{i}"))
    return ()


def _definition(schema: str) -> str:
    return (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks.x.io}\nspec:\n  group: x.io\n"
        "  scope: Namespaced\n  names: {kind: K, plural: ks, singular: k, listKind: KList}\n  versions:\n  - name: v1\n    served: true\n"
        f"    storage: true\n    schema:\n      openAPIV3Schema: {{type: object, properties: {{spec: {schema}}}}}\n---\n"
    )


def _resource(spec: str, name: str = "a") -> str:
    return f"apiVersion: x.io/v1\nkind: K\nmetadata: {{name: {name}, namespace: b}}\nspec: {spec}\n"


def wide_pattern(folder: Path, n: int) -> Sequence[str]:
    """A CRD with the patterns (a?){n}a{n} and (a|b|c|.*x)^n, and a text of n characters for each."""
    inner = "(a|b|c|.*x)" * n
    properties = f's: {{type: string, pattern: "^{"a?" * n}{"a" * n}$"}}, t: {{type: string, pattern: "^{inner}$"}}'
    fields = f"{{type: object, properties: {{{properties}}}}}"
    (folder / "a.yaml").write_text(_definition(fields) + _resource(f"{{s: {'a' * n}, t: {'ab' * (n // 2)}}}"))
    return ()


def one_line(folder: Path, n: int) -> Sequence[str]:
    """n unknown fields of a custom resource in one line."""
    text = _definition("{type: object, properties: {a: {type: string}}}")
    (folder / "a.yaml").write_text(text + _resource("{" + ", ".join(f"x{i}: 1" for i in range(n)) + "}"))
    return ()


def one_label(folder: Path, n: int) -> Sequence[str]:
    """n Services and n Deployments with the same label, all rules."""
    _complete(folder)
    documents = []
    for i in range(n):
        documents.append(
            f"apiVersion: v1\nkind: Service\nmetadata: {{name: s{i}, namespace: a}}\n"
            f"spec: {{selector: {{app: x}}, ports: [{{port: {i % 60000 + 1}}}]}}\n"
        )
        documents.append(
            f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{i}, namespace: a}}\n"
            "spec:\n  selector: {matchLabels: {app: x}}\n"
            "  template:\n    metadata: {labels: {app: x}}\n    spec: {containers: [{name: c, image: 'a:1'}]}\n"
        )
    (folder / "a.yaml").write_text("---\n".join(documents))
    return ("--select", "all")


def one_label_alone(folder: Path, n: int) -> Sequence[str]:
    """n Services and n Deployments with the same label, only the three rules that compare Services and controllers."""
    one_label(folder, n)
    return ("--select", "service-without-readiness-probe,duplicate-service-selector,selector-overlap")


def grown_text(folder: Path, n: int) -> Sequence[str]:
    """A CEL rule whose result has the cube of the length of a string."""
    rule = "self.s.split('').map(c, self.s.replace(c, self.s)).join().size() > 0"
    schema = f'{{type: object, x-kubernetes-validations: [{{rule: "{rule}"}}], properties: {{s: {{type: string}}}}}}'
    (folder / "a.yaml").write_text(_definition(schema) + _resource(f"{{s: {'a' * n}}}"))
    return ()


def missing_services(folder: Path, n: int) -> Sequence[str]:
    """Services whose selectors do not match the Pods of their folder because of a typo."""
    _complete(folder)
    documents = []
    for i in range(n):
        documents.append(
            f"apiVersion: v1\nkind: Service\nmetadata: {{name: s{i}, namespace: a}}\n"
            f"spec: {{selector: {{app: component-{i:04d}-wbe}}, ports: [{{port: 80}}]}}\n"
        )
        documents.append(
            f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{i}, namespace: a, labels: {{app: component-{i:04d}-srv}}}}\n"
            "spec: {containers: [{name: c, image: 'a:1'}]}\n"
        )
    (folder / "a.yaml").write_text("---\n".join(documents))
    return ()


ROWS = {
    "near-names": Row(124, "pods with missing references", near_names),
    "similar-names": Row(200, "pods with missing references", similar_names),
    "missing-files": Row(248, "entries of a kustomization", missing_files),
    "exclude-stars": Row(3, "stars", exclude_stars),
    "exclude-double-stars": Row(3, "double stars", exclude_double_stars),
    "gitignore-stars": Row(3, "stars", ignored_stars),
    "override-stars": Row(3, "stars", override_stars),
    "name-pattern-mismatch": Row(25, "characters of a name", name_pattern),
    "overrides": Row(250, "overrides, files", overrides),
    "star-overrides": Row(250, "overrides, files", star_overrides),
    "wide-pattern": Row(400, "repetitions, characters", wide_pattern),
    "one-line": Row(4000, "findings", one_line),
    "one-label": Row(250, "Services, Deployments", one_label),
    "one-label-alone": Row(500, "Services, Deployments", one_label_alone),
    "grown-text": Row(500, "characters", grown_text),
    "missing-services": Row(250, "Services", missing_services),
}


class Taken(NamedTuple):
    """Processor seconds and MiB of a run. `ended`: whether it was stopped at the limit."""

    seconds: float
    memory: float
    ended: bool


def check(make: Make, size: int, limit: int) -> Taken:
    """Runs kcheck on an input of a size."""
    with tempfile.TemporaryDirectory(prefix="kcheck-doubling-") as name:
        folder = Path(name)
        flags = make(folder, size)
        command = [sys.executable, "-m", "kcheck", "check", ".", "--no-cache", "-j", "1", "--format", "json", *flags]

        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        path = os.pathsep.join(os.path.abspath(each) for each in sys.path if each)
        process = subprocess.Popen(
            command, cwd=folder, preexec_fn=limited, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
        )  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = 0
        return Taken(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, not os.WIFEXITED(status))


def measure(name: str, doublings: int, limit: int) -> str:
    """Returns the table line of a row."""
    row = ROWS[name]
    taken: list[Taken] = []
    for step in range(doublings + 1):
        taken.append(check(row.make, row.size << step, limit))
        if taken[-1].ended:
            break
    seconds = " ".join(f"{'>' if each.ended else ''}{each.seconds:.2f}" for each in taken)
    factors = " ".join(f"{later.seconds / former.seconds:.2f}" for former, later in pairwise(taken))
    sizes = "/".join(str(row.size << step) for step in range(len(taken)))
    return f"| {name} | {sizes} {row.what} | {seconds} | {factors} | {max(each.memory for each in taken):.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="rows to run (default: all)")
    parser.add_argument("--doublings", type=int, default=2)
    parser.add_argument("--limit", type=int, default=120, help="maximum processor seconds of a run")
    parser.add_argument("--list", action="store_true", help="list the rows")
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{name}: {(row.make.__doc__ or '').strip()}" for name, row in ROWS.items()))
        return
    unknown = [name for name in given.rows if name not in ROWS]
    if unknown:
        parser.error(f"unknown row {', '.join(unknown)}; see --list")
    print("| row | sizes | CPU s | factors | MiB |\n|---|---|---|---|--:|")
    start = time.perf_counter()
    for name in given.rows or ROWS:
        print(measure(name, given.doublings, given.limit), flush=True)
    print(f"{time.perf_counter() - start:.0f} s in all", file=sys.stderr)


if __name__ == "__main__":
    main()
