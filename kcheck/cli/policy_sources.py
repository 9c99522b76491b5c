"""The policies that the commands of `kcheck policy` work on: those of paths, or else those of the config."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import click

from kcheck.check.session import Session
from kcheck.cli.options import LocalPath, option
from kcheck.cli.settings import Failure, find_config, reported_errors
from kcheck.discovery.discover import UnreadablePath, discover
from kcheck.discovery.load import load_file
from kcheck.engine import settings
from kcheck.engine.options import CheckOptions
from kcheck.kube.resource import Resource, resources
from kcheck.policy.admission.definitions import AdmissionPolicy, Binding, read_admission_objects
from kcheck.policy.policy_input import RelatedObject
from kcheck.policy.policy_tests import is_test_file
from kcheck.policy.rules.definitions import SUFFIX, InvalidRules, ShortRule
from kcheck.policy.rules.rule_files import check_rule_files
from kcheck.rule.registry import Registry
from kcheck.run.file_stage import check_alone
from kcheck.run.policy_relations import find_relations
from kcheck.schema.store import Store
from kcheck.text.source import Source
from kcheck.yaml.parse import parse

Command = Callable[..., Any]


def source_options(command: Command) -> Command:
    """Adds the options that decide which config, kinds and Kubernetes version apply."""
    for add in (
        option("--isolated", is_flag=True, help="Ignore all config files."),
        option("--config", type=click.Path(exists=True, dir_okay=False), default=None, help="Use this config file."),
        option("--schemas", multiple=True, type=LocalPath(exists=True), help="File or folder with CustomResourceDefinitions. Repeatable."),
        option("--kubernetes", default="", metavar="VERSION", help="Kubernetes version such as 1.36. [default: newest]"),
    ):
        command = add(command)
    return command


class LoadedPolicies(NamedTuple):
    """Files with policies.

    Attributes:
        files: Paths and contents.
        store: The kinds of the newest Kubernetes version.
        session: The settings of the run.
    """

    files: tuple[tuple[str, str], ...]
    store: Store
    session: Session

    def rules(self) -> list[ShortRule]:
        """Returns the short rules. Raises Failure with all errors in them."""
        try:
            return check_rule_files([each for each in self.files if each[0].endswith(SUFFIX)], self.store)
        except InvalidRules as error:
            texts = dict(self.files)
            lines = [line for each in error.mistakes for line in (str(each), *excerpt(texts[each.file], each.line, each.column))]
            raise Failure("\n".join(lines)) from None

    def admission(self) -> tuple[list[AdmissionPolicy], list[Binding]]:
        """Returns the admission policies and their bindings."""
        found = read_admission_objects(each for each in self.objects() if "AdmissionPolic" in each.kind)
        return [*found.validating, *found.mutating], [*found.validating_bindings, *found.mutating_bindings]

    def objects(self) -> Iterator[Resource]:
        """Yields the objects in all files."""
        for path, text in self.files:
            if not path.endswith(SUFFIX) and not is_test_file(path):
                for document in parse(Source(path, text)):
                    yield from resources(document)

    def find_relations(self, texts: Sequence[tuple[str, str]]) -> tuple[RelatedObject, ...]:
        """Returns the related objects in files with examples, given as paths and contents."""
        return find_relations(texts, self.session, check_alone, abridged=True)

    def tests(self) -> list[tuple[str, str]]:
        """Returns the test files."""
        return [each for each in self.files if is_test_file(each[0])]


def find_policies(paths: Sequence[str], values: dict[str, Any]) -> LoadedPolicies:
    """Returns the policies in paths, or without paths those of the config, or else those in files with short rules of the current folder.

    Raises ClickException if there are none.
    """
    options = CheckOptions(**values)
    registry = Registry.load()
    config = find_config(options, registry)
    with reported_errors():
        session = settings.create_session(options, config._replace(policies=type(config.policies)()), registry)
    files: dict[str, str] = dict(config.policies.rules) if not paths else {}
    for path in paths or [os.path.relpath(each) for each in config.policies.paths]:
        try:
            files |= dict(read_path(path))
        except OSError as error:
            raise Failure(f"kcheck: {path}: {error.strerror or error}") from None
    if not files and not paths:
        for path in sorted(each for each in os.listdir(".") if each.endswith(SUFFIX) and each != SUFFIX):
            files |= dict(read_path(path))
    if not files:
        raise click.UsageError("no policies; create one with kcheck policy new ID, name files or folders, or set policies in the config")
    return LoadedPolicies(tuple(files.items()), session.stores[-1], session)


def read_path(path: str) -> Iterator[tuple[str, str]]:
    """Yields paths and contents of the files in a path. Raises OSError if it does not exist or cannot be read."""
    if not os.path.exists(path):
        raise FileNotFoundError(2, "no such file or folder")
    for target in discover([path]).targets:
        source = load_file(target)
        if isinstance(source, UnreadablePath):
            raise OSError(5, source.message)
        yield target.path, source.text


def excerpt(text: str, line: int, column: int, length: int = 1) -> list[str]:
    """Returns a line of a file with carets below its characters from a column."""
    lines = text.splitlines()
    if not 0 < line <= len(lines):
        return []
    shown, number = lines[line - 1], str(line)
    gap = " " * len(number)
    carets = "^" * max(1, min(length, len(shown) - column + 1))
    return [f"{gap} |", f"{number} | {shown}", f"{gap} | {' ' * (column - 1)}{carets}"]


def counted_policies(number: int) -> str:
    """Returns a number with its noun."""
    return f"{number} policy" if number == 1 else f"{number} policies"
