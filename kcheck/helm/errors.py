"""Error messages of helm: where the mistake is, what it is and what helps."""

from __future__ import annotations

import re

from kcheck.text.pattern import pattern
from kcheck.text.record import NamedTuple

_PLACE = pattern(r"(?:\(|template: |^)([^\s():]+/templates/[^\s():]+):(\d+)(?::(\d+))?\)?:?\s*")
_EXECUTING = pattern(r'^executing "[^"]*" at <(.*?)>: ', re.DOTALL)
_MISSING = pattern(r"found in Chart\.yaml, but missing in charts/ directory: (.+)")
_SCHEMA = pattern(r"^ *- at '([^']*)': (?!validation failed$)(.+)$", re.MULTILINE)
_OLD_SCHEMA = pattern(r"^- ([\w().]+): (.+)$", re.MULTILINE)
_YAML_LINE = pattern(r"\byaml: line (\d+)")
_VERSION = pattern(r"chart requires kubeVersion: (.+?) which is incompatible with Kubernetes (\S+)")
_MAX_MESSAGE = 400
_MAX_SCHEMA_ERRORS = 3
NEEDS_VALUES = "add values for checks in ci/example-values.yaml, or name a file in charts of the config"
"""The help where a chart says that its own values do not suffice."""


class HelmError(NamedTuple):
    """An error of helm.

    Attributes:
        message: what is wrong.
        help: what to do, "" if that is not known.
        template: the name of the template with the mistake, as helm prints it, "" if the mistake is elsewhere.
        line: line of the mistake in the template, or in `file`; from 1.
        column: column of the mistake, from 1.
        file: "Chart.yaml" or "values.yaml" for mistakes in these files, otherwise "".
        pointer: keys that lead to an invalid value.
        subject: what the message is about: the name of a missing dependency.
    """

    message: str
    help: str = ""
    template: str = ""
    line: int = 1
    column: int = 1
    file: str = ""
    pointer: tuple[str, ...] = ()
    subject: str = ""


def read_error(message: str) -> HelmError:
    """Return what a message of helm says."""
    if match := _MISSING.search(message):
        names = match[1].strip()
        return HelmError(
            f"dependencies are missing in charts/: {names}",
            "run helm dependency build",
            file="Chart.yaml",
            subject=names.partition(",")[0].strip(),
        )
    if match := _VERSION.search(message):
        return HelmError(f"kubeVersion {match[1]} excludes Kubernetes {match[2]}", file="Chart.yaml", subject="kubeVersion")
    if "don't meet the specifications of the schema" in message:
        return _schema_error(message)
    places = list(_PLACE.finditer(message))
    if places:
        last = places[-1]
        text, help = _EXECUTING.sub("", message[last.end() :]).strip() or message, ""
        if message.startswith("execution error at"):
            # `required` and `fail` say what is missing.
            text, help = message[places[0].end() :].strip() or text, NEEDS_VALUES
        return HelmError(_shortened(text), help, template=last[1], line=int(last[2]), column=int(last[3] or 0) + 1)
    line = _YAML_LINE.search(message)
    if "values.yaml" in message:
        return HelmError(_shortened(message), file="values.yaml", line=int(line[1]) if line else 1)
    return HelmError(_shortened(message), file="Chart.yaml")


def _schema_error(message: str) -> HelmError:
    chart = message.partition("\n")[2].partition(":")[0].strip()
    # Of alternatives, the messages below the first line say why each of them failed.
    found = [(_keys_of(match[1]), match[2]) for match in _SCHEMA.finditer(message)]
    if found:
        shown = [f"{'.'.join(keys)}: {text}" if keys else text for keys, text in found[:_MAX_SCHEMA_ERRORS]]
        more = "; ..." if len(found) > len(shown) else ""
        return HelmError(f"{'; '.join(shown)}{more} (values.schema.json)", file="values.yaml", pointer=found[0][0], subject=chart)
    if match := _OLD_SCHEMA.search(message):
        keys = () if match[1] == "(root)" else tuple(match[1].split("."))
        return HelmError(f"{match[1]}: {match[2]} (values.schema.json)", file="values.yaml", pointer=keys, subject=chart)
    return HelmError(_shortened(message), file="values.yaml", subject=chart)


def _keys_of(pointer: str) -> tuple[str, ...]:
    """Return the keys of a JSON pointer."""
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/") if part)


def _shortened(message: str) -> str:
    text = " ".join(message.split())
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}..."
