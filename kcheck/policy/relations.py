"""The relations of the objects of an input, as functions of expressions in short rules.

The run finds them (`kcheck/run/policy_relations.py`), with the facts and within the deployment units that rules across objects use.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from kcheck.cel.library.relations import NAMES, RelationSource
from kcheck.cel.values.values import EvaluationError, Value
from kcheck.defaulting.objects import default_object
from kcheck.policy.admission.evaluation import without_secrets
from kcheck.policy.known_objects import KnownObjects, nearness
from kcheck.policy.policy_input import RelatedObject
from kcheck.policy.tracing import untraced
from kcheck.schema.store import Store

__all__ = ["NAMES", "InputRelations", "ObjectRelations"]

_Key = tuple[str, str, str, str]


class InputRelations:
    """The relations of all objects of an input. `objects`: the objects; a relation is the index of an object.

    Related objects are those that the API server holds, as the judged object is.
    """

    def __init__(self, objects: Iterable[RelatedObject], store: Store) -> None:
        self.objects = tuple(objects)
        self._store = store
        self._by_name: dict[_Key, list[int]] = defaultdict(list)
        self._incoming: dict[int, list[int]] = defaultdict(list)
        self._selecting: dict[int, list[int]] = defaultdict(list)
        for number, each in enumerate(self.objects):
            self._by_name[_key(each.api_version, each.kind, each.namespace, each.name)].append(number)
            for other in each.references:
                self._incoming[other].append(number)
            for other in each.selected:
                self._selecting[other].append(number)
        self._parsed: dict[str, Any] = {}

    def find(self, object: Value, file: str) -> int | None:
        """Return the index of an object in JSON: of several with its name, the one whose file is nearest to `file`."""
        metadata = _entry(object, "metadata")
        api_version, kind = _entry(object, "apiVersion"), _entry(object, "kind")
        namespace, name = _entry(metadata, "namespace"), _entry(metadata, "name")
        found = self._by_name.get(_key(str(api_version), str(kind), str(namespace or ""), str(name or "")), ())
        return max(found, key=lambda each: nearness(self.objects[each].file, file), default=None)

    def incoming(self, number: int) -> list[int]:
        """Return the objects that refer to an object by name."""
        return self._incoming.get(number, [])

    def selecting(self, number: int) -> list[int]:
        """Return the objects whose selectors match the Pods of an object."""
        return self._selecting.get(number, [])

    def object(self, number: int) -> Value:
        """Return an object in JSON, without the values of Secrets."""
        return without_secrets(self._value(self.objects[number].json))

    def pods(self, number: int) -> list[Value]:
        """Return the Pods of an object in JSON."""
        return [self._value(each) for each in self.objects[number].pods]

    def _value(self, text: str) -> Any:
        if text not in self._parsed:
            self._parsed[text] = default_object(json.loads(text), self._store, namespace="default", creation=False)
        return self._parsed[text]


def _key(api_version: str, kind: str, namespace: str, name: str) -> _Key:
    return api_version.rpartition("/")[0], kind, namespace or "default", name


class ObjectRelations(RelationSource):
    """The relations as an object in a file sees them."""

    __slots__ = ("_file", "_input", "_known")

    def __init__(self, input: InputRelations, known: KnownObjects, file: str) -> None:
        self._input = input
        self._known = known
        self._file = file

    def related(self, relation: str, object: Value) -> Value:
        """Return the related objects in JSON, each once, in the order of the input."""
        if not hasattr(object, "__getitem__") or isinstance(object, (str, bytes, list)):
            raise EvaluationError(f"{relation} needs an object")
        if relation == "namespaceOf":
            return self._namespace(object)
        number = self._input.find(object, self._file)
        if relation == "ownerOf":
            return self._owner(object, number)
        if number is None:
            workload = self._owner_number(object)
            return self._of_pod(relation, object, workload)
        return self._of_object(relation, number)

    def _of_object(self, relation: str, number: int) -> list[Value]:
        entry = self._input.objects[number]
        if relation == "podsOf":
            return self._input.pods(number) or [pod for each in _unique(entry.selected) for pod in self._input.pods(each)]
        if relation == "servicesOf":
            selecting = _unique(self._input.selecting(number))
            return [self._input.object(each) for each in selecting if self._input.objects[each].kind == "Service"]
        wanted = entry.references if relation == "references" else self._input.incoming(number)
        return [self._input.object(each) for each in _unique(wanted)]

    def _of_pod(self, relation: str, pod: Value, workload: int | None) -> list[Value]:
        """Return the relations of a Pod that podsOf returned: those of its workload, except references to the workload."""
        if relation == "podsOf":
            return [pod] if workload is not None else []
        if workload is None or relation == "referencedBy":
            return []
        return self._of_object(relation, workload)

    def _owner_number(self, object: Value) -> int | None:
        metadata = _entry(object, "metadata")
        owners = _entry(metadata, "ownerReferences")
        for each in owners if isinstance(owners, list) else ():
            written = {"apiVersion": _entry(each, "apiVersion"), "kind": _entry(each, "kind")}
            namespace = _entry(metadata, "namespace")
            found = self._input.find({**written, "metadata": {"name": _entry(each, "name"), "namespace": namespace or ""}}, self._file)
            if found is not None:
                return found
        return None

    def _owner(self, object: Value, number: int | None) -> Value:
        found = self._owner_number(object)
        return None if found is None or found == number else self._input.object(found)

    def _namespace(self, object: Value) -> Value:
        kind, metadata = _entry(object, "kind"), _entry(object, "metadata")
        namespace = _entry(metadata, "name") if kind == "Namespace" else _entry(metadata, "namespace")
        return self._known.namespace_of(str(namespace), self._file) if namespace else None


def _entry(value: Any, key: str) -> Any:
    value = untraced(value)
    return value[key] if value is not None and not isinstance(value, (str, list)) and key in value else None


def _unique(numbers: Iterable[int]) -> list[int]:
    return sorted(set(numbers))


def pod_of(template: Mapping[str, Any], owner: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Pod in JSON as a workload creates it from a template."""
    metadata = owner.get("metadata") or {}
    reference = {"apiVersion": owner.get("apiVersion"), "kind": owner.get("kind"), "name": metadata.get("name"), "controller": True}
    own = {key: value for key, value in (template.get("metadata") or {}).items() if key in ("labels", "annotations")}
    place = {"namespace": metadata["namespace"]} if metadata.get("namespace") else {}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {**own, **place, "generateName": f"{metadata.get('name')}-", "ownerReferences": [reference]},
        "spec": template.get("spec") or {},
    }  # fmt: skip
