"""The advice of a finding, followed to the letter, removes the finding, adds no error and changes nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from kcheck.rule.registry import Registry
from tests.advice.following import advice_of, broken_promises
from tests.advice.mistakes import with_mistake
from tests.fuzz.seeds import manifests

ALL = tuple(Registry.load().rules)
CORPUS = Path(__file__).parent.parent.parent.parent / "shared" / "corpus" / "manifests"
# Of 3,367 files; the advice of each rule is followed a few times.
EVERY = 9
MOST = 4


def test_advice_of_examples_of_frequent_rules() -> None:
    """A part of the slow test below that is fast enough for every run."""
    wanted = ("wrong-type", "unknown-field", "duplicate-key", "invalid-ip-address", "unsupported-value")
    followed: Counter[str] = Counter()
    seeds = [text for text in manifests() if any(word in text for word in ("drop: ALL", "0123456", "Policy: always", "second", "none"))]
    broken = [each for text in seeds for each in broken_promises(text, wanted, followed)]
    assert broken == []
    assert followed["wrong-type"] > 5


@pytest.mark.slow
def test_advice_of_examples() -> None:
    followed: Counter[str] = Counter()
    assert [each for text in manifests() for each in broken_promises(text, ALL, followed)] == []
    assert len(followed) > 100


@pytest.mark.slow
def test_advice_of_mistakes() -> None:
    random, followed = Random(14), Counter[str]()
    texts = [changed for text in manifests()[::2] if (changed := with_mistake(random, text)) is not None]
    assert [each for text in texts for each in broken_promises(text, (), followed, 25)] == []
    assert followed["wrong-type"] > 10


@pytest.mark.slow
def test_advice_of_the_corpus() -> None:
    if not CORPUS.is_dir():
        pytest.skip(f"{CORPUS} is absent")
    followed: Counter[str] = Counter()
    broken = []
    for path in sorted(CORPUS.rglob("*.yaml"))[::EVERY]:
        text = path.read_text(encoding="utf-8", errors="replace")
        if len(text) < 20_000 and "\ufffd" not in text:
            broken += [f"{path}: {each}" for each in broken_promises(text, (), followed, MOST)]
    assert broken == []
    assert followed


def test_texts_that_help_suggests_are_found() -> None:
    from kcheck.testing import check_text

    text = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  clusterIP: none\n  ports: [{port: 80}]\n"
    (finding,) = check_text(text, ["spec"])
    advice = advice_of(finding, text)
    assert advice is not None
    assert [edit.text for edit in advice.edits] == ["None"]
