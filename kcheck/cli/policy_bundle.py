"""`kcheck policy bundle PATH`"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import click

from kcheck.cli.policy_sources import LoadedPolicies, find_policies, source_options
from kcheck.cli.policy_yaml import yaml_of
from kcheck.cli.settings import Failure
from kcheck.policy.rules.definitions import SUFFIX
from kcheck.policy.rules.vap import Inconvertible, policy_of
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

_KEYS = ("name", "version", "authors", "docs")


@click.command(short_help="Print a folder of policies for the cluster.")
@click.argument("folder", type=click.Path(exists=True))
@source_options
def policy_bundle(folder: str, **values: Any) -> None:
    """Print the policies of a folder as ValidatingAdmissionPolicies with bindings, for kubectl apply.

    A file of the folder, such as bundle.kcheck.yaml, has the key bundle with name, version, authors and docs. Each object gets them as
    labels and annotations. Short rules about API types are left out, which is reported.

    Exit status: 0 success, 1 some rules cannot be converted, 2 a policy is invalid.
    """
    sources = find_policies((folder,), values)
    bundle = _PolicyBundle.of(sources)
    failed = False
    click.echo(f"# {bundle.name} {bundle.version}")
    for rule in sources.rules():
        try:
            for each in policy_of(rule, sources.store):
                click.echo(f"---\n{yaml_of(bundle.marked(each))}", nl=False)
        except Inconvertible as error:
            failed = True
            click.echo(f"kcheck: {rule.id} is left out: {error}", err=True)
    for resource in sources.objects():
        if "AdmissionPolic" in resource.kind:
            click.echo(f"---\n{yaml_of(bundle.marked(resource.node.plain()))}", nl=False)
    sys.exit(1 if failed else 0)


class _PolicyBundle(NamedTuple):
    """The description of a bundle."""

    name: str
    version: str
    authors: str
    docs: str

    @classmethod
    def of(cls, sources: LoadedPolicies) -> _PolicyBundle:
        """Returns the description in the files of a folder. Raises Failure if there is none."""
        for path, text in sources.files:
            node = next((each.root["bundle"] for each in parse(Source(path, text)) if each.root["bundle"].is_map), None)
            if path.endswith(SUFFIX) and node is not None:
                unknown = sorted({name for name, _ in node.entries} - set(_KEYS))
                if unknown or not node["name"].text or not node["version"].text:
                    raise Failure(f"kcheck: {path}: bundle has the keys {', '.join(_KEYS)}; name and version must be strings")
                authors = node["authors"]
                named = [each.text for each in authors] if authors.is_list else [authors.text]
                return cls(node["name"].text, node["version"].text, ", ".join(named), node["docs"].text)
        raise Failure("kcheck: no bundle; add a file bundle.kcheck.yaml with bundle: {name: ..., version: ...}")

    def marked(self, object: dict[str, Any]) -> dict[str, Any]:
        """Returns an object with the labels and annotations of the bundle."""
        metadata = dict(object.get("metadata") or {})
        labels = {"app.kubernetes.io/part-of": self.name, "app.kubernetes.io/version": self.version}
        annotations = {key: value for key, value in (("kcheck.dev/authors", self.authors), ("kcheck.dev/docs", self.docs)) if value}
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
        if annotations:
            metadata["annotations"] = {**(metadata.get("annotations") or {}), **annotations}
        return {**object, "metadata": metadata}
