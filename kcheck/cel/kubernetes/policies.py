"""CEL expressions of admission policies and webhooks: their variables and result types.

    compiler = PolicyCompiler(params=True, variables=True)
    compiler.declare("foo", "object.spec.replicas > 1")     # (), or issues
    compiler.compile("variables.foo", "bool")               # a Program, or issues

Source: k8s.io/apiserver/pkg/admission/plugin/cel and pkg/cel/mutation.
"""

from __future__ import annotations

from collections.abc import Mapping

from kcheck.cel.eval.program import LATEST, Environment, Program
from kcheck.cel.language.issues import Issue
from kcheck.cel.values import types
from kcheck.cel.values.types import BOOL, DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of


class Record:
    """The fields of an object type by name; without fields, any field has type dyn."""

    def __init__(self, fields: Mapping[str, Type] | None) -> None:
        self._fields = fields

    def is_escaped(self, name: str) -> bool:
        """Return False: the fields of requests are declared under their names."""
        return False

    def field(self, name: str) -> Type | None:
        """The type of a field."""
        return DYN if self._fields is None else self._fields.get(name)


def _record(name: str, fields: Mapping[str, Type] | None) -> Type:
    return Type("object", name, fields=Record(fields))


_STRINGS = list_of(STRING)
_KIND = _record("kubernetes.GroupVersionKind", {"group": STRING, "version": STRING, "kind": STRING})
_RESOURCE = _record("kubernetes.GroupVersionResource", {"group": STRING, "version": STRING, "resource": STRING})
_USER = _record("kubernetes.UserInfo", {"username": STRING, "uid": STRING, "groups": _STRINGS, "extra": map_of(STRING, _STRINGS)})
REQUEST = _record("kubernetes.AdmissionRequest", {
    "kind": _KIND, "resource": _RESOURCE, "subResource": STRING, "requestKind": _KIND, "requestResource": _RESOURCE,
    "requestSubResource": STRING, "name": STRING, "namespace": STRING, "operation": STRING, "userInfo": _USER, "dryRun": BOOL,
    "options": DYN,
})  # fmt: skip
_METADATA = _record("kubernetes.NamespaceMetadata", {
    "name": STRING, "generateName": STRING, "namespace": STRING, "labels": map_of(STRING, STRING), "annotations": map_of(STRING, STRING),
    "UID": STRING, "creationTimestamp": TIMESTAMP, "deletionGracePeriodSeconds": INT, "deletionTimestamp": TIMESTAMP, "generation": INT,
    "resourceVersion": STRING, "finalizers": _STRINGS,
})  # fmt: skip
_CONDITION = _record("kubernetes.NamespaceCondition", {
    "status": STRING, "type": STRING, "lastTransitionTime": TIMESTAMP, "message": STRING, "reason": STRING,
})  # fmt: skip
NAMESPACE = _record("kubernetes.Namespace", {
    "metadata": _METADATA, "spec": _record("kubernetes.NamespaceSpec", {"finalizers": _STRINGS}),
    "status": _record("kubernetes.NamespaceStatus", {"conditions": list_of(_CONDITION), "phase": STRING}),
})  # fmt: skip
_AUTHORIZER = Type("opaque", "kubernetes.authorization.Authorizer")
_CHECK = Type("opaque", "kubernetes.authorization.ResourceCheck")
_JSON_PATCH = _record("JSONPatch", {"op": STRING, "path": STRING, "from": STRING, "value": DYN})
_OBJECT = _record("Object", None)

RESULTS: Mapping[str, tuple[Type, ...]] = {
    "bool": (BOOL,), "string": (STRING,), "string or null": (STRING, types.NULL), "object": (_OBJECT,), "patches": (list_of(_JSON_PATCH),),
    "any": (),
}  # fmt: skip
"""The allowed result types, by the names for `PolicyCompiler.compile`."""

_RESULT_NAMES = {"object": "an Object", "patches": "a list of JSONPatch"}


class PolicyCompiler:
    """`params`: the policy has a paramKind. `variables`: expressions can use the variables of the policy. `patches`: it mutates objects.

    The matchConditions of a webhook have none of these.
    """

    def __init__(self, params: bool = False, variables: bool = False, patches: bool = False, minor: int = LATEST) -> None:
        self._declared: dict[str, Type] | None = {} if variables else None
        self._params = params
        self._patches = patches
        self._minor = minor
        self._environments: dict[tuple[bool, bool, bool, int], Environment] = {}

    def declare(self, name: str, expression: str) -> tuple[Issue, ...]:
        """Compile a variable and declare it for later expressions, as dyn where it does not compile. Returns its issues."""
        # Expressions of variables cannot use JSONPatch.
        found = self._environment(True, True, True, False).compile(expression)
        if self._declared is not None:
            if name in self._declared:
                self._environments.clear()  # the key of the cache only has the number of variables
            self._declared[name] = _kept(found.type) if isinstance(found, Program) else DYN
        return () if isinstance(found, Program) else found

    def compile(
        self, expression: str, result: str, authorizer: bool = True, variables: bool = True, params: bool = True
    ) -> Program | tuple[Issue, ...]:  # fmt: skip
        """Compile an expression. `result`: a key of RESULTS. `authorizer`, `variables`, `params`: whether it can use them.

        messageExpression has no authorizer, and matchConditions have no variables.
        """
        found = self._environment(authorizer, variables, params, self._patches).compile(expression)
        wanted = RESULTS[result]
        if not isinstance(found, Program) or not wanted or found.type in wanted:
            return found
        return (Issue(f"the expression must return {_RESULT_NAMES.get(result, result)}, not {found.type!r}"),)

    def _environment(self, authorizer: bool, variables: bool, params: bool, patches: bool) -> Environment:
        declared = self._declared if variables else None
        key = (authorizer, params, patches, -1 if declared is None else len(declared))
        found = self._environments.get(key)
        if found is None:
            named: dict[str, Type] = {"object": DYN, "oldObject": DYN, "request": REQUEST, "namespaceObject": NAMESPACE}
            if self._params and params:
                named["params"] = DYN
            if authorizer:
                named |= {"authorizer": _AUTHORIZER, "authorizer.requestResource": _CHECK}
            if declared is not None:
                named["variables"] = _record("kubernetes.variables", dict(declared))
            libraries = frozenset(("jsonpatch",)) if patches else frozenset[str]()
            found = self._environments[key] = Environment(named, self._minor, _message if patches else None, libraries)
        return found


def _kept(type_: Type) -> Type:
    """The type of a variable for later expressions: scalars, and lists and maps of them; all other types are dyn."""
    if type_.kind == "list":
        return list_of(_kept(type_.params[0]))
    if type_.kind == "map":
        return map_of(_kept(type_.params[0]), _kept(type_.params[1]))
    return DYN if type_.kind in ("object", "opaque", "type") else type_


def _message(name: str) -> Type | None:
    """The message types of mutations: JSONPatch, Object, and types of fields such as Object.spec."""
    if name == "JSONPatch":
        return _JSON_PATCH
    if name == "Object":
        return _OBJECT
    return _record(name, None) if name.startswith("Object.") else None
