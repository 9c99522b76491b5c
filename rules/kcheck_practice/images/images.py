"""Which image a container runs. Sources: the documentation's pages "Images" and "Configuration Best Practices"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Annotated

from kcheck.api import ERROR, Container, Problem, help_of, image, pattern, rule

# What a build tool or a template puts an image in place of: ko's import paths, and whatever stands in brackets or behind a $ or %.
_PLACEHOLDER = pattern(r"ko://|[${}<>%]|@@")

# All that Docker Hub has under library/, the images that are no longer kept up included. Another single word is no image there: a
# build tool (Skaffold, kustomize, Tilt) or a local build puts the true name in its place.
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


@rule("latest-tag", "Container image uses the latest tag or none", groups=("images", "reliability"), fields="image")
def floating_tag(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "repositories whose tags may move, such as busybox or registry.example.com/team/app"] = (),
    tags: Annotated[tuple[str, ...], "tags that move, besides latest, such as main or nightly"] = (),
) -> Iterator[Problem]:
    """No tag means `:latest`; a digest pins whatever the tag says."""
    node = container["image"]
    found = _parse(node.text)
    if found is None or found.is_pinned or not (found.is_latest or found.tag in tags):
        return
    if not {found.repository, found.path, found.path.removeprefix("library/")}.isdisjoint(allow):
        return
    instead = "write the tag of a version, or a digest"
    if not found.tag:
        yield Problem(node, f"{node.text} has no tag, which means :latest and can change under you", help=instead)
    else:
        yield Problem(node, f"{node.text} can change under you", help=f"{instead} instead of :{found.tag}")


@rule("unpinned-image", "Container image is not pinned to a digest", groups=("images", "supply-chain"), default=False)
def unpinned_image(
    container: Container,
    *,
    allow: Annotated[tuple[str, ...], "registries and repositories that need no digest, such as registry.example.com"] = (),
) -> Iterator[Problem]:
    """Only a digest says which bytes run: a registry may serve something else under the same tag tomorrow."""
    node = container["image"]
    found = _parse(node.text, local=True)
    if found is not None and not found.is_pinned and not {found.domain, found.repository}.intersection(allow):
        yield Problem(node, f"{node.text} is not pinned", help="add @sha256: and the digest of the image that you tested")


@rule(
    "invalid-image-name", "Container image is not a valid reference (InvalidImageName)", severity=ERROR, groups=("images",), fields="image"
)
def image_name(container: Container) -> Iterator[Problem]:
    """The server takes any text; the kubelet needs a reference, and the pod waits with InvalidImageName for ever without one."""
    node = container["image"]
    if not node.text or _PLACEHOLDER.search(node.text):
        return
    try:
        image.parse(node.text)
    except image.BadImage as error:
        yield Problem(node, f"no node can pull {node.text!r}: {error.message}", help=help_of(error.message))


@rule(
    "latest-tag-pull-policy",
    "Image with the latest tag has imagePullPolicy IfNotPresent or Never",
    groups=("images", "reliability"),
    default=False,
)
def pull_policy(container: Container) -> Iterator[Problem]:
    """Under IfNotPresent and Never a node keeps the `:latest` that it pulled first."""
    node, policy = container["image"], container["imagePullPolicy"]
    found = _parse(node.text)
    if found is not None and found.is_latest and policy.text in ("IfNotPresent", "Never"):
        yield Problem(
            policy, f"with {policy.text} every node keeps the {node.text} that it got first", help="name a version, or pull Always"
        )


@lru_cache(maxsize=4096)
def _parse(text: str, local: bool = False) -> image.Image | None:
    """The image that a text names, None for what is no reference and for a placeholder. `local`: a tag makes a single word an image."""
    if not text or _PLACEHOLDER.search(text):
        return None
    try:
        found = image.parse(text)
    except image.BadImage:
        return None
    if "/" not in text and found.path.removeprefix("library/") not in _OFFICIAL and not (local and found.tag):
        return None
    return found
