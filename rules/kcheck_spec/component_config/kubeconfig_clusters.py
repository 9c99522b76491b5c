"""Clusters and contexts of a kubeconfig, and its paths of files.

Source: validateClusterInfo, validateContext, parseProxyURL, ResolvePaths (client-go, tools/clientcmd), DefaultServerURL (client-go,
rest), TLSConfigFor (client-go, transport). kubectl decodes the file leniently: it silently drops unknown fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join, normpath

from kcheck.api import INFO, WARNING, Node, Problem, Resource, Suggestion, base64, declare, fields, remove, urls, validator
from kcheck_spec.objects.common_constraints import deprecated_field, dns_label

kubeconfig_server = declare("invalid-kubeconfig-server", "kubeconfig cluster has an invalid server URL or proxy-url", fixable=True)
kubeconfig_tls = declare("invalid-kubeconfig-tls", "kubeconfig cluster has conflicting TLS settings or an invalid certificate-authority")
kubeconfig_insecure = declare("insecure-kubeconfig", "kubeconfig cluster skips TLS verification or uses plain HTTP", severity=WARNING)
kubeconfig_path = declare(
    "invalid-kubeconfig-path", "kubeconfig file path contains ~ or a variable, which kubectl does not expand", groups=("placeholders",)
)
kubeconfig_relative_path = declare(
    "relative-kubeconfig-path", "kubeconfig file path is relative to the location of the kubeconfig", severity=INFO
)

_CLUSTER = "clientcmd/v1 Cluster"
_PROXIES = ("http", "https", "socks5")
_FILES = ("client-certificate", "client-key", "tokenFile")
_LOCAL = ("localhost", "127.", "[::1]")
# What `kubectl config view` prints in place of data, tokens and passwords.
OMITTED = ("DATA+OMITTED", "REDACTED")

tables = [fields("clientcmd/v1 Context", namespace=dns_label)]


@validator(_CLUSTER, rule=kubeconfig_server)
def servers_have_addresses(cluster: Node) -> Iterator[Problem]:
    """Yield clusters whose server is neither a URL nor a host with a port."""
    server = cluster["server"]
    if not server.text:
        return
    try:
        url = _server(server.text)
    except urls.BadUrl as error:
        message = f'server "{server.text}" is not a valid address: {error}'
        yield Problem(server, message, help="use the form https://host:port", reason="Invalid")
        return
    if url.scheme not in ("http", "https"):
        message = f'server uses the unsupported scheme "{url.scheme}"'
        yield Problem(server, message, help=Suggestion(f"did you mean https://{url.host}?", f"https://{url.host}"), reason="Invalid")


def _server(text: str) -> urls.Url:
    """The URL of an address; without a scheme it is http. Raises BadUrl."""
    if "://" in text:
        url = urls.parse(text)
        if not url.host:
            raise urls.BadUrl("it has no host")
        return url
    url = urls.parse(f"http://{text}")
    if url.path not in ("", "/"):
        raise urls.BadUrl("an address with a path needs a scheme")
    return url


@validator(_CLUSTER, rule=kubeconfig_server)
def proxies_have_addresses(cluster: Node) -> Iterator[Problem]:
    """Yield clusters whose proxy-url is not a URL or has an unsupported scheme."""
    proxy = cluster["proxy-url"]
    if not proxy.text:
        return
    try:
        scheme = urls.parse(proxy.text).scheme
    except urls.BadUrl as error:
        yield Problem(proxy, f"proxy-url is not a valid URL: {error}", help="use the form http://host:port", reason="Invalid")
        return
    if scheme not in _PROXIES:
        message = f'proxy-url has the unsupported scheme "{scheme}"' if "://" in proxy.text else "proxy-url has no scheme"
        yield Problem(proxy, message, help=f"begin it with {' or '.join(f'{each}://' for each in _PROXIES)}", reason="Invalid")


@validator(_CLUSTER, rule=kubeconfig_tls)
def tls_settings_agree(cluster: Node) -> Iterator[Problem]:
    """Yield clusters with two certificate authorities, with an invalid one, or with one that is not used."""
    file, data, insecure = cluster["certificate-authority"], cluster["certificate-authority-data"], cluster["insecure-skip-tls-verify"]
    if file.text and data.text:
        message = "certificate-authority and certificate-authority-data are both set"
        yield Problem(file, message, help="remove one of them", reason="Invalid", at="key")
    if insecure.boolean and (file.text or data.text):
        message = "insecure-skip-tls-verify: true cannot be combined with a certificate authority"
        yield Problem(insecure, message, help="remove insecure-skip-tls-verify", reason="Invalid")
    yield from not_pem(data, b"CERTIFICATE")


def omitted(node: Node) -> Problem:
    """The problem of a value that `kubectl config view` has replaced."""
    message = f'{node.name} is "{node.text}", the placeholder that kubectl config view prints for data that it omits'
    return Problem(node, message, help="print the kubeconfig again with kubectl config view --raw", reason="Invalid")


def not_pem(node: Node, label: bytes) -> Iterator[Problem]:
    """The problem of base64 data without a PEM block with this label. The message does not show the data."""
    if not node.text:
        return
    if node.text in OMITTED:
        yield omitted(node)
        return
    try:
        held = base64.decode(node.text)
    except base64.BadBase64:
        return
    if b"-----BEGIN " not in held or label + b"-----" not in held:
        message = f"{node.name} does not contain a PEM block of type {label.decode()}"
        yield Problem(node, message, help="encode the PEM file with base64 -w0", reason="Invalid", at="key")


@validator(_CLUSTER, rule=kubeconfig_insecure)
def clusters_are_protected(cluster: Node) -> Iterator[Problem]:
    """Yield clusters without TLS verification, and those that use plain http outside the local machine."""
    insecure, server = cluster["insecure-skip-tls-verify"], cluster["server"]
    if insecure.boolean and not (cluster["certificate-authority"].text or cluster["certificate-authority-data"].text):
        message = "insecure-skip-tls-verify: true allows attackers on the network to impersonate the cluster and to steal credentials"
        yield Problem(insecure, message, help="remove it and set certificate-authority-data")
    try:
        url = _server(server.text) if server.text else None
    except urls.BadUrl:
        return
    if url is None or url.scheme != "http" or url.host.startswith(_LOCAL):
        return
    bare = "://" not in server.text
    why = " has no scheme and defaults to http" if bare else " uses http"
    message = f'server "{server.text}"{why}: the connection is not encrypted, and kubectl sends no credentials'
    yield Problem(server, message, help=f"use https://{url.host}{'' if bare else url.path}")


@validator("clientcmd/v1 Config", rule=deprecated_field)
def preferences_are_gone(config: Resource) -> Iterator[Problem]:
    """Yield preferences that are not empty. No client reads them; older versions of kubectl wrote an empty map."""
    if len(config["preferences"]) and not config.is_before(34):
        message = "preferences is deprecated since Kubernetes 1.34 and has no effect"
        yield Problem(config["preferences"], message, help=remove(), at="key")


@validator("clientcmd/v1 Config", rule=kubeconfig_path)
def paths_are_written_out(config: Resource) -> Iterator[Problem]:
    """Yield paths with ~ or a variable, which only a shell expands."""
    for path in _paths(config):
        if not _is_literal(path.text):
            message = f'{path.name} "{path.text}" has a "~" or a variable, which kubectl does not expand'
            yield Problem(path, message, help="use the full path", reason="Invalid")


@validator("clientcmd/v1 Config", rule=kubeconfig_relative_path)
def paths_are_relative_to_the_file(config: Resource) -> Iterator[Problem]:
    """Yield relative paths. kubectl resolves them in the directory of their kubeconfig, even when it merges several files."""
    folder = dirname(config.document.source.path)
    for path in _paths(config):
        if _is_literal(path.text) and not _is_absolute(path.text):
            resolved = f' ("{normpath(join(folder, path.text))}")' if folder else ""
            message = f'{path.name} "{path.text}" is relative to the directory of this kubeconfig{resolved}'
            yield Problem(path, message, help="use an absolute path, or keep both files together")


def _paths(config: Resource) -> Iterator[Node]:
    """The nodes that hold paths of files. A command without a slash is looked up in PATH and is not one of them."""
    for each in config["clusters"]:
        yield from _written(each["cluster"], "certificate-authority")
    for each in config["users"]:
        yield from _written(each["user"], *_FILES)
        command = each["user"]["exec"]["command"]
        if "/" in command.text:
            yield command


def _written(owner: Node, *keys: str) -> Iterator[Node]:
    yield from (owner[key] for key in keys if owner[key].text)


def _is_literal(path: str) -> bool:
    """Whether a path has nothing that a shell would expand."""
    return not path.startswith("~") and "$" not in path and path.count("%") < 2


def _is_absolute(path: str) -> bool:
    """Whether a path is absolute on Linux or Windows."""
    return path.startswith(("/", "\\")) or path[1:3] in (":\\", ":/")
