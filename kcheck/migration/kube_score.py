"""Migration of kube-score, which is configured on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from kcheck.config.versions import parse_versions
from kcheck.migration.draft import ConfigDraft
from kcheck.migration.note import Note
from kcheck.migration.tools import KUBE_SCORE
from kcheck.schema.builtin.definitions import UnknownVersion

_SWITCHES = frozenset({
    "all-default-optional", "disable-ignore-checks-annotations", "disable-optional-checks-annotations", "exit-one-on-warning", "help",
    "ignore-container-cpu-limit", "ignore-container-memory-limit", "verbose",
})  # fmt: skip
_VALUES = frozenset({
    "color", "enable-optional-test", "ignore-test", "kubernetes-version", "min-replicas-deployment", "min-replicas-hpa",
    "output-format", "output-version",
})  # fmt: skip
_SHORT = {"o": "output-format", "v": "verbose"}
# Options of the report, or with the same effect as defaults of kcheck.
_IGNORED_FLAGS = frozenset({"color", "exit-one-on-warning", "help", "output-format", "output-version", "verbose"})
_PARTIAL_IGNORES = {"ignore-container-cpu-limit": "missing-cpu-limit", "ignore-container-memory-limit": "missing-memory-limit"}
_MINIMUM_OPTIONS = {"min-replicas-deployment": "too-few-replicas", "min-replicas-hpa": "hpa-min-replicas"}
_COMMAND_ENDS = frozenset({"|", "||", "&", "&&", ";", ">", ">>", "<"})


def command_line(text: str) -> list[str] | None:
    """Returns the arguments of the first call of kube-score in a text, which is a command line or a script; None without a call."""
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").splitlines():
        words = _words(line)
        call = next((n for n, word in enumerate(words) if word.rpartition("/")[2].partition(":")[0] == "kube-score"), None)
        if call is not None and "score" in words[call + 1 : call + 2]:
            return _up_to_end(words[call + 2 :])
        if call is None and words and _flag(words[0])[0] in _SWITCHES | _VALUES:
            return _up_to_end(_words(text) or words)
    return None


def _words(text: str) -> list[str]:
    """The words of a text in shell syntax, none if a quotation mark is not closed."""
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return []


def _up_to_end(words: Sequence[str]) -> list[str]:
    end = next((n for n, word in enumerate(words) if word in _COMMAND_ENDS), len(words))
    return [word.rstrip(";") for word in words[:end]]


def read(words: Sequence[str], file: str, draft: ConfigDraft) -> None:
    """Adds the arguments of `kube-score score` to the draft. File arguments are ignored."""
    draft.exclusive.append(False)
    wanted, ignored, minima = set(KUBE_SCORE.default), set[str](), dict[str, int]()
    halves = []
    for name, value in _flags(words, file, draft):
        if name == "all-default-optional":
            wanted |= KUBE_SCORE.optional
        elif name == "enable-optional-test":
            wanted |= set(_listed(value))
        elif name == "ignore-test":
            ignored |= set(_listed(value))
        elif name == "kubernetes-version":
            _version(value, file, draft)
        elif name in _PARTIAL_IGNORES:
            halves.append(name)
        elif name in _MINIMUM_OPTIONS and value.isdecimal():
            minima[_MINIMUM_OPTIONS[name]] = int(value)
        elif name not in _IGNORED_FLAGS:
            draft.notes.append(Note(file, 0, f"kube-score --{name}: kcheck has no such setting and always applies its own ignores"))
    for check in sorted(wanted - ignored):
        draft.want(KUBE_SCORE.name, check, file)
    for check in sorted(ignored):
        draft.refuse(KUBE_SCORE.name, check, file)
    for name in halves:
        # The flag switches off one half of a check, and kcheck has a rule for each half.
        draft.wanted.pop(_PARTIAL_IGNORES[name], None)
        draft.refused[_PARTIAL_IGNORES[name]].add(f"kube-score/--{name}")
    for id, minimum in minima.items():
        if id in draft.wanted:
            draft.set_option(id, "minimum", minimum, file)


def _flags(words: Sequence[str], file: str, draft: ConfigDraft) -> Iterator[tuple[str, str]]:
    rest = iter(words)
    for word in rest:
        name, equals, value = _flag(word)
        if name in _VALUES:
            yield name, value if equals else next(rest, "")
        elif name in _SWITCHES:
            if value.lower() not in ("false", "0", "f"):
                yield name, ""
        elif word.startswith("-") and word not in ("-", "--"):
            draft.notes.append(Note(file, 0, f"kube-score {word}: unknown flag"))


def _flag(word: str) -> tuple[str, str, str]:
    """Returns the name of a flag, "=" if a value follows in the same argument, and this value."""
    if word.startswith("--"):
        return word[2:].partition("=")
    name = _SHORT.get(word[1:2], "") if word.startswith("-") else ""
    value = word[2:].removeprefix("=")
    return (name, "=" if value and name in _VALUES else "", value if name in _VALUES else "")


def _listed(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _version(value: str, file: str, draft: ConfigDraft) -> None:
    version = value.removeprefix("v")
    try:
        parse_versions(version)
    except UnknownVersion as error:
        draft.notes.append(Note(file, 0, f"kube-score --kubernetes-version {value}: {error}; the newest version is used instead"))
        return
    draft.kubernetes = version
