"""Compares how kcheck and kubectl read invalid and hostile YAML.

    (cd benchmarks/yaml_oracle && GOFLAGS=-trimpath go build -o /tmp/yaml_oracle .)
    python benchmarks/differential.py /tmp/yaml_oracle [FOLDER]... [--inputs 150000] [--seed 0] [--show 2]
    python benchmarks/differential.py /tmp/yaml_oracle --record tests/tree/answers.jsonl

Inputs are mutants of the examples of the rule pages, of the snippets in tests/fuzz/yaml_mutation.py and of the manifests in the folders.
An input depends only on the seed, its number and the folders. The number of documents, the rejected documents and the values of the others
are compared. Each class of differences is printed with its count, and with the reason if it is intended. The exit status is 1 if a class
has no reason. `--record` writes the answers for the snippets, which a test compares with kcheck.
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kcheck.text.source import Source, Undecodable  # noqa: E402
from kcheck.yaml.parse import parse  # noqa: E402
from tests.fuzz.yaml_mutation import mutant, snippets, texts  # noqa: E402
from tests.tree.answers import difference, reason  # noqa: E402

BATCH = 2_000
_LARGEST = 4_000
"""Maximum characters of a manifest that is mutated: shorter manifests allow more inputs in the same time."""


def main() -> int:
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("oracle", help="program built from benchmarks/yaml_oracle")
    flags.add_argument("folders", nargs="*", type=Path, help="folders with manifests")
    flags.add_argument("--inputs", type=int, default=150_000)
    flags.add_argument("--seed", type=int, default=0)
    flags.add_argument("--only", type=int, metavar="NUMBER", help="only this input, printed with both answers")
    flags.add_argument("--show", type=int, default=2, metavar="N", help="examples to print per class (default 2)")
    flags.add_argument("--plain", action="store_true", help="compare the original texts instead of mutants")
    flags.add_argument("--record", type=Path, metavar="FILE", help="write the answers for the snippets")
    given = flags.parse_intermixed_args()
    if given.record:
        asked = snippets()
        rows = ({"text": text, "documents": answer} for text, answer in zip(asked, ask(given.oracle, asked), strict=True))
        given.record.write_text("".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows), encoding="utf-8")
        return 0
    seeds = (*texts(), *manifests(given.folders))
    if given.plain:
        inputs: Iterator[tuple[int, str]] = enumerate(seeds)
    else:
        numbers = range(given.inputs) if given.only is None else [given.only]
        inputs = ((number, mutant(Random(f"{given.seed}/{number}"), seeds)) for number in numbers)
    found, examples, made = compare_all(given.oracle, inputs, given.show, given.only is not None)
    for name, number in found.most_common():
        print(f"{number:8} {name}: {reason(name) or 'UNEXPLAINED'}")
        for example in () if reason(name) else examples[name]:
            print("         " + example)
    unexplained = sum(number for name, number in found.items() if not reason(name))
    print(f"{made} inputs, seed {given.seed}: {sum(found.values())} differ, {unexplained or 'none'} without a reason")
    return 1 if unexplained else 0


def compare_all(oracle: str, inputs: Iterator[tuple[int, str]], most: int, talk: bool) -> tuple[Counter[str], dict[str, list[str]], int]:
    """Returns the number of differing inputs and examples by class, and the number of inputs."""
    found: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    made = 0
    batch: list[tuple[int, str]] = []
    for entry in inputs:
        if is_text(entry[1]):
            batch.append(entry)
        if len(batch) == BATCH:
            made += judge(oracle, batch, found, examples, most, talk)
            batch = []
    made += judge(oracle, batch, found, examples, most, talk)
    return found, examples, made


def judge(oracle: str, batch: list[tuple[int, str]], found: Counter[str], examples: dict[str, list[str]], most: int, talk: bool) -> int:
    for (number, text), theirs in zip(batch, ask(oracle, [text for _, text in batch]), strict=True):
        ours = read(text)
        if talk:
            print(repr(text), *theirs, *ours, sep="\n")
        name = difference(text, ours, theirs)
        if name:
            found[name] += 1
            some = examples.setdefault(name, [])
            some.append(f"{number}: {text!r}")
            some.sort(key=len)
            del some[most:]
    return len(batch)


def manifests(folders: list[Path]) -> Iterator[str]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".yaml", ".yml", ".json") and path.stat().st_size <= _LARGEST:
                yield path.read_text(encoding="utf-8", errors="replace")


def is_text(text: str) -> bool:
    """Whether kcheck can decode a text, and as UTF-8, the only encoding that kubectl supports."""
    try:
        source = Source.decode("a.yaml", text.encode())
    except (Undecodable, UnicodeEncodeError):
        return False
    return source.encoding == "utf-8" and "\0" not in source.text


def ask(oracle: str, asked: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    encoded = [text.encode() for text in asked]
    data = b"".join(struct.pack(">I", len(each)) + each for each in encoded)
    answers = subprocess.run([oracle], input=data, stdout=subprocess.PIPE, check=True).stdout
    at = 0
    for _ in asked:
        (size,) = struct.unpack_from(">I", answers, at)
        yield json.loads(answers[at + 4 : at + 4 + size])
        at += 4 + size


def read(text: str) -> list[dict[str, Any]]:
    """Returns the documents of kcheck in the format of an answer."""
    source = Source.decode("a.yaml", text.encode())
    try:
        documents = parse(source)
    except Exception as error:
        return [{"error": f"crash: {error!r}"}]
    return [{"error": d.fault.message} if d.fault else {"json": d.root.plain()} for d in documents]


if __name__ == "__main__":
    sys.exit(main())
