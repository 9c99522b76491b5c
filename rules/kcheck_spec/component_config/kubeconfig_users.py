"""Credentials in a kubeconfig. No message shows one, and none points at one where it can point elsewhere.

Source: validateAuthInfo and getUserIdentificationPartialConfig (client-go, tools/clientcmd), HTTPWrappersForConfig (transport), the exec
plug-in and the auth providers (plugin/pkg/client/auth), and the order of the API server's authenticators.
"""

from __future__ import annotations

from collections.abc import Iterator

from kcheck.api import WARNING, Complaint, Node, Problem, Resource, declare, validator
from kcheck_spec.component_config.kubeconfig_clusters import OMITTED, not_pem
from kcheck_spec.objects.common_constraints import deprecated_field, require

kubeconfig_credential = declare("invalid-kubeconfig-credential", "kubeconfig user has conflicting or incomplete credentials")
kubeconfig_unused_credential = declare(
    "unused-kubeconfig-credential", "kubeconfig user has a credential that kubectl never uses", severity=WARNING
)

_USER = "clientcmd/v1 AuthInfo"
_GROUP = "client.authentication.k8s.io"
_OIDC = ("idp-issuer-url", "client-id")

# Ways to log in that were taken out of client-go: the first version 1.N without, and what to run instead.
_GONE = {"azure": (26, "kubelogin"), "gcp": (26, "gke-gcloud-auth-plugin"), "openstack": (25, "client-keystone-auth")}


def _certificate(user: Node) -> Node:
    return user["client-certificate"] if user["client-certificate"].text else user["client-certificate-data"]


def _has_token(user: Node) -> bool:
    return bool(user["token"].text or user["tokenFile"].text)


def _has_password(user: Node) -> bool:
    return bool(user["username"].text or user["password"].text)


def _shown(user: Node, *keys: str) -> Node:
    """The first of these fields that is written and no secret; the user where none is."""
    return next((user[key] for key in keys if user[key]), user)


@validator(_USER, rule=kubeconfig_credential)
def one_way_to_log_in(user: Node) -> Iterator[Problem]:
    """Two ways that exclude each other."""
    # A password without a user name counts beside a token alone.
    if (user["token"].text and _has_password(user)) or (user["tokenFile"].text and user["username"].text):
        message = "a token and a password exclude each other"
        yield Problem(_shown(user, "username", "tokenFile"), message, help="keep one of the two", reason="Invalid", at="key", field=user)
    if user["exec"] and user["auth-provider"]:
        yield Problem(user["auth-provider"], "exec and auth-provider exclude each other", help="keep exec", reason="Invalid", at="key")


@validator(_USER, rule=kubeconfig_credential)
def certificates_have_keys(user: Node) -> Iterator[Problem]:
    """A certificate and its key, each in a file or in place."""
    certificate = _certificate(user)
    if certificate.text:
        for key in ("client-certificate", "client-key"):
            if user[key].text and user[f"{key}-data"].text:
                yield Problem(user[key], f"{key}-data says the same in place", help="keep one of the two", reason="Invalid", at="key")
        if not (user["client-key"].text or user["client-key-data"].text):
            message = "a certificate proves nothing without its key"
            yield Problem(
                certificate, message, help="add client-key or client-key-data", reason="Required", at="key", field=user["client-key"]
            )
    yield from not_pem(user["client-certificate-data"], b"CERTIFICATE", "a certificate")
    yield from not_pem(user["client-key-data"], b"PRIVATE KEY", "a private key")


@validator(_USER, rule=kubeconfig_credential)
def secrets_are_there(user: Node) -> Iterator[Problem]:
    """What kubectl config view prints is not what it read."""
    for key in ("token", "password"):
        if user[key].text in OMITTED:
            message = f"kubectl config view writes {user[key].text} where it leaves something out: print it again with --raw"
            yield Problem(user[key], message, reason="Invalid")


@validator(_USER, rule=kubeconfig_credential)
def impersonation_names_a_user(user: Node) -> Iterator[Problem]:
    """Groups and the like are those of somebody."""
    for key in ("as-uid", "as-groups", "as-user-extra"):
        node = user[key]
        if not user["as"].text and (node.text or len(node)):
            yield Problem(node, f"{key} goes with a user to act as", help="add as", reason="Invalid", at="key")


@validator("clientcmd/v1 ExecConfig", rule=kubeconfig_credential)
def commands_speak_a_version(command: Node) -> Iterator[Problem]:
    """Which version of the protocol a command speaks, and whether it may ask the user."""
    version, mode = command["apiVersion"], command["interactiveMode"]
    known = (f"{_GROUP}/v1", f"{_GROUP}/v1beta1")
    if version.text == f"{_GROUP}/v1alpha1":
        message = f"{version.text} is gone since Kubernetes 1.24"
        yield Problem(version, message, help=f"update the command and write {known[1]}", reason="Invalid")
    elif version.text and version.text not in known:
        yield Problem(version, f"no command speaks {version.text}", help=f"write {' or '.join(known)}", reason="Invalid")
    elif version.text == known[0] and not mode.text:
        yield require(
            mode, Complaint("with v1 a command says whether it may ask the user", "add interactiveMode (IfAvailable, Never or Always)")
        )


@validator("clientcmd/v1 Config", rule=kubeconfig_credential)
def providers_exist(config: Resource) -> Iterator[Problem]:
    """The one provider that is left is oidc."""
    for each in config["users"]:
        provider = each["user"]["auth-provider"]
        name, settings = provider["name"], provider["config"]
        since, instead = _GONE.get(name.text, (0, ""))
        if name.text == "oidc":
            for key in _OIDC:
                if not settings[key].text:
                    yield require(settings[key], Complaint(f"oidc needs {key}", "add it"))
        elif instead and not config.is_before(since):
            message = f"auth-provider {name.text} was removed in Kubernetes 1.{since}"
            yield Problem(name, message, help=f"write exec with the command {instead}", reason="NotSupported")
        elif name.text and not instead:
            yield Problem(
                name, f"kubectl has no auth-provider {name.text}", help="write oidc, or exec with a command", reason="NotSupported"
            )


@validator("clientcmd/v1 Config", rule=deprecated_field)
def providers_stay(config: Resource) -> Iterator[Problem]:
    """Two providers were deprecated before they were removed."""
    for each in config["users"]:
        name = each["user"]["auth-provider"]["name"]
        since, instead = _GONE.get(name.text, (0, ""))
        if config.is_before(since):
            message = f"auth-provider {name.text} is deprecated and goes with 1.{since}"
            yield Problem(name, message, help=f"write exec with the command {instead}")


@validator(_USER, rule=kubeconfig_unused_credential)
def every_credential_counts(user: Node) -> Iterator[Problem]:
    """What another credential puts out of work."""
    certified = bool(_certificate(user).text)
    stated = _has_token(user) or _has_password(user)
    if user["exec"] and (stated or certified):
        others = "a token or password" if stated else "a certificate"
        yield Problem(user["exec"], f"the command never runs where the user has {others}", help="keep one of the two", at="key")
    if user["auth-provider"] and not user["exec"] and stated:
        yield Problem(
            user["auth-provider"], "the provider is never asked where the user has a token or password", help="keep one", at="key"
        )
    if certified and stated:
        message = Complaint("the API server takes the certificate and looks at the other credential only if that is bad", "keep one")
        yield Problem(_shown(user, "username", "tokenFile"), message, at="key")
    if not certified and (user["client-key"].text or user["client-key-data"].text):
        message = Complaint("a key is never used without its certificate", "add client-certificate, or take the key away")
        yield Problem(_shown(user, "client-key"), message, at="key", field=user["client-key"])


@validator(_USER, rule=kubeconfig_unused_credential)
def passwords_are_history(user: Node) -> Iterator[Problem]:
    """Basic authentication was taken out of the API server with 1.19; a proxy before it may still read it."""
    if _has_password(user) and not _has_token(user):
        message = "no API server since Kubernetes 1.19 takes a password"
        yield Problem(_shown(user, "username"), message, help="use a certificate, a token or exec", at="key")
