"""No output shows a secret value, whatever rules run: each place in `secret_places.py`, in each form, in shards and in the cache."""

from __future__ import annotations

import gc
import io
import json
import sys
from base64 import b64encode
from collections.abc import Iterator

import pytest

from kcheck.cli.main import main
from kcheck.redaction.document_secrets import Secrets
from kcheck.redaction.search import may_hide
from kcheck.reporters.plugin import BUILT_IN
from kcheck.text.source import Source
from kcheck.yaml.node import Node
from kcheck.yaml.parse import parse
from tests.robustness.secret_places import PLACES

FORMS = tuple(each.name for each in BUILT_IN)
DRAWINGS = ("text", "json", "dot", "mermaid", "html")
SETS = {"default": (), "all": ("--select", "all")}
NAMES = list(PLACES)


def mark_of(name: str) -> str:
    """The value of a place: random enough for the names that ask for that."""
    return f"k7Jx2mQ9vB4tR{NAMES.index(name):02d}wZ1nY6"


def forms_of(name: str) -> list[str]:
    """What must not be found: the value, the one beside it, and both as base64 hides them."""
    mark, number = mark_of(name), NAMES.index(name)
    return [mark, b64encode(f"shop:{mark}".encode()).decode(), f"7700{number:02d}31"]


def text_of(name: str) -> str:
    mark, login, number = forms_of(name)
    text = PLACES[name].replace("#!", "# kcheck: ignore[nonsense]").replace("LOGIN", login).replace("NUMBER", number[4:])
    return text.replace("NAME", f"a{NAMES.index(name)}").replace("MARK", mark)


def kcheck(*arguments: str) -> str:
    """What a run prints, errors included."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    patch = pytest.MonkeyPatch()
    with patch.context() as here:
        here.setattr(sys, "argv", ["kcheck", *arguments])
        here.setattr(sys, "stdout", out)
        here.setattr(sys, "stderr", out)
        with pytest.raises(SystemExit):
            main()
    gc.unfreeze()
    gc.enable()
    out.flush()
    return out.buffer.getvalue().decode()  # type: ignore[attr-defined, no-any-return]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All that kcheck writes about all places, by what it is."""
    folder, kept = tmp_path_factory.mktemp("input"), tmp_path_factory.mktemp("kept")
    for number, name in enumerate(NAMES):
        if name in ("secretGenerator", "kustomize URL"):
            (folder / str(number)).mkdir()
            (folder / str(number) / "kustomization.yaml").write_text(text_of(name))
        else:
            (folder / f"{number}.yaml").write_bytes(text_of(name).encode())
    found: dict[str, str] = {}
    patch = pytest.MonkeyPatch()
    patch.setenv("KCHECK_CACHE_DIR", str(kept / "cache"))
    patch.delenv("KCHECK_NO_CACHE", raising=False)
    config = kept / "kcheck.yaml"
    config.write_text("complete: true\n")
    # So little input is not worth a cache.
    patch.setattr("kcheck.run.run.CACHE_MIN_CHARS", 0)
    patch.chdir(folder)
    for title, chosen in SETS.items():
        for form in FORMS:
            found[f"{form}, {title}"] = kcheck("check", "--config", str(config), "-j", "1", *chosen, "--format", form, ".")
        found[f"diff, {title}"] = kcheck("check", "--isolated", "--no-cache", "-j", "1", *chosen, "--unsafe-fixes", "--diff", ".")
        shard = kept / f"{title}.shard"
        sharding = ("--no-cache", *chosen, "--shard", "1/1", "--output", str(shard))
        found[f"writing a shard, {title}"] = kcheck("check", "--isolated", *sharding, ".")
        found[f"shard, {title}"] = shard.read_text()
    for form in DRAWINGS:
        found[f"graph in {form}"] = kcheck("graph", "--isolated", "--format", form, ".")
    for form in ("yaml", "json"):
        found[f"defaults in {form}"] = kcheck("defaults", "--isolated", "--format", form, ".")
    found["cache"] = "".join(path.read_bytes().decode("latin-1") for path in (kept / "cache").rglob("*") if path.is_file())
    patch.undo()
    return found


def test_there_is_something_to_see(outputs: dict[str, str]) -> None:
    """Each place has a finding with its line, which shows asterisks."""
    assert not [name for name, text in outputs.items() if len(text) < 1000 and not name.startswith(("writing", "diff, default"))]
    found = json.loads(outputs["json, all"])["findings"]
    files = {finding["file"] for finding in found}
    assert not [name for number, name in enumerate(NAMES) if not {f"{number}.yaml", f"{number}/kustomization.yaml"} & files]
    assert outputs["text, default"].count("*****") > len(NAMES) / 2


@pytest.mark.parametrize("name", NAMES)
def test_no_output_shows_it(outputs: dict[str, str], name: str) -> None:
    assert [(output, form) for form in forms_of(name) for output, text in outputs.items() if form in text] == []


def nodes_below(node: Node) -> Iterator[Node]:
    yield node
    for child in node if node.is_map or node.is_list else ():
        yield from nodes_below(child)


@pytest.mark.parametrize("name", NAMES)
def test_the_fast_check_of_a_value_agrees_with_the_search(name: str) -> None:
    for document in parse(Source("a.yaml", text_of(name))):
        searched = Secrets(document)
        assert searched.found is not None
        for node in nodes_below(document.root):
            if not (node.is_map or node.is_list) and searched.hides(node):
                assert may_hide(node, document), node.path
