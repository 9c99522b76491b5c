"""Generate schemas/kubernetes-1.NN.json and schemas/removed.json from the published Kubernetes API definitions.

    python tools/refresh_schemas.py [--definitions DIR] [--openapi FILE]

DIR contains `v1.NN.0-local/_definitions.json` files. The default is the folder in the installed development package
kubernetes-validate. These files define the kinds, types and fields of a version and which fields are required. FILE is a dump
of an API server: `resources` from discovery and `schemas` from /openapi/v3. Only the dump contains plural, scope,
enumerations, defaults and most list types; the data of a field is copied to the same field of the other versions. Without
FILE, the data is taken from the table that was generated with a dump, the one with an exact patch version.

removed.json contains the first release that served a kind, and the first release that no longer did. Entries that follow from
the tables are regenerated. Entries for kinds removed before the oldest table are maintained by hand and kept (1.11 to 1.24 were
compared with the definitions of their time, which until 1.17 list kinds that 1.16 had switched off).

kcheck/rule/vocabulary.json contains the names of all types and kinds, to validate the names in rules.

resources.json contains the RBAC resource names of the kinds of all versions; kcheck/schema/builtin/api_resources.py describes the entries
that are maintained by hand.

The format of the tables is described in kcheck/schema/builtin/definitions.py. This script is not part of the wheel.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "schemas"
COMPONENTS = SCHEMAS / "components.json"
VOCABULARY = ROOT / "kcheck" / "rule" / "vocabulary.json"

# Definitions that are not objects with fields, and the type expression for each.
_CRD = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"
EXPRESSIONS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "micro-time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "raw",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    _CRD: "any",
    **{f"{_CRD}SchemaPropsOr{other}": "?apiextensions/v1 JSONSchemaProps" for other in ("Array", "Bool", "StringArray")},
}

# Kinds of responses and request options, which are never manifests.
NO_MANIFEST = {"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "DeleteOptions", "Status", "WatchEvent"}

# Kinds that exist only as a subresource of another kind (pods/eviction), so they have no plural.
SUBRESOURCES = {("authentication.k8s.io", "TokenRequest"), ("autoscaling", "Scale"), ("policy", "Eviction")}

# Scope of kinds that no server with default settings serves, so that discovery does not contain them.
NAMESPACED = {
    "CompositePodGroup",
    "Eviction",
    "EvictionRequest",
    "LeaseCandidate",
    "PodCertificateRequest",
    "PodGroup",
    "PodScheduling",
    "PodSchedulingContext",
    "ResourceClaimParameters",
    "ResourceClassParameters",
    "Workload",
}
CLUSTER = {
    "ClusterCIDR",
    "ClusterTrustBundle",
    "DeviceTaintRule",
    "ResourceClass",
    "ResourcePoolStatusRequest",
    "StorageVersion",
    "StorageVersionMigration",
}

WORDS = {
    ("string", ""): "string",
    ("string", "byte"): "bytes",
    ("string", "date-time"): "time",
    ("boolean", ""): "boolean",
    ("integer", "int32"): "int32",
    ("integer", "int64"): "int64",
    ("integer", ""): "int64",
    ("number", "double"): "double",
}

_PACKAGE = re.compile(r"io\.k8s\.(?:api|[\w-]+\.pkg\.apis)\.([\w-]+)\.(v\w+)\.(\w+)")


def type_name(definition: str) -> str:
    """Returns the API type, such as "core/v1 Container", for the name of a definition. Raises ValueError if there is none."""
    match = _PACKAGE.fullmatch(definition)
    if match:
        return f"{match[1]}/{match[2]} {match[3]}"
    raise ValueError(f"not an API type: {definition}")


def expression(schema: Json) -> str:
    """Returns the type expression of a JSON Schema of kube-openapi. Raises ValueError for an unknown form."""
    for part in (schema, *schema.get("allOf", ())):
        if "$ref" in part:
            definition = part["$ref"].rpartition("/")[2]
            return EXPRESSIONS.get(definition) or type_name(definition)
    kind, form = schema.get("type"), schema.get("format", "")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "array":
        return "[]" + expression(schema["items"])
    if kind == "object" and "additionalProperties" in schema:
        return "{}" + expression(schema["additionalProperties"])
    if word := WORDS.get((str(kind), form)):
        return word
    raise ValueError(f"unknown form of schema: {schema}")


def field_facts(schema: Json) -> Json:
    """Returns expression, enumeration, default and list type of a property. A zero default becomes "plain"."""
    fact: Json = {"type": expression(schema)}
    inner = schema.get("items") or schema.get("additionalProperties") or {}
    if enum := schema.get("enum") or inner.get("enum"):
        fact["enum"] = enum
    if "default" in schema:
        # In kube-openapi, fields that are neither pointer nor omitempty have the zero value as default.
        fact.update({"default": schema["default"]} if schema["default"] else {"plain": True})
    if schema.get("x-kubernetes-list-type") in ("map", "set"):
        fact["list"] = schema["x-kubernetes-list-type"]
        if keys := schema.get("x-kubernetes-list-map-keys"):
            fact["keys"] = keys
    return fact


def facts_of_openapi(openapi: Json) -> Json:
    """Returns {"version", "kinds": {(group, kind): [plural, namespaced]}, "types": {type: {field: fact}}} of a server dump."""
    kinds = {(each["apiVersion"].rpartition("/")[0], each["kind"]): [each["resource"], each["namespaced"]] for each in openapi["resources"]}
    types = {
        type_name(name): {key: field_facts(value) for key, value in schema["properties"].items()}
        for name, schema in openapi["schemas"].items()
        if "properties" in schema
    }
    return {"version": openapi["version"].removeprefix("v"), "kinds": kinds, "types": types}


def facts_of_table(table: Json) -> Json:
    """Returns the same data from a table that was generated with a server dump."""
    kinds = {
        (api_version.rpartition("/")[0], kind): entry[1:]
        for api_version, entries in table["kinds"].items()
        for kind, entry in entries.items()
    }
    types: Json = {}
    for name, entry in table["types"].items():
        if "alpha" in name or "beta" in name:  # a server with default settings serves none of them
            continue
        types[name] = {key: {"type": value} if isinstance(value, str) else dict(value) for key, value in entry["fields"].items()}
        for key in entry.get("plain", ()):
            types[name][key]["plain"] = True
    return {"version": table["version"], "kinds": kinds, "types": types}


class Refresh:
    """Generates tables. `facts`: the data of a server dump. `reference`: the definitions of the server's version."""

    def __init__(self, facts: Json, reference: Json) -> None:
        self.facts = facts
        self.reference = {type_name(name): schema for name, schema in reference.items() if _PACKAGE.fullmatch(name)}
        # For a type that the server does not serve, a type of another version of the same group is used.
        self.twins = {_unversioned(name): name for name in sorted(facts["types"])}

    def table(self, minor: str, definitions: Json) -> Json:
        """Returns the table of a minor version."""
        kinds: Json = {}
        types: Json = {}
        for definition, schema in definitions.items():
            names = schema.get("x-kubernetes-group-version-kind", [])
            if len(names) != 1 or names[0]["kind"] in NO_MANIFEST:
                continue
            group, version, kind = names[0]["group"], names[0]["version"], names[0]["kind"]
            kinds.setdefault(f"{group}/{version}".lstrip("/"), {})[kind] = [type_name(definition), *self.scope(group, kind)]
            self.add_type(types, definition, definitions)
        exact = self.facts["version"]
        return {"version": exact if exact.startswith(minor + ".") else f"{minor}.0", "kinds": kinds, "types": types}

    def scope(self, group: str, kind: str) -> list[Any]:
        """Returns [plural, namespaced] of a kind; for a list, those of its items. Raises ValueError for an unknown kind."""
        if (group, kind) in SUBRESOURCES:
            return ["", True]
        for each in (kind, kind.removesuffix("List")):
            if (group, each) in self.facts["kinds"]:
                return list(self.facts["kinds"][group, each])
        item = kind.removesuffix("List")
        if item not in NAMESPACED | CLUSTER:
            raise ValueError(f"unknown scope of {group} {item}; add it to NAMESPACED or CLUSTER")
        return [item.lower() + ("es" if item.endswith("ss") else "" if item.endswith("s") else "s"), item in NAMESPACED]

    def add_type(self, types: Json, definition: str, definitions: Json) -> None:
        """Adds a type and all types that it refers to. Types that no kind refers to are not part of the table."""
        name = type_name(definition)
        if name in types:
            return
        schema = definitions[definition]
        types[name] = self.type_entry(name, schema)
        for part in re.findall(r'"#/[^"]*/(io\.k8s\.[\w.-]+)"', json.dumps(schema)):
            if part not in EXPRESSIONS:
                self.add_type(types, part, definitions)

    def type_entry(self, name: str, schema: Json) -> Json:
        """Returns {"fields", "required", "plain"} of a type, without empty "required" and "plain"."""
        model = name if name in self.facts["types"] else self.twins.get(_unversioned(name), "")
        fields: Json = {}
        plain: list[str] = []
        for key, part in schema.get("properties", {}).items():
            field = field_facts(part)
            if key in ("apiVersion", "kind") and "x-kubernetes-group-version-kind" in schema:
                field.pop("enum", None)  # the packager of the definitions put the kind's own name there
            known = self.facts["types"].get(model, {}).get(key)
            if known is not None and _unversioned(known["type"]) == _unversioned(field["type"]):
                field = self.merged(field, known, part, model, key, exact=model == name)
            if field.pop("plain", False):
                plain.append(key)
            fields[key] = field["type"] if len(field) == 1 else field
        entry = {"fields": fields, "required": sorted(schema.get("required", ())), "plain": sorted(plain)}
        return {key: value for key, value in entry.items() if value or key == "fields"}

    def merged(self, field: Json, known: Json, schema: Json, model: str, key: str, *, exact: bool) -> Json:
        """Returns a field with the data of the server. The definition of the version takes precedence."""
        if "x-kubernetes-list-type" in schema:
            known = {key: value for key, value in known.items() if key not in ("list", "keys")}
        result = {**known, **field}
        if not exact:
            result.pop("default", None)  # defaults are what API versions most often differ in
        if "enum" in known and "enum" not in field:
            reference = self.reference[model]["properties"][key].get("description", "")
            own = schema.get("description", "")
            # A value that only the server's version mentions in its description was added after this version.
            result["enum"] = [each for each in known["enum"] if _names(own, each) or (exact and not _names(reference, each))]
            if not result["enum"] or (not exact and len(result["enum"]) < len(known["enum"])):
                del result["enum"]
        return result


def _names(description: str, value: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", description) is not None if value else False


def _unversioned(name: str) -> str:
    return re.sub(r"/v\w+ ", " ", name)


def history(tables: dict[str, Json], earlier: Json) -> Json:
    """Returns {"added", "removed"}: {apiVersion: {kind: minor}} of the tables, with the manual entries of `earlier`.

    Raises ValueError for a kind that is served again after it was removed, and for manual entries that contradict the tables.
    """
    minors = list(tables)
    served: dict[tuple[str, str], list[int]] = {}
    for place, table in enumerate(tables.values()):
        for api_version, kinds in table["kinds"].items():
            for kind in kinds:
                if not kind.endswith("List"):
                    served.setdefault((api_version, kind), []).append(place)
    result: Json = {"added": {}, "removed": {}}
    for (api_version, kind), places in served.items():
        if len(places) != places[-1] - places[0] + 1:
            raise ValueError(f"{api_version} {kind} is served with pauses: {places}")
        if places[0] > 0:
            result["added"].setdefault(api_version, {})[kind] = minors[places[0]]
        if places[-1] < len(minors) - 1:
            result["removed"].setdefault(api_version, {})[kind] = minors[places[-1] + 1]
    for api_version, kinds in earlier["removed"].items():
        for kind, minor in kinds.items():
            if (_number(minor) <= _number(minors[0])) == ((api_version, kind) in served):
                raise ValueError(f"removed.json: {api_version} {kind}, removed in {minor}, contradicts the tables")
            result["removed"].setdefault(api_version, {}).setdefault(kind, minor)
    return result


def resources(tables: dict[str, Json], earlier: Json) -> Json:
    """Returns {group: {plural: {"kind", "namespaced", ...}}} of `earlier`, updated with the kinds of all tables."""
    result: Json = {group: {plural: dict(entry) for plural, entry in entries.items()} for group, entries in earlier.items()}
    for table in tables.values():
        for api_version, kinds in table["kinds"].items():
            for kind, (_, plural, namespaced) in kinds.items():
                if plural and not kind.endswith("List"):
                    entry = result.setdefault(api_version.rpartition("/")[0], {}).setdefault(plural, {})
                    entry.update(kind=kind, namespaced=namespaced)
    return result


def vocabulary(tables: Iterable[Json], past: Json) -> Json:
    """Returns the names that rules may use: all API types and kinds of the tables, and removed kinds."""
    types: set[str] = set()
    groups: dict[str, set[str]] = {}
    for kinds in (*(table["kinds"] for table in tables), past["removed"]):
        for api_version, names in kinds.items():
            groups.setdefault(api_version.rpartition("/")[0] or "core", set()).update(names)
    for table in tables:
        types.update(table["types"])
    return {"types": sorted(types), "groups": {group: sorted(names) for group, names in sorted(groups.items())}}


def read_definitions(folder: Path | None) -> dict[str, Json]:
    """Returns {minor: definitions} of a folder or of the installed package, oldest first. Raises ValueError if there are none."""
    if folder is None:
        spec = importlib.util.find_spec("kubernetes_validate")
        if spec is None or spec.origin is None:
            raise ValueError("kubernetes-validate is not installed: pip install kubernetes-validate, or pass --definitions")
        folder = Path(spec.origin).parent / "kubernetes-json-schema"
    found: dict[str, Json] = {}
    for path in sorted(folder.glob("v1.*-local/_definitions.json"), key=lambda path: _number(path.parent.name)):
        document = json.loads(path.read_text())
        found[".".join(path.parent.name.lstrip("v").split(".")[:2])] = document.get("$defs") or document["definitions"]
    if not found:
        raise ValueError(f"no v1.*-local/_definitions.json in {folder}")
    return found


def read_facts(openapi: Path | None) -> Json:
    """Returns the data of a server dump, or of the committed table with an exact patch version."""
    if openapi is not None:
        return facts_of_openapi(json.loads(openapi.read_text()))
    for path in sorted(SCHEMAS.glob("kubernetes-*.json")):
        table = json.loads(path.read_text())
        if not table["version"].endswith(".0"):
            return facts_of_table(table)
    raise ValueError(f"no table in {SCHEMAS} was generated with a server dump; pass --openapi")


def _number(minor: str) -> int:
    return int(minor.split(".")[1])


def main(arguments: list[str] | None = None) -> int:
    """Writes all tables. Returns the exit status, 2 if a source is missing or has an unknown form."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--definitions", type=Path, metavar="DIR", help="folder with v1.NN.0-local/_definitions.json")
    parser.add_argument("--openapi", type=Path, metavar="FILE", help="dump of an API server: resources and schemas")
    options = parser.parse_args(arguments)
    try:
        definitions = read_definitions(options.definitions)
        facts = read_facts(options.openapi)
        refresh = Refresh(facts, definitions[facts["version"].rpartition(".")[0]])
        tables = {minor: refresh.table(minor, each) for minor, each in definitions.items()}
        past = history(tables, json.loads((SCHEMAS / "removed.json").read_text()))
        plurals = resources(tables, json.loads((SCHEMAS / "resources.json").read_text()))
        components = json.loads(COMPONENTS.read_text())
    except (KeyError, OSError, ValueError) as error:
        print(f"refresh_schemas: {error}", file=sys.stderr)
        return 2
    for minor, table in tables.items():
        text = json.dumps(table, sort_keys=True, separators=(",", ":"))
        (SCHEMAS / f"kubernetes-{minor}.json").write_text(text + "\n")
        print(f"{minor}: {sum(map(len, table['kinds'].values()))} kinds, {len(table['types'])} types, {len(text) // 1000} kB")
    (SCHEMAS / "removed.json").write_text(json.dumps(past, sort_keys=True, indent=1) + "\n")
    VOCABULARY.write_text(json.dumps(vocabulary([*tables.values(), components], past), indent=1) + "\n")
    (SCHEMAS / "resources.json").write_text(json.dumps(plurals, sort_keys=True, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
