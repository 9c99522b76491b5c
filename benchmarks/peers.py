"""Compares the run time of kcheck and other linters. The commands run in turns; prints medians and ratios.

    python benchmarks/peers.py FOLDER [--runs 5]

Measures the tools on PATH and lists the missing ones. They can be installed with `go install` and pip:

    go install github.com/yannh/kubeconform/cmd/kubeconform@latest      go install golang.stackrox.io/kube-linter/cmd/kube-linter@latest
    go install github.com/zegl/kube-score/cmd/kube-score@latest         go install sigs.k8s.io/kubectl-validate@latest
    go install github.com/fluxcd/flux-schema/cmd/flux-schema@latest     pip install yamllint checkov

kubeconform reads its schemas from a folder (generated from the package kubernetes-validate, with references resolved as in its own), so
that the network is not measured. kube-score does not read folders and stops at files that it cannot parse, so it only gets the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from clock import in_turn

VERSION = "1.36.0"
SMALL = Path(__file__).resolve().parent.parent / "examples" / "good" / "redis.yaml"
KCHECK = str(Path(sys.executable).parent / "kcheck")
PEERS = ("kubeconform", "kube-linter", "kube-score", "flux-schema", "kubectl-validate", "yamllint", "checkov")


def standalone_schemas(target: Path) -> None:
    """Writes the JSON Schemas of all kinds of a version, without references."""
    spec = importlib.util.find_spec("kubernetes_validate")
    if spec is None or spec.origin is None:
        raise SystemExit("the schemas for kubeconform are in kubernetes-validate: pip install kubernetes-validate")
    source = Path(spec.origin).parent / "kubernetes-json-schema" / f"v{VERSION}-local-strict"
    definitions = json.loads((source / "_definitions.json").read_text())["$defs"]

    def resolved(node: Any, within: frozenset[str]) -> Any:
        if isinstance(node, list):
            return [resolved(item, within) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return {key: resolved(value, within) for key, value in node.items()}
        name = reference.rpartition("/")[2]
        # A recursive schema (JSONSchemaProps) ends at the first recursion.
        return {} if name in within else resolved(definitions[name], within | {name})

    target.mkdir()
    for path in source.glob("[!_]*.json"):
        schema = json.loads(path.read_text())
        if "kind" in schema.get("properties", {}):
            (target / path.name).write_text(json.dumps(resolved(schema, frozenset())))


def readable_by_kube_score(folder: Path, list_file: Path) -> list[str]:
    """Returns the files that kube-score can parse. Each file is tried separately; the result is cached next to the copy of the folder."""
    files = sorted(str(p) for p in folder.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file())
    good = [f for f in files if b"Failed to" not in subprocess.run(["kube-score", "score", f], capture_output=True, check=False).stderr]
    list_file.write_text("\n".join(good))
    return good


def commands(folder: Path, work: Path) -> dict[str, list[str]]:
    """Returns the commands by tool: for the whole folder and for one small file."""
    check = [KCHECK, "check", "--isolated", "--format", "json"]
    found: dict[str, list[str]] = {
        "kcheck, cold": [*check, "--no-cache", "--jobs", "2", str(folder)],
        "kcheck, warm": [*check, "--jobs", "2", str(folder)],
        "kcheck, small file": [*check, "--no-cache", str(SMALL)],
    }
    if shutil.which("kubeconform"):
        standalone_schemas(work / "schemas")
        where = f"{work}/schemas/{{{{ .ResourceKind }}}}{{{{ .KindSuffix }}}}.json"
        conform = ["kubeconform", "-strict", "-ignore-missing-schemas", "-output", "json", "-n", "2", "-schema-location", where]
        found |= {"kubeconform": [*conform, str(folder)], "kubeconform, small file": [*conform, str(SMALL)]}
    if shutil.which("kube-linter"):
        found["kube-linter"] = ["kube-linter", "lint", "--format", "json", str(folder)]
    if shutil.which("kube-score"):
        files = readable_by_kube_score(folder, work / "files")
        found["kube-score"] = ["kube-score", "score", "--output-format", "json", *files]
    if shutil.which("flux-schema"):
        found["flux-schema"] = ["flux-schema", "validate", str(folder)]
    if shutil.which("kubectl-validate"):
        found["kubectl-validate"] = ["kubectl-validate", "--version", "1.33", str(folder)]
    if shutil.which("yamllint"):
        found |= {"yamllint, small file": ["yamllint", str(SMALL)]}
    if shutil.which("checkov"):
        found["checkov"] = ["checkov", "--framework", "kubernetes", "--quiet", "--directory", str(folder)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--without", action="append", default=[], help="skip a slow tool")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        os.environ["KCHECK_CACHE_DIR"] = str(Path(work, "cache"))
        chosen = {name: c for name, c in commands(given.folder.resolve(), Path(work)).items() if name.split(",")[0] not in given.without}
        taken = in_turn(chosen, given.runs)
    cold, small = taken["kcheck, cold"], taken["kcheck, small file"]
    print(f"{'':28}{'wall s':>9}{'cpu s':>9}{'MiB':>7}{'kcheck / it':>13}")
    for name, time in taken.items():
        ours = small if name.endswith("small file") else cold
        print(f"{name:28}{time.wall:9.3f}{time.cpu:9.3f}{time.memory:7.0f}{ours.wall / time.wall:13.2f}")
    if "kubeconform" in taken:
        print(f"warm / kubeconform: {taken['kcheck, warm'].wall / taken['kubeconform'].wall:.2f}")
        three = [taken[name].wall for name in ("kubeconform", "kube-linter", "kube-score") if name in taken]
        print(f"cold / the {len(three)} of kubeconform, kube-linter and kube-score that are here: {cold.wall / sum(three):.2f}")
    absent = [peer for peer in PEERS if not shutil.which(peer)]
    if absent:
        print(f"not on PATH: {', '.join(absent)}")


if __name__ == "__main__":
    main()
