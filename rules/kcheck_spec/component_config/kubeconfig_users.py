"""Credentials in a kubeconfig. No message shows a credential, and findings are at other fields where possible.

Source: validateAuthInfo and getUserIdentificationPartialConfig (client-go, tools/clientcmd), HTTPWrappersForConfig (transport), the exec
plug-in and the auth providers (plugin/pkg/client/auth), and the order of the API server's authenticators.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Complaint, Node, Problem, Resource, declare, validator
from kcheck_spec.component_config.kubeconfig_clusters import OMITTED, not_pem, omitted
from kcheck_spec.objects.common_constraints import deprecated_field, require

kubeconfig_credential = declare("invalid-kubeconfig-credential", "kubeconfig user has conflicting or incomplete credentials")
kubeconfig_unused_credential = declare(
    "unused-kubeconfig-credential", "kubeconfig user has a credential that kubectl never uses", severity=WARNING
)

_USER = "clientcmd/v1 AuthInfo"
_GROUP = "client.authentication.k8s.io"
_OIDC = ("idp-issuer-url", "client-id")

# Auth providers that were removed from client-go: the first version 1.N without them, and the exec command that replaces them.
_GONE = {"azure": (26, "kubelogin"), "gcp": (26, "gke-gcloud-auth-plugin"), "openstack": (25, "client-keystone-auth")}


def _certificate(user: Node) -> Node:
    return user["client-certificate"] if user["client-certificate"].text else user["client-certificate-data"]


def _has_token(user: Node) -> bool:
    return bool(user["token"].text or user["tokenFile"].text)


def _has_password(user: Node) -> bool:
    return bool(user["username"].text or user["password"].text)


def _shown(user: Node, *keys: str) -> Node:
    """The first of these fields that exists, or the user. Callers pass only fields without secrets."""
    return next((user[key] for key in keys if user[key]), user)


@validator(_USER, rule=kubeconfig_credential)
def one_way_to_log_in(user: Node) -> Iterator[Problem]:
    """Yield users with authentication methods that are mutually exclusive."""
    # A password without a username conflicts only with a token, not with a tokenFile.
    if (user["token"].text and _has_password(user)) or (user["tokenFile"].text and user["username"].text):
        message = "a token and a username with a password are mutually exclusive"
        yield Problem(_shown(user, "username", "tokenFile"), message, help="remove one of them", reason="Invalid", at="key", field=user)
    if user["exec"] and user["auth-provider"]:
        message = "exec and auth-provider are mutually exclusive"
        yield Problem(user["auth-provider"], message, help="remove auth-provider", reason="Invalid", at="key")


@validator(_USER, rule=kubeconfig_credential)
def certificates_have_keys(user: Node) -> Iterator[Problem]:
    """Yield certificates without a key, certificates and keys given as both file and data, and data that is not PEM."""
    certificate = _certificate(user)
    if certificate.text:
        for key in ("client-certificate", "client-key"):
            if user[key].text and user[f"{key}-data"].text:
                yield Problem(user[key], f"{key} and {key}-data are both set", help="remove one of them", reason="Invalid", at="key")
        if not (user["client-key"].text or user["client-key-data"].text):
            message = f"{certificate.name} has no private key"
            yield Problem(
                certificate, message, help="add client-key or client-key-data", reason="Required", at="key", field=user["client-key"]
            )
    yield from not_pem(user["client-certificate-data"], b"CERTIFICATE")
    yield from not_pem(user["client-key-data"], b"PRIVATE KEY")


@validator(_USER, rule=kubeconfig_credential)
def secrets_are_there(user: Node) -> Iterator[Problem]:
    """Yield tokens and passwords that `kubectl config view` has replaced by a placeholder."""
    for key in ("token", "password"):
        if user[key].text in OMITTED:
            yield omitted(user[key])


@validator(_USER, rule=kubeconfig_credential)
def impersonation_names_a_user(user: Node) -> Iterator[Problem]:
    """Yield as-uid, as-groups and as-user-extra without `as`."""
    for key in ("as-uid", "as-groups", "as-user-extra"):
        node = user[key]
        if not user["as"].text and (node.text or len(node)):
            yield Problem(node, f"{key} requires as, the user to impersonate", help=f"add as, or remove {key}", reason="Invalid", at="key")


@validator("clientcmd/v1 ExecConfig", rule=kubeconfig_credential)
def commands_speak_a_version(command: Node) -> Iterator[Problem]:
    """Yield exec commands with an unsupported apiVersion, and those of v1 without interactiveMode."""
    version, mode = command["apiVersion"], command["interactiveMode"]
    known = (f"{_GROUP}/v1", f"{_GROUP}/v1beta1")
    if version.text == f"{_GROUP}/v1alpha1":
        message = f"apiVersion {version.text} was removed in Kubernetes 1.24"
        yield Problem(version, message, help=f"update the command and use {known[1]}", reason="Invalid")
    elif version.text and version.text not in known:
        message = f'exec has the unsupported apiVersion "{version.text}"'
        yield Problem(version, message, help=f"use {' or '.join(known)}", reason="Invalid")
    elif version.text == known[0] and not mode.text:
        message = f"interactiveMode is required for apiVersion {version.text}"
        yield require(mode, Complaint(message, "set it to IfAvailable, Never or Always"))


@validator("clientcmd/v1 Config", rule=kubeconfig_credential)
def providers_exist(config: Resource) -> Iterator[Problem]:
    """Yield removed and unknown auth-providers, and oidc without its required settings. Only oidc is left."""
    for each in config["users"]:
        provider = each["user"]["auth-provider"]
        name, settings = provider["name"], provider["config"]
        since, instead = _GONE.get(name.text, (0, ""))
        if name.text == "oidc":
            for key in _OIDC:
                if not settings[key].text:
                    yield require(settings[key], Complaint(f'config.{key} is required for auth-provider "oidc"', f"add {key}"))
        elif instead and not config.is_before(since):
            message = f'auth-provider "{name.text}" was removed in Kubernetes 1.{since}'
            yield Problem(name, message, help=f"use exec with the command {instead}", reason="NotSupported")
        elif name.text and not instead:
            yield Problem(name, f'unknown auth-provider "{name.text}"', help="use oidc, or exec with a command", reason="NotSupported")


@validator("clientcmd/v1 Config", rule=deprecated_field)
def providers_stay(config: Resource) -> Iterator[Problem]:
    """Yield auth-providers that a later version of Kubernetes removes."""
    for each in config["users"]:
        name = each["user"]["auth-provider"]["name"]
        since, instead = _GONE.get(name.text, (0, ""))
        if config.is_before(since):
            message = f'auth-provider "{name.text}" is deprecated and removed in Kubernetes 1.{since}'
            yield Problem(name, message, help=f"use exec with the command {instead}")


@validator(_USER, rule=kubeconfig_unused_credential)
def every_credential_counts(user: Node) -> Iterator[Problem]:
    """Yield credentials that are never used because of another credential of the user."""
    certified = bool(_certificate(user).text)
    stated = _has_token(user) or _has_password(user)
    if user["exec"] and (stated or certified):
        other = "token or password" if stated else "certificate"
        message = f"kubectl never runs the exec command of a user with a {other}"
        yield Problem(user["exec"], message, help=f"remove exec or the {other}", at="key")
    if user["auth-provider"] and not user["exec"] and stated:
        message = "kubectl never uses the auth-provider of a user with a token or password"
        yield Problem(user["auth-provider"], message, help="remove auth-provider or the token or password", at="key")
    if certified and stated:
        message = "the user has a client certificate and a token or password, but the API server uses only the certificate if it is valid"
        yield Problem(_shown(user, "username", "tokenFile"), message, help="remove one of them", at="key")
    if not certified and (user["client-key"].text or user["client-key-data"].text):
        message = "the client key is never used because the user has no client certificate"
        help = "add client-certificate or client-certificate-data, or remove the key"
        yield Problem(_shown(user, "client-key"), message, help=help, at="key", field=user["client-key"])


@validator(_USER, rule=kubeconfig_unused_credential)
def passwords_are_history(user: Node) -> Iterator[Problem]:
    """Yield users with a password. Kubernetes 1.19 removed basic authentication; a proxy in front of the API server may still use it."""
    if _has_password(user) and not _has_token(user):
        message = "API servers since Kubernetes 1.19 do not accept passwords"
        yield Problem(_shown(user, "username"), message, help="use a certificate, a token or exec", at="key")
