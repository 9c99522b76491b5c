"""Which objects a target of a patch or a replacement means."""

from __future__ import annotations

from kcheck.kube.selector import BadSelector, parse
from kcheck.kustomize.item import Item
from kcheck.kustomize.nodes import text_of
from kcheck.kustomize.problem import BadInput
from kcheck.regex.automaton import TooManySteps, automaton
from kcheck.regex.parser import BadPattern
from kcheck.text.pattern import pattern
from kcheck.yaml.node import Node

_PLAIN = pattern(r"[\w/-]*")


def selected(items: list[Item], target: Node) -> list[Item]:
    """The objects that the target of a patch means: its fields are regular expressions. Raises BadInput."""
    found = []
    for item in items:
        first, id = item.first_id, item.id
        if not (_fits(target["namespace"], first.effective) or _fits(target["namespace"], id.effective)):
            continue
        if not (_fits(target["name"], first.name) or _fits(target["name"], id.name)):
            continue
        gvk = id.gvk
        if _fits(target["group"], gvk.group) and _fits(target["version"], gvk.version) and _fits(target["kind"], gvk.kind):
            found.append(item)
    return [item for item in found if labelled(item, target)]


def labelled(item: Item, target: Node) -> bool:
    """Whether labels and annotations are those that a target asks for. Raises BadInput."""
    for field, labels in (("labelSelector", item.labels), ("annotationSelector", item.annotations)):
        node = target[field]
        if node.text:
            try:
                if not parse(node.text).matches(labels):
                    return False
            except BadSelector as error:
                raise BadInput(f"{field} {node.text!r} cannot be parsed: {error.message}", node) from None
    return True


def _fits(node: Node, text: str) -> bool:
    wanted = text_of(node)
    if not wanted or wanted == text:
        return True
    if _PLAIN.fullmatch(wanted):
        return False
    return found_in(f"^(?:{wanted})$", text, node)


def found_in(expression: str, text: str, node: Node) -> bool:
    """Whether a regular expression of Go matches a part of a text. Raises BadInput."""
    try:
        return automaton(expression).search(text)
    except BadPattern as error:
        raise BadInput(f"{text_of(node)!r} is not a regular expression: {error}", node) from None
    except TooManySteps as error:
        raise BadInput(f"{text_of(node)!r} was not evaluated: {error}", node) from None
