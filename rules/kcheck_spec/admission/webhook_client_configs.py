"""How the API server reaches a webhook, and in which versions it speaks to it.

Source: ValidateWebhookURL, ValidateWebhookService (k8s.io/apiserver, pkg/util/webhook), validateAdmissionReviewVersions and
validateConversionReviewVersions, which say the same of both kinds of webhooks. The server hands the name and the namespace of
the service over in the wrong order, so it blames one for the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, help_of, names, urls

webhook_client = declare("invalid-webhook-client-config", "Webhook has an invalid clientConfig or unsupported review versions")

_FORM = "https://host/path"
_REVIEWS = ("v1", "v1beta1")


def client_problems(client: Node, field: Node) -> Iterator[Problem]:
    """A URL or a service. `field`: where the server finds the client."""
    url, service = client["url"], client["service"]
    if bool(url) is bool(service):
        message = Complaint("a webhook is reached by a URL or by a service", "take one of them away")
        message = message if url else Complaint("a webhook needs an address", "add service or url")
        yield Problem(client, message, reason="Required", at="key", field=field)
    elif url:
        yield from _url_problems(url, field["url"])
    else:
        yield from _service_problems(service, field["service"])


def _url_problems(node: Node, field: Node) -> Iterator[Problem]:
    text = node.text
    try:
        url = urls.parse(text)
    except urls.BadUrl as error:
        yield Problem(node, f"{text} is no URL, {error}", help=f"write {_FORM}", reason="Required", field=field)
        return
    if url.scheme != "https":
        yield Problem(node, "the server calls webhooks through https alone", help=f"write {_FORM}", reason="Invalid", field=field)
    if not url.host:
        yield Problem(node, f"{text or 'an empty URL'} names no host", help=f"write {_FORM}", reason="Invalid", field=field)
    for part, there in (("a user", url.user is not None), ("a fragment", url.fragment), ("a query", url.query)):
        if there:
            yield Problem(node, f"the URL of a webhook cannot have {part}", help="take it out", reason="Invalid", field=field)


def _service_problems(service: Node, field: Node) -> Iterator[Problem]:
    for key, blamed in (("name", "namespace"), ("namespace", "name")):
        if not service[key].text:
            message = f"{key} is required"
            yield Problem(service[key], message, help="add it, there is no default", reason="Required", field=field[blamed])
    port = service["port"]
    if port.integer is not None and not 1 <= port.integer <= 65535:
        yield Problem(port, f"{port.integer} is out of range", help="write a number from 1 to 65535", reason="Invalid", field=field["port"])
    path = service["path"]
    if wrong := _path_fault(path.text):
        yield Problem(path, wrong, reason="Invalid", field=field["path"])


def _path_fault(path: str) -> str:
    """Every step of a path is a DNS subdomain."""
    if path in ("", "/"):
        return ""
    if not path.startswith("/"):
        return Complaint("a path begins with '/'", f"write /{path}")
    for step in path[1:].removesuffix("/").split("/"):
        if not step:
            return Complaint(f"{path} has an empty step", "write one '/' only")
        if wrong := names.dns_subdomain(step):
            return Complaint(f"the step {step} of the path is none, {wrong}", help_of(wrong))
    return ""


def review_problems(versions: Node, field: Node) -> Iterator[Problem]:
    """The versions of the review that a webhook understands: the server speaks two. `field`: where the server finds them."""
    if not len(versions):
        yield Problem(versions, "the webhook must say which reviews it understands", help="write [v1]", reason="Required", field=field)
        return
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version.text in seen:
            yield Problem(
                version,
                f"{version.text or 'an empty version'} is listed already",
                help="take it away",
                reason="Invalid",
                field=field[index],
            )
        elif wrong := names.dns1035_label(version.text):
            yield Problem(version, wrong, reason="Invalid", field=field[index])
        seen.add(version.text)
    if seen.isdisjoint(_REVIEWS):
        yield Problem(versions, "the server speaks none of these versions", help=f"add {_REVIEWS[0]}", reason="Invalid", field=field)
