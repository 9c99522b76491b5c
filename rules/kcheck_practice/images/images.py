"""Image references of containers. Sources: the Kubernetes documentation pages "Images" and "Configuration Best Practices"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated

from kcheck.api import ERROR, INFO, Complaint, Container, Correction, Problem, Suggestion, help_of, image, pattern, placeholders, rule
from kcheck_practice._support.security_contexts import is_whole, named

# Import paths that the build tool ko replaces with an image.
_BUILT = "ko://"

# All images that Docker Hub has under library/, including those that are no longer maintained. Any other single word is not an image
# there: a build tool (Skaffold, kustomize, Tilt) or a local build replaces it with the real name.
_LIBRARY = """
    adminer aerospike almalinux alpine alt amazoncorretto amazonlinux api-firewall arangodb archlinux azul-zulu backdrop bash bonita
    buildpack-deps busybox caddy cassandra celery centos chronograf cirros clearlinux clefos clickhouse clojure composer consul
    convertigo couchbase couchdb crate dart debian django docker drupal eclipse-mosquitto eclipse-temurin eggdrop elasticsearch elixir
    emqx erlang euleros express-gateway fedora flink fluentd fsharp gazebo gcc geonetwork ghost glassfish golang gradle groovy haproxy
    haskell haxe hello-seattle hello-world hitch hipache hola-mundo httpd hylang ibm-semeru-runtimes ibmjava influxdb iojs irssi java
    jenkins jetty jobber joomla jruby julia kaazing-gateway kapacitor kibana known kong krakend lightstreamer liquibase logstash
    mageia mariadb matomo maven mediawiki memcached mongo mongo-express monica mono mysql nats nats-streaming neo4j neurodebian
    nextcloud nginx node notary nuxeo odoo open-liberty openjdk opensuse oraclelinux orientdb owncloud percona perl photon php
    php-zendserver phpmyadmin piwik plone postfixadmin postgres pypy python r-base rabbitmq rails rakudo-star rapidoid redis redmine
    registry rethinkdb rocket.chat rockylinux ros ruby rust sapmachine satosa scratch sentry silverpeas sl solr sonarqube sourcemage
    spark spiped storm swarm swift swipl teamspeak telegraf thrift tomcat tomee traefik ubuntu ubuntu-debootstrap ubuntu-upstart unit
    varnish vault websphere-liberty wordpress xwiki yourls znc zookeeper
"""
_OFFICIAL = frozenset(_LIBRARY.split())
# The address of a page about an image: hub.docker.com/r/ORGANIZATION/IMAGE, and _/ for official images.
_WEB_PAGE = pattern(r"(?:https?://)?hub\.docker\.(?:com|io)/(?:r|_)/(?=.)")
# A part of a path in capitals, such as OWNER: repositories have names in lower case.
_CAPITALS = pattern(r"(?:^|/)[A-Z][A-Z0-9_-]+(?=[/:@]|$)")
# A version of at least three parts in the name of a repository, such as inference-cu124.2-3: the repository contains only this version.
_VERSION_IN_NAME = pattern(r"(?<!\d)\d+[.-]\d+[.-]\d+(?!\d)")


@rule("latest-tag", "Container image uses the latest tag or none", groups=("images", "reliability"), fields="image")
def floating_tag(
    container: Container,
    *,
    allow: Annotated[
        tuple[str, ...], "repositories whose images may use such tags, for example busybox or registry.example.com/team/app"
    ] = (),
    tags: Annotated[tuple[str, ...], "further tags that are reported like latest, for example main or nightly"] = (),
    official_images: Annotated[bool, "whether the official images of Docker Hub, such as busybox, need a tag"] = True,
) -> Iterator[Problem]:
    """Yield images with the tag latest, with none, or with one of `tags`. An image with a digest is pinned whatever its tag is.

    Mirrors such as mirror.gcr.io/busybox serve the same official images as Docker Hub. A repository with a version in its name needs no
    tag.
    """
    node = container["image"]
    found = _parse(node.text)
    if found is None or found.is_pinned or not (found.is_latest or found.tag in tags):
        return
    if not found.tag and _VERSION_IN_NAME.search(found.path.rpartition("/")[2]):
        return
    short_path = found.path.removeprefix("library/")
    if not {found.repository, found.path, short_path}.isdisjoint(allow) or (not official_images and short_path in _OFFICIAL):
        return
    if not found.tag:
        yield Problem(
            node,
            f'image "{node.text}" has no tag and defaults to latest, which can change at any time',
            help="add a version tag or a digest",
        )
    else:
        message = f'tag "{found.tag}" of image "{node.text}" can change at any time'
        yield Problem(node, message, help=f"use a version tag or a digest instead of {found.tag}")


@rule("unpinned-image", "Container image is not pinned to a digest", groups=("images", "supply-chain"), default=False)
def unpinned_image(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "registries and repositories whose images need no digest, for example registry.example.com"] = (),
) -> Iterator[Problem]:
    """Yield images without a digest: a registry may serve different content under the same tag."""
    node = container["image"]
    found = _parse(node.text, local=True)
    if found is not None and not found.is_pinned and not {found.domain, found.repository}.intersection(allow):
        yield Problem(
            node, f'image "{node.text}" is not pinned to a digest', help="append @sha256: and the digest of the image that you tested"
        )


@rule(
    "invalid-image-name",
    "Container image is not a valid reference (InvalidImageName)",
    severity=ERROR,
    groups=("images",),
    fields="image",
    fixable=True,
)
def image_name(container: Container) -> Iterator[Problem]:
    """Yield images that do not parse. The API server accepts them, but the kubelet keeps the container in the state InvalidImageName.

    The address of an image on the web site of Docker Hub parses, but no registry answers there.
    """
    node = container["image"]
    if not node.text or _is_filled_in(node.text):
        return
    page = _WEB_PAGE.match(node.text)
    if page is not None:
        message = f'image "{node.text}" is the address of a web page of Docker Hub'
        name = node.text[page.end() :]
        yield Problem(node, message, help=Suggestion(f"use {name}", name, safe=False))
        return
    try:
        image.parse(node.text)
    except image.BadImage as error:
        yield Problem(node, f'image "{node.text}" is not a valid reference: {error.message}', help=help_of(error.message))


@rule(
    "latest-tag-pull-policy",
    "Image with the latest tag has imagePullPolicy IfNotPresent or Never",
    groups=("images", "reliability"),
    default=False,
)
def pull_policy(container: Container) -> Iterator[Problem]:
    """Yield imagePullPolicy IfNotPresent and Never of images with the tag latest or none."""
    node, policy = container["image"], container["imagePullPolicy"]
    found = _parse(node.text)
    if found is not None and found.is_latest and policy.text in ("IfNotPresent", "Never"):
        message = f'with imagePullPolicy: {policy.text}, each node keeps its first copy of image "{node.text}"'
        yield Problem(policy, message, help="use a version tag or set imagePullPolicy: Always")


@lru_cache(maxsize=4096)
def _parse(text: str, local: bool = False) -> image.Image | None:
    """The image of a reference; None where it is not valid or a placeholder. `local`: accept a single word with a tag as an image."""
    if not text or _is_filled_in(text):
        return None
    try:
        found = image.parse(text)
    except image.BadImage:
        return None
    if "/" not in text and found.path.removeprefix("library/") not in _OFFICIAL and not (local and found.tag):
        return None
    return found


def _is_filled_in(text: str) -> bool:
    """Whether a tool replaces the image before it is applied."""
    return text.startswith(_BUILT) or placeholders.in_name(text) != "" or _CAPITALS.search(text) is not None


@rule("pull-policy-not-always", "imagePullPolicy is not Always", severity=INFO, groups=("images",), default=False, fixable=True)
def pull_always(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "policies that are allowed"] = ("Always",),
) -> Iterator[Problem]:
    """Yield containers with another imagePullPolicy than `allow`.

    Where none is set, the API server sets Always for the tag latest or none, and IfNotPresent otherwise.
    """
    node = container["imagePullPolicy"]
    policy = node.text
    if not is_whole(container):
        return
    if not policy:
        try:
            policy = image.parse(container["image"].text).pull_policy
        except image.BadImage:
            return
    if policy in allow:
        return
    shown = f"imagePullPolicy: {policy}" if node.text else f"imagePullPolicy is not set, and its default {policy}"
    effect = (
        "is not allowed" if policy == "Always" else f'lets every Pod on a node use its cached copy of image "{container["image"].text}"'
    )
    message = Complaint(f"{shown} {effect}", f"set imagePullPolicy: {allow[0]}" if allow else "")
    fix = Correction.set(node, allow[0], safe=False) if allow else None
    yield Problem(node if node else named(container), message, field=node, fix=fix)
