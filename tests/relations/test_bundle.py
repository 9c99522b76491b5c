"""Look-ups in a bundle find what going through all pairs would find."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from kcheck.facts.bundle import Bundle
from kcheck.facts.facts import Facts, PodFact
from kcheck.facts.variants import may_share
from kcheck.kube.location import Location, ObjectId
from kcheck.kube.selector import Requirement, Selector
from kcheck.text.span import Range
from tests.conftest import examples
from tests.relations.world import facts, workload

LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz"), max_size=3)
SPOT = Range(1, 1, 1, 2)


def requirement(key: str, operator: str, values: Iterable[str]) -> Requirement:
    given = tuple(values)
    return Requirement(key, operator, given if operator in ("In", "NotIn") else ())  # type: ignore[arg-type]


requirements = st.builds(
    requirement,
    st.sampled_from("abcd"),
    st.sampled_from(["In", "In", "In", "NotIn", "Exists", "DoesNotExist"]),
    st.lists(st.sampled_from("xyz"), min_size=1, max_size=2),
)
selectors = st.builds(lambda found: Selector(tuple(found)), st.lists(requirements, max_size=3))


def made(number: int, name: str, file: str, namespace: str, labels: dict[str, str], added: frozenset[str] | None, whole: bool) -> Facts:
    place = Location(file, 0, SPOT, "", ObjectId("apps/v1", "Deployment", namespace, name), "", number)
    return Facts(place.object, place, {}, pods=(PodFact(labels, (), place, added=added),), is_complete=whole)


objects = st.lists(
    st.tuples(
        st.sampled_from(["m", "n", "o"]),
        st.sampled_from(["a.yaml", "v1/a.yaml", "v1/b.yaml", "v2/a.yaml"]),
        st.sampled_from(["", "", "p", "q"]),
        LABELS,
        st.sampled_from([frozenset(), frozenset("d"), None]),
        st.sampled_from([True, True, True, False]),
    ),
    max_size=7,
).map(lambda rows: [made(i, *row) for i, row in enumerate(rows)])


@examples(300)
@given(objects, selectors)
def test_selected(every: list[Facts], selector: Selector) -> None:
    bundle = Bundle(every)
    for by in bundle.facts:
        near = [f for f in bundle.facts if may_share(by.id.namespace, f.id.namespace) and bundle.variants.together(by.named, f.named)]
        expected = {(f.place.start, number) for f in near for number, pod in enumerate(f.pods) if f.is_complete and pod.meets(selector)}
        found = [(f.place.start, f.pods.index(pod)) for f, pod in bundle.pods_matching(by, selector)]
        assert len(found) == len(set(found))
        assert set(found) == expected
        here = {(f.place.start, f.pods.index(pod)) for f, pod in bundle.pods_matching(by, selector, "file")}
        assert here == {(f.place.start, 0) for f in every if (f.place.start, 0) in expected and f.place.file == by.place.file}


@given(objects, LABELS)
def test_patches_of_an_object_are_seen_through_it(every: list[Facts], labels: dict[str, str]) -> None:
    selector = Selector(tuple(Requirement(k, "In", (v,)) for k, v in labels.items()))
    for f in Bundle(every).facts:
        for pod in f.pods:
            if f.is_complete and not labels.items() <= pod.labels.items() and pod.added == frozenset() and pod.meets(selector):
                patched = {**pod.labels}
                for patch in pod.patches:
                    patched.update((k, v) for k, v in patch.items() if labels.get(k) == v)
                assert labels.items() <= patched.items()


def test_what_is_made_once_of_an_input() -> None:
    calls = []

    def names(bundle: Bundle) -> list[str]:
        calls.append(bundle)
        return [f.id.name for f in bundle.facts]

    bundle = Bundle([made(1, "m", "a.yaml", "", {}, frozenset(), True)])
    assert bundle.once(names) is bundle.once(names)
    assert calls == [bundle]


def test_all_selectors_of_everything_cover() -> None:
    policy = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: %s%s}\nspec: {podSelector: {}}\n---\n"
    text = policy % ("a", "") + policy % ("b", ", namespace: shop") + policy % ("c", ", namespace: other")
    every = facts(text + workload(metadata=", namespace: shop") + workload("free"))
    bundle = Bundle(every)
    shop, free = (f for f in bundle.facts if f.id.kind == "Deployment")
    assert {f.id.name for f in bundle.covering(shop, "policy")} == {"a", "b"}
    assert {f.id.name for f in bundle.covering(free, "policy")} == {"a", "b", "c"}
