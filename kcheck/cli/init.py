"""`kcheck init`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click

from kcheck.check.time_limit import Budget
from kcheck.cli.input import Input, create_session, read_roles
from kcheck.cli.output import print_text, written
from kcheck.cli.settings import Failure, reported_errors
from kcheck.config.config import Config
from kcheck.config.search import NAME, configs_in
from kcheck.engine.files import find_files
from kcheck.engine.inspection import Hint, Inspection, inspect_files
from kcheck.engine.options import CheckOptions
from kcheck.finding.role import MANIFEST, TESTS
from kcheck.reporters.terminal_safe import Glyphs
from kcheck.rule.registry import Registry

_MAX_SHOWN = 3
"""Places or folders of one kind that are named."""


@click.command(short_help="Create a config for a repository.")
@click.option("--force", is_flag=True, help="Replace an existing config.")
@click.option("--print", "prints", is_flag=True, help="Print the config instead of writing it.")
def init(force: bool, prints: bool) -> None:
    """Create .kcheck.yaml in the current folder.

    Looks at the files in the folder: manifests, kustomizations, charts, CustomResourceDefinitions, Kubernetes versions in the
    configuration of clusters and CI, and configs of other linters.

    Exit status: 0 success, 2 the config exists already or cannot be written.
    """
    existing = configs_in(Path("."))
    if existing and not force and not prints:
        raise click.UsageError(f"{existing[0]} exists already; use --force to replace it")
    target = existing[0] if existing else Path(NAME)
    found = _inspect()
    text = config_text(found)
    if prints:
        print_text(text)
        return
    glyphs = Glyphs.of(sys.stdout)
    for line in _found_lines(found):
        click.echo(glyphs.visible(line))
    try:
        with written(str(target)) as out:
            out.write(text)
    except OSError as error:
        raise Failure(f"kcheck: {target} cannot be written: {error.strerror or error}") from None
    click.echo(f"Wrote {target}. Edit it, then run: kcheck check")


def _inspect() -> Inspection:
    registry = Registry.load()
    values = dict.fromkeys(Input._fields) | dict.fromkeys(("select", "ignore", "schemas", "provided", "exclude", "include"), ())
    inputs = Input(**(values | {"paths": (".",), "kubernetes": "", "max_file_size": ""}))  # type: ignore[arg-type]
    config = Config(Path(os.path.realpath(".")))
    session = create_session(inputs, config, registry)
    with reported_errors():
        files = find_files(inputs.paths, CheckOptions(), config, Budget())
    return inspect_files(files, read_roles(inputs, files, session))


def _found_lines(found: Inspection) -> Iterator[str]:
    """Yields what was found, as lines to print."""
    tests = sum(found.roles[role] for role in TESTS)
    counts = (
        (found.roles[MANIFEST], "manifest"),
        (len(found.kustomizations), "kustomization"),
        (len(found.charts), "Helm chart"),
        (sum(1 for _ in found.crds), "folder with CustomResourceDefinitions"),
        (tests, "file of tests"),
    )
    parts = [f"{number} {noun if number == 1 else _plural(noun)}" for number, noun in counts if number]
    yield f"Found {', '.join(parts) or 'no manifests'}."
    for each in found.versions[:_MAX_SHOWN]:
        yield f"Kubernetes {each.text}: {each.file}:{each.line}"
    if len(found.versions) > _MAX_SHOWN:
        yield f"Kubernetes versions in {len(found.versions) - _MAX_SHOWN} more places"
    for each in found.configs:
        yield f"{each.text} config: {each.file}; to convert it, run: kcheck migrate {each.file}"
    for each in found.annotations:
        yield f"{each.text} annotations: {each.file}:{each.line}; to convert them, run: kcheck migrate --write FILES"


def _plural(noun: str) -> str:
    first, space, rest = noun.partition(" ")
    if first == "Helm":
        return f"{noun}s"
    return f"{first}s{space}{rest}"


def config_text(found: Inspection) -> str:
    """Returns a config for a repository, with comments."""
    return "\n".join("\n".join(part) + "\n" for part in _parts(found))


def _parts(found: Inspection) -> Iterator[Sequence[str]]:
    yield (
        "# Settings of kcheck. `kcheck config FILE` shows which of them apply to a file, `kcheck rules` lists the rules.",
        "",
        "# The rules to start from: minimal, default, recommended or strict.",
        "extends: default",
    )
    about = "# The Kubernetes version of your clusters, or a range such as"
    if found.kubernetes:
        yield (f'{about} "1.30-1.33". Found in {_places(found.versions)}.', f'kubernetes: "{found.kubernetes}"')
    else:
        yield (f'{about} "1.30-1.33". By default the newest that kcheck supports.', '# kubernetes: "1.33"')
    if found.crds:
        folders = [_quoted(f"{folder}/") for folder in _outermost(found.crds)]
        yield (
            "# CustomResourceDefinitions in the input are used. To validate custom resources when only other folders are checked, add:",
            f"# schemas: [{', '.join(folders)}]",
        )
    if found.charts:
        yield (
            "# Templates of Helm charts are not checked. Check what they render:",
            *(f"#   helm template {_one_line(chart)} | kcheck check -" for chart in found.charts[:_MAX_SHOWN]),
        )
    for each in found.configs[:1]:
        yield (f"# To convert the config of {each.text}, run `kcheck migrate {_one_line(each.file)}` and copy its rules.",)
    yield (
        "# If the repository contains all objects of its cluster, report references to objects that do not exist. `provided` names files",
        "# with objects that the cluster already has, such as the output of kubectl get ingressclasses,storageclasses -o yaml.",
        "# complete: true",
        "# provided: [cluster.yaml]",
    )
    yield ("# Files and folders that are not checked.", "# exclude: [vendor/]")
    yield (
        "# Severities, options, on and off, for single rules and for groups.",
        "# rules:",
        "#   security: warning",
        "#   latest-tag: error",
        "#   missing-memory-limit: off",
    )


def _places(hints: Sequence[Hint]) -> str:
    places = [_one_line(f"{each.file}:{each.line}") for each in hints[:_MAX_SHOWN]]
    more = len(hints) - len(places)
    return ", ".join(places) + (f" and {more} more" if more > 0 else "")


def _outermost(folders: Iterable[str]) -> list[str]:
    """Returns the folders that are in none of the others."""
    kept: list[str] = []
    for folder in sorted(folders):
        if not any(folder.startswith(f"{each}/") for each in kept):
            kept.append(folder)
    return kept


def _one_line(text: str) -> str:
    """Returns a path for a comment: control characters, which could end it, are made visible."""
    return Glyphs().visible(text)


def _quoted(text: str) -> str:
    import json

    return text if text.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum() else json.dumps(text)
