"""Objects with the same identity. Source: the Kubernetes documentation page "Object Names and IDs"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kcheck.api import Bundle, Facts, Problem, Related, rule


@rule("duplicate-object", "Object is defined twice in a file", groups=("relations",))
def duplicate_object(facts: Facts, bundle: Bundle) -> Iterator[Problem]:
    """Yields a problem for each further object of a file with the same kind, namespace and name: only the last one takes effect."""
    if not facts.is_complete or not facts.id.name:
        return
    copies = bundle.once(_repeated).get((facts.place.file, facts.named.identity), ())
    if copies and copies[0] is not facts:
        first = copies[0]
        message = f"{facts.title} is already defined in this file, and the last definition replaces the others"
        yield Problem(facts.place, message, help="remove or rename one of the two", related=(Related(first.place, first.title),))


def _repeated(bundle: Bundle) -> dict[tuple[str, tuple[str, str, str, str]], list[Facts]]:
    """File and identity -> the complete objects, for those that occur several times."""
    table: dict[tuple[str, tuple[str, str, str, str]], list[Facts]] = defaultdict(list)
    for f in bundle.facts:
        if f.is_complete and f.id.name:
            table[f.place.file, f.named.identity].append(f)
    return {key: found for key, found in table.items() if len(found) > 1}
