"""clientConfig and review versions of admission and conversion webhooks.

Source: ValidateWebhookURL, ValidateWebhookService (k8s.io/apiserver, pkg/util/webhook), validateAdmissionReviewVersions and
validateConversionReviewVersions, which are the same for both kinds of webhooks. The API server swaps the name and the namespace of
the service, so its error names the other field.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import Complaint, Node, Problem, declare, names, remove, urls, use

webhook_client = declare(
    "invalid-webhook-client-config", "Webhook has an invalid clientConfig or unsupported review versions", fixable=True
)

_HELP = "use the form https://host/path"
_REVIEWS = ("v1", "v1beta1")


def client_problems(client: Node, field: Node) -> Iterator[Problem]:
    """Yield problems of a clientConfig. `field`: the node whose path the API server reports."""
    url, service = client["url"], client["service"]
    if bool(url) is bool(service):
        message = Complaint("clientConfig.url and clientConfig.service are mutually exclusive", "remove one of them")
        message = message if url else Complaint("clientConfig has neither url nor service", "add service or url")
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
        yield Problem(node, f'clientConfig.url "{text}" is not a valid URL: {error}', help=_HELP, reason="Required", field=field)
        return
    if url.scheme != "https":
        yield Problem(node, f'clientConfig.url "{text}" does not use https', help=_HELP, reason="Invalid", field=field)
    if not url.host:
        yield Problem(node, f'clientConfig.url "{text}" has no host', help=_HELP, reason="Invalid", field=field)
    for part, there in (("a user", url.user is not None), ("a fragment", url.fragment), ("a query", url.query)):
        if there:
            yield Problem(node, f"clientConfig.url must not have {part}", help=f"remove the {part[2:]}", reason="Invalid", field=field)


def _service_problems(service: Node, field: Node) -> Iterator[Problem]:
    for key, blamed in (("name", "namespace"), ("namespace", "name")):
        if not service[key].text:
            message = f"clientConfig.service.{key} is required"
            yield Problem(service[key], message, help=f"add {key}", reason="Required", field=field[blamed])
    port = service["port"]
    if port.integer is not None and not 1 <= port.integer <= 65535:
        yield Problem(port, f"port {port.integer} is out of range (1-65535)", reason="Invalid", field=field["port"])
    path = service["path"]
    if wrong := _path_fault(path.text):
        yield Problem(path, wrong, reason="Invalid", field=field["path"])


def _path_fault(path: str) -> str:
    """What is wrong with the path of a service; "" for a valid one. Each of its segments must be a DNS subdomain."""
    if path in ("", "/"):
        return ""
    if not path.startswith("/"):
        return Complaint(f'path "{path}" does not begin with "/"', use(f"/{path}"))
    for segment in path[1:].removesuffix("/").split("/"):
        if not segment:
            return Complaint(f'path "{path}" has an empty segment', 'remove the repeated "/"')
        if wrong := names.dns_subdomain(segment):
            return Complaint(f'segment "{segment}" of path "{path}" is not valid: {wrong}', names.help_within(path, segment, wrong))
    return ""


def review_problems(versions: Node, field: Node) -> Iterator[Problem]:
    """Yield problems of admissionReviewVersions or conversionReviewVersions. `field`: the node whose path the API server reports."""
    if versions.is_map:
        # The wrong type is reported.
        return
    if not len(versions):
        yield Problem(versions, f"{versions.name} is required", help="set it to [v1]", reason="Required", field=field)
        return
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version.text in seen:
            yield Problem(
                version,
                f'duplicate {versions.name} entry "{version.text}"',
                help=remove(),
                reason="Invalid",
                field=field[index],
            )
        elif wrong := names.dns1035_label(version.text):
            yield Problem(version, wrong, reason="Invalid", field=field[index])
        seen.add(version.text)
    if seen.isdisjoint(_REVIEWS):
        message = f"{versions.name} has no version that the API server supports (v1, v1beta1)"
        yield Problem(versions, message, help=f"add {_REVIEWS[0]}", reason="Invalid", field=field)
