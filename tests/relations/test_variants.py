"""Which of several copies of an object another one means."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from kcheck.facts.variants import Named, Variants, identity


def climb(start: str, goal: str) -> int:
    """How far a file is from another, by the words of the definition."""
    if start == goal:
        return 0
    mine, others = start.split("/")[:-1], goal.split("/")[:-1]
    shared = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(mine, others, strict=False))))
    return 1 + len(mine) - shared


def named(name: str, file: str) -> Named:
    return Named(identity("apps", "Deployment", "", name), file)


files = st.builds(lambda folders, name: "/".join([*folders, name]), st.lists(st.sampled_from("ab"), max_size=3), st.sampled_from("xy"))
objects = st.lists(st.builds(named, st.sampled_from("mn"), files), max_size=8)


@given(objects, files)
def test_nearest_is_what_the_definition_says(every: list[Named], file: str) -> None:
    variants = Variants(every)
    for each in every:
        copies = {other.file for other in every if other.identity == each.identity}
        least = min(climb(file, other) for other in copies)
        assert variants.is_nearest(each, file) == (climb(file, each.file) == least or file == each.file)
        near = variants.nearest(each.identity, file)
        expected = {other for other in copies if climb(file, other) == least}
        assert (copies if near is None else set(near)) == expected


@given(objects)
def test_belonging_together_is_mutual(every: list[Named]) -> None:
    variants = Variants(every)
    assert all(variants.together(one, other) == variants.together(other, one) for one in every for other in every)


def test_two_versions_side_by_side() -> None:
    app = {(name, file): named(name, file) for name in ("web", "api") for file in ("v1/a.yaml", "v2/a.yaml")}
    variants = Variants(app.values())
    assert variants.together(app["web", "v1/a.yaml"], app["api", "v1/a.yaml"])
    assert not variants.together(app["web", "v1/a.yaml"], app["api", "v2/a.yaml"])
    assert variants.alternatives("v1/a.yaml", "v2/a.yaml")


def test_a_base_is_shared_by_its_overlays() -> None:
    web = named("web", "base/web.yaml")
    patches = [named("config", f"overlays/{name}/config.yaml") for name in ("eu", "us")]
    variants = Variants([web, *patches])
    assert all(variants.together(web, patch) for patch in patches)


def test_a_namespace_may_be_repeated() -> None:
    spaces = [Named(identity("", "Namespace", "", "shop"), file) for file in ("a.yaml", "b.yaml")]
    assert not Variants(spaces).alternatives("a.yaml", "b.yaml")


def test_default_is_the_namespace_of_those_that_name_none() -> None:
    assert identity("", "Pod", "default", "a") == identity("", "Pod", "", "a")
