"""How a CustomResourceDefinition calls what it defines.

Source: ValidateCustomResourceDefinition, ValidateCustomResourceDefinitionNames, validateAPIApproval (apiextensions-apiserver,
pkg/apis/apiextensions/validation) and SetDefaults_CustomResourceDefinitionSpec.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kcheck.api import Complaint, Constraint, Node, Problem, Resource, declare, fields, help_of, names, urls, validator
from kcheck_spec.objects.common_constraints import one_of, require, required, text
from kcheck_spec.objects.shape import unsupported_value

crd_names = declare("invalid-crd-names", "CustomResourceDefinition has invalid names (metadata.name, spec.names, spec.group)")

DEFINITION = "apiextensions/v1 CustomResourceDefinition"
APPROVAL = "api-approved.kubernetes.io"
_LONGEST_KIND = 63
_PROTECTED = (".k8s.io", ".kubernetes.io")


def kind_name(text: str) -> str:
    """A kind may have capitals and is else a DNS label."""
    if not names.dns1035_label(text.lower()):
        return ""
    if len(text) > _LONGEST_KIND:
        return Complaint(f"a kind has at most {_LONGEST_KIND} characters, this has {len(text)}", "shorten it")
    words = re.findall("[A-Za-z0-9]+", text)
    better = "".join(word[0].upper() + word[1:] for word in words).lstrip("0123456789")
    return Complaint("a kind has letters and digits, a letter first", f"write {better or 'another'}")


def _group(text: str) -> str:
    return names.fully_qualified(text, parts=2)


def _word_problems(words: Node) -> Iterator[Problem]:
    for word in words:
        if word.value.__class__ not in (str, type(None)):
            continue
        if wrong := names.dns1035_label(word.text):
            yield Problem(word, wrong, reason="Invalid")


_words = Constraint(crd_names, _word_problems)
_label = text(names.dns1035_label, crd_names)
_kind = text(kind_name, crd_names)

tables = [
    fields("apiextensions/v1 CustomResourceDefinition", spec=()),
    fields(
        "apiextensions/v1 CustomResourceDefinitionSpec",
        group=(required, text(_group, crd_names)),
        scope=(required, one_of("Cluster", "Namespaced", of=unsupported_value)),
        names=(),
    ),
    fields(
        "apiextensions/v1 CustomResourceDefinitionNames",
        plural=(required, _label),
        singular=_label,
        kind=(required, _kind),
        listKind=_kind,
        shortNames=_words,
        categories=_words,
    ),
]


@validator("apiextensions/v1 CustomResourceDefinitionSpec", rule=crd_names)
def names_come_from_kind(spec: Node) -> Iterator[Problem]:
    """singular and listKind are made of the kind where nobody wrote them, and what is wrong with it is wrong with them."""
    kind, singular, listed = spec["names"]["kind"], spec["names"]["singular"], spec["names"]["listKind"]
    for key, each, ending in (("singular", singular, ""), ("listKind", listed, "List")):
        if each.text:
            continue
        if kind.value in (None, ""):
            yield require(each, Complaint(f"{key} is made of kind, which is missing", "add kind"))
        elif wrong := kind_name(kind.text + ending):
            yield Problem(kind, f"{key} is made of the kind, and {wrong}", help=help_of(wrong), reason="Invalid", field=each)
    if kind.text and kind.text == listed.text:
        yield Problem(
            listed, f"a list of {kind.text} needs a kind of its own", help=f"write {kind.text}List, or take listKind away", reason="Invalid"
        )


@validator(DEFINITION, rule=crd_names)
def name_is_plural_and_group(crd: Resource) -> Iterator[Problem]:
    """The name of the definition is the plural, a dot and the group."""
    plural, group = crd["spec"]["names"]["plural"].text, crd["spec"]["group"].text
    wanted = f"{plural}.{group}"
    name, prefix = crd["metadata"]["name"], crd["metadata"]["generateName"]
    hint = f"write {wanted}" if plural and group else f"write spec.{'group' if plural else 'names.plural'} first"
    if prefix.text and prefix.text != wanted:
        message = "a definition is called after its plural and group, so no name can be made up"
        yield Problem(prefix, message, help=f"take generateName away and {hint}", reason="Invalid", at="key")
        if not name.text:
            yield Problem(
                prefix, f"every name that is made of {prefix.text} is refused", help=f"{hint} in name", reason="Invalid", field=name
            )
    if name.text and name.text != wanted and not names.dns_subdomain(name.text):
        yield Problem(name, "a definition is called after its plural and group", help=hint, reason="Invalid")


@validator(DEFINITION, rule=crd_names)
def protected_groups_are_approved(crd: Resource) -> Iterator[Problem]:
    """Groups of Kubernetes itself want to know where the API was agreed on."""
    group = crd["spec"]["group"].text
    if not f".{group}".endswith(_PROTECTED):
        return
    approval = crd["metadata"]["annotations"][APPROVAL]
    if not approval.text:
        message = Complaint(
            f"{group} belongs to Kubernetes", f"take a group of your own, or add the annotation {APPROVAL} with the pull request's URL"
        )
        yield require(approval, message)
    elif not approval.text.startswith("unapproved") and not _is_link(approval.text):
        message = Complaint(f"{approval.text} is neither a URL nor a reason that begins with unapproved", "write the pull request's URL")
        yield Problem(approval, message, reason="Invalid")


def _is_link(text: str) -> bool:
    try:
        url = urls.parse(text)
    except urls.BadUrl:
        return False
    return bool(url.scheme and url.host)
