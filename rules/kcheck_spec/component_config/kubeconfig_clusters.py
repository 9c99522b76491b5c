"""Clusters and contexts of a kubeconfig, and the files that it names.

Source: validateClusterInfo, validateContext, parseProxyURL, ResolvePaths (client-go, tools/clientcmd), DefaultServerURL (client-go,
rest), TLSConfigFor (client-go, transport). kubectl reads the file leniently: what it does not know it drops without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import dirname, join, normpath

from kcheck.api import INFO, WARNING, Complaint, Node, Problem, Resource, base64, declare, fields, urls, validator
from kcheck_spec.objects.common_constraints import deprecated_field, dns_label

kubeconfig_server = declare("invalid-kubeconfig-server", "kubeconfig cluster has an invalid server URL or proxy-url")
kubeconfig_tls = declare("invalid-kubeconfig-tls", "kubeconfig cluster has conflicting TLS settings or an invalid certificate-authority")
kubeconfig_insecure = declare("insecure-kubeconfig", "kubeconfig cluster skips TLS verification or uses plain HTTP", severity=WARNING)
kubeconfig_path = declare("invalid-kubeconfig-path", "kubeconfig file path contains ~ or a variable, which kubectl does not expand")
kubeconfig_relative_path = declare(
    "relative-kubeconfig-path", "kubeconfig file path is relative to the location of the kubeconfig", severity=INFO
)

_CLUSTER = "clientcmd/v1 Cluster"
_PROXIES = ("http", "https", "socks5")
_FILES = ("client-certificate", "client-key", "tokenFile")
_LOCAL = ("localhost", "127.", "[::1]")
# What kubectl config view shows instead of data, and of tokens and passwords.
OMITTED = ("DATA+OMITTED", "REDACTED")

tables = [fields("clientcmd/v1 Context", namespace=dns_label)]


@validator(_CLUSTER, rule=kubeconfig_server)
def servers_have_addresses(cluster: Node) -> Iterator[Problem]:
    """A URL, or a host with its port."""
    server = cluster["server"]
    if not server.text:
        return
    try:
        url = _server(server.text)
    except urls.BadUrl as error:
        yield Problem(server, f"{server.text} is no address: {error}", help="write https://host:port", reason="Invalid")
        return
    if url.scheme not in ("http", "https"):
        yield Problem(server, f"{url.scheme} is not spoken here", help=f"write https://{url.host}", reason="Invalid")


def _server(text: str) -> urls.Url:
    """The URL that an address stands for. Raises BadUrl."""
    if "://" in text:
        url = urls.parse(text)
        if not url.host:
            raise urls.BadUrl("it names no host")
        return url
    url = urls.parse(f"http://{text}")
    if url.path not in ("", "/"):
        raise urls.BadUrl("before a path there must be a scheme")
    return url


@validator(_CLUSTER, rule=kubeconfig_server)
def proxies_have_addresses(cluster: Node) -> Iterator[Problem]:
    """The way to a cluster may lead over a proxy."""
    proxy = cluster["proxy-url"]
    if not proxy.text:
        return
    try:
        scheme = urls.parse(proxy.text).scheme
    except urls.BadUrl as error:
        yield Problem(proxy, f"this is no URL: {error}", help="write http://host:port", reason="Invalid")
        return
    if scheme not in _PROXIES:
        what = f"no proxy speaks {scheme}" if "://" in proxy.text else "the scheme of the proxy is missing"
        yield Problem(proxy, f"{what}", help=f"begin with {', '.join(f'{each}://' for each in _PROXIES)}", reason="Invalid")


@validator(_CLUSTER, rule=kubeconfig_tls)
def tls_settings_agree(cluster: Node) -> Iterator[Problem]:
    """The CA stands in one place, is one, and is looked at."""
    file, data, insecure = cluster["certificate-authority"], cluster["certificate-authority-data"], cluster["insecure-skip-tls-verify"]
    if file.text and data.text:
        yield Problem(file, "certificate-authority-data says which CA it is, too", help="keep one of the two", reason="Invalid", at="key")
    if insecure.flag and (file.text or data.text):
        message = "insecure-skip-tls-verify believes any certificate, so there is none to compare with a CA"
        yield Problem(insecure, message, help="take it away", reason="Invalid")
    yield from not_pem(data, b"CERTIFICATE", "the certificate of a CA")


def not_pem(node: Node, label: bytes, what: str) -> Iterator[Problem]:
    """The problem of data without a PEM block of a kind. What it holds is not shown."""
    if not node.text:
        return
    if node.text in OMITTED:
        message = f"kubectl config view writes {node.text} where it leaves something out: print it again with --raw"
        yield Problem(node, message, reason="Invalid")
        return
    try:
        held = base64.decode(node.text)
    except base64.BadBase64:
        return
    if b"-----BEGIN " not in held or label + b"-----" not in held:
        message = Complaint(f"this is not {what}", f"encode a PEM file (-----BEGIN {label.decode()}-----), as base64 -w0 does")
        yield Problem(node, message, reason="Invalid", at="key")


@validator(_CLUSTER, rule=kubeconfig_insecure)
def clusters_are_protected(cluster: Node) -> Iterator[Problem]:
    """The certificate is looked at, and there is one."""
    insecure, server = cluster["insecure-skip-tls-verify"], cluster["server"]
    if insecure.flag and not (cluster["certificate-authority"].text or cluster["certificate-authority-data"].text):
        message = Complaint("anybody on the way can be this cluster and take the credentials", "give certificate-authority-data instead")
        yield Problem(insecure, message)
    try:
        url = _server(server.text) if server.text else None
    except urls.BadUrl:
        return
    if url is None or url.scheme != "http" or url.host.startswith(_LOCAL):
        return
    bare = "://" not in server.text
    means = "without a scheme this is http: " if bare else "over http "
    message = Complaint(
        f"{means}nothing is encrypted, and kubectl sends no credentials", f"write https://{url.host}{('' if bare else url.path)}"
    )
    yield Problem(server, message)


@validator("clientcmd/v1 Config", rule=deprecated_field)
def preferences_are_gone(config: Resource) -> Iterator[Problem]:
    """Nothing reads them; kubectl used to write an empty map."""
    if len(config["preferences"]) and not config.is_before(34):
        yield Problem(
            config["preferences"], "preferences are deprecated since 1.34 and nothing reads them", help="take them away", at="key"
        )


@validator("clientcmd/v1 Config", rule=kubeconfig_path)
def paths_are_written_out(config: Resource) -> Iterator[Problem]:
    """Only a shell knows what ~ and $HOME are."""
    for path in _paths(config):
        if not _is_whole(path.text):
            message = f"kubectl takes {path.text} as it stands, for only a shell knows ~ and variables"
            yield Problem(path, message, help="write the whole path", reason="Invalid")


@validator("clientcmd/v1 Config", rule=kubeconfig_relative_path)
def paths_are_relative_to_the_file(config: Resource) -> Iterator[Problem]:
    """Each path begins in the folder of the file it stands in, in merged configurations, too."""
    folder = dirname(config.document.source.path)
    for path in _paths(config):
        if _is_whole(path.text) and not _is_absolute(path.text):
            there = normpath(join(folder, path.text))
            means = f"{path.text} begins in the folder of this file" + (f" ({there})" if folder else "")
            yield Problem(path, f"{means}, merged with others or not", help="keep the two together, or write the whole path")


def _paths(config: Resource) -> Iterator[Node]:
    """The files that a kubeconfig names. A command without a slash is looked up in PATH."""
    for each in config["clusters"]:
        yield from _written(each["cluster"], "certificate-authority")
    for each in config["users"]:
        yield from _written(each["user"], *_FILES)
        command = each["user"]["exec"]["command"]
        if "/" in command.text:
            yield command


def _written(owner: Node, *keys: str) -> Iterator[Node]:
    yield from (owner[key] for key in keys if owner[key].text)


def _is_whole(path: str) -> bool:
    """Whether nothing in a path waits for a shell."""
    return not path.startswith("~") and "$" not in path and path.count("%") < 2


def _is_absolute(path: str) -> bool:
    """Whether a path is absolute, on Windows, too."""
    return path.startswith(("/", "\\")) or path[1:3] in (":\\", ":/")
