"""The documents: configs are valid, commands run, links and names exist."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import tarfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

from kcheck.cli.main import kcheck
from kcheck.config.file import read
from kcheck.config.mistake import BadConfig
from kcheck.helm.program import find_program
from kcheck.rule.registry import Registry
from tests.config.test_config_schema import schema_accepts
from tests.conftest import ROOT
from tests.docs.test_walkthroughs import make_repository
from tests.test_layers import LAYERS, imports, name_of

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md"), *ROOT.glob("examples/**/README.md")])
CONFIG_COMMENT = "# .kcheck.yaml"
"""A YAML block with this line among its leading comments is a config."""

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`\n]+)`")
_RULE_ID = re.compile(r"ignore\[([a-z, -]+)\]|kcheck\.dev/ignore: \"([a-z, -]+);|(?:error|warning|info)\[([a-z-]+)\]")
_PATH = re.compile(r"(?:kcheck|rules|tests|tools|benchmarks|schemas|examples|docs)/[\w./-]+\.(?:py|yaml|jsonl?|md)\b")


class Block(NamedTuple):
    """A fenced block of a document. `next`: the block that follows it, None where other text is between them."""

    document: Path
    line: int
    language: str
    text: str
    next: str | None

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def _blocks() -> Iterator[Block]:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        found = list(_BLOCK.finditer(text))
        for match, after in zip_longest(found, found[1:]):
            follows = after is not None and not text[match.end() : after.start()].strip()
            yield Block(document, text.count("\n", 0, match.start()) + 1, match[1], match[2], after[2] if after and follows else None)


def _is_config(block: Block) -> bool:
    comments = [line for line in block.text.splitlines() if line.startswith("#")]
    return block.language == "yaml" and CONFIG_COMMENT in comments


BLOCKS = list(_blocks())
CONFIGS = [block for block in BLOCKS if _is_config(block)]


def _commands() -> Iterator[tuple[Block, str]]:
    """The commands of shell blocks that begin with kcheck."""
    for block in BLOCKS:
        # A walkthrough runs its commands with its own files.
        if block.language == "sh" and block.document.name != "policies.md":
            for line in block.text.splitlines():
                for command in re.split(r"&&|\|", re.sub(r"(^|\s)#.*", "", line)):
                    # Redirections are for a shell.
                    command = re.sub(r">.*", "", command).strip().removeprefix(".venv/bin/")
                    if command.startswith("kcheck "):
                        yield block, command


COMMANDS = list(dict.fromkeys((block.document, command) for block, command in _commands()))


@pytest.fixture(scope="module")
def registry() -> Registry:
    return Registry.load()


@pytest.mark.parametrize("block", CONFIGS, ids=str)
def test_configs_are_valid_or_have_the_mistakes_that_follow(
    block: Block, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("crds").mkdir()
    Path("policies").mkdir()
    Path(".kcheck.yaml").write_text(block.text, encoding="utf-8")
    if block.next is None:
        read(Path(".kcheck.yaml"), registry)
        assert schema_accepts(block.text)
    else:
        with pytest.raises(BadConfig) as mistakes:
            read(Path(".kcheck.yaml"), registry)
        assert str(mistakes.value).strip() == block.next.strip()


def test_every_document_about_the_config_has_examples() -> None:
    documents = [block.document.name for block in CONFIGS]
    assert documents.count("config.md") >= 4
    assert {"README.md", "migrate.md"} <= set(documents)


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the commands of the documents name."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples")
    for name in ("k8s", "production", "repositories", "ci"):
        shutil.copytree(ROOT / "examples" / "good", name)
    shutil.copytree(ROOT / "examples" / "chart", "charts/shop")
    with tarfile.open("shop-1.2.0.tgz", "w:gz") as archive:
        archive.add("charts/shop", "shop")
    Path("ci/lint.sh").write_text("kube-score score --ignore-test pod-networkpolicy k8s/*.yaml\n", encoding="utf-8")
    shutil.copy("examples/good/api.yaml", "running.yaml")
    Path(".kube-linter.yaml").write_text("checks:\n  exclude: [latest-tag]\n", encoding="utf-8")
    Path(".checkov.yaml").write_text("skip-check: [CKV_K8S_14]\n", encoding="utf-8")
    Path("polaris.yaml").write_text("checks:\n  tagNotSpecified: danger\n", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(("document", "command"), COMMANDS, ids=[command for _, command in COMMANDS])
def test_commands_run(document: Path, command: str) -> None:
    """A command exits with 0, or with 1 if it checks or shows changes. Commands with a network address are parsed only."""
    arguments = shlex.split(command)[1:]
    if "--scheduler" in arguments or "acme" in command:
        parser = kcheck.get_command(click.Context(kcheck), arguments[0])
        assert parser is not None
        parser.make_context(arguments[0], arguments[1:])
        return
    if "--since" in arguments:
        make_repository()
    if arguments[:2] == ["baseline", "update"]:
        CliRunner().invoke(kcheck, ["baseline", "create"])
    done = CliRunner().invoke(kcheck, arguments, input=Path("examples/good/api.yaml").read_text(encoding="utf-8"))
    allowed = (0, 1) if arguments[0] == "check" or "--add-ignores" in arguments else (0,)
    if arguments[0] == "check" and not find_program():
        # A chart that is named cannot be checked.
        allowed = (0, 1, 2) if "shop" in command or "chart" in command else allowed
    assert done.exit_code in allowed, f"{document.name}: {command}\n{done.output}"


@pytest.mark.usefixtures("inputs")
def test_the_first_command_of_the_readme_does_what_it_says() -> None:
    assert CliRunner().invoke(kcheck, ["check", "examples/good"]).exit_code == 0
    assert CliRunner().invoke(kcheck, ["check", "examples/bad"]).exit_code == 1


def _anchors(document: Path) -> set[str]:
    """The anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", _BLOCK.sub("", document.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(document: Path) -> None:
    wrong = []
    for link in _LINK.findall(_CODE.sub("", document.read_text(encoding="utf-8"))) + _code_links(document):
        path, _, anchor = link.partition("#")
        if re.match(r"\w+://", path):
            continue
        target = (document.parent / path).resolve() if path else document
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            wrong.append(link)
    assert not wrong


def _code_links(document: Path) -> list[str]:
    """Links whose text is code: [`file`](file)."""
    return re.findall(r"\[`[^`]+`\]\(([^)\s]+)\)", document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_rules_that_are_named_exist(document: Path, registry: Registry) -> None:
    text = document.read_text(encoding="utf-8")
    files = {path for code in _CODE.findall(text) for path in _PATH.findall(code) if code.startswith(path) and "*" not in code}
    assert not [path for path in files if not (ROOT / path).exists() and not (document.parent / path).exists()]
    known = {*registry.rules, *registry.groups}
    named = {name.strip() for found in _RULE_ID.findall(text) for names in found for name in names.split(",") if name.strip()}
    tables = re.findall(r"^\| ([a-z]+(?:-[a-z]+)+) (?:\| \d+ ){4}\|$", text, re.MULTILINE) if document.name == "precision.md" else []
    replaced = re.findall(r"^\| [\w-]+/\S+ \| ([a-z, -]+) \| \d+ \|", text, re.MULTILINE)
    named |= {*tables, *(id for ids in replaced for id in ids.split(", "))}
    assert named <= known, named - known


@pytest.mark.parametrize("document", sorted((ROOT / "docs" / "migrate").glob("*.md")), ids=lambda path: path.name)
def test_migration_guides_name_rules_that_exist(document: Path, registry: Registry) -> None:
    codes = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", document.read_text(encoding="utf-8")))
    assert codes <= {*registry.rules, *registry.groups}


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "python"], ids=str)
def test_imports_of_python_blocks_exist(block: Block) -> None:
    for module, names in re.findall(r"^from (kcheck[\w.]*) import (.*)$", block.text, re.MULTILINE):
        for name in names.split(","):
            assert hasattr(importlib.import_module(module), name.strip()), f"{module}.{name}"


def test_the_table_of_packages_is_that_of_the_code() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `kcheck/(\w+)` \| .* \| ([\w, –]+) \|$", text, re.MULTILINE))
    assert tuple(rows) == LAYERS
    for package, listed in rows.items():
        modules = sorted((ROOT / "kcheck" / package).rglob("*.py"))
        used = {name.split(".")[1] for path in modules for name in imports(path) if name.startswith("kcheck.")} & set(LAYERS)
        assert used - {package} <= set(listed.split(", ")), f"{package}: {used}, {name_of(modules[0])}"


def test_functions_of_the_paths_exist() -> None:
    """The numbered paths of ARCHITECTURE.md name functions as `function` or `Class.method`; each is shorter than ten steps."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Paths through the code")[2].partition("\n## ")[0]
    paths = re.split(r"^\*\*A ", text, flags=re.MULTILINE)[1:]
    assert len(paths) == 3
    source = "\n".join(path.read_text(encoding="utf-8") for folder in ("kcheck", "rules") for path in sorted((ROOT / folder).rglob("*.py")))
    defined = set(re.findall(r"^\s*(?:def|class) (\w+)", source, re.MULTILINE))
    for path in paths:
        assert 3 <= len(re.findall(r"^\d+\. ", path, re.MULTILINE)) < 10
        names = re.findall(r"`((?:[A-Z]\w+\.)?[a-z]+(?:_[a-z]+)+|[A-Z]\w+\.\w+)`", path)
        assert not [name for name in names if not set(name.split(".")) <= defined], path.partition("\n")[0]
