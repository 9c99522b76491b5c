"""Named tuples that are quickly defined: as `typing.NamedTuple`, for which they stand in (`record.pyi`), in a sixth of the time.

A run defines a hundred of them and makes values of half. So what a value needs to be made is compiled when the first one is made, and
annotations stay the texts that they are.
"""

import copyreg
from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any

try:
    # What the standard library's own named tuples read their fields with.
    from _collections import _tuplegetter  # type: ignore[import-not-found]
except ImportError:

    def _tuplegetter(place: int, doc: None) -> Any:
        return property(itemgetter(place))


class _Definition(type):
    """Makes a class that lists its fields a tuple with names for its places."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        fields = tuple(namespace.get("__annotations__", ()))
        defaults = {field: namespace.pop(field) for field in fields if field in namespace}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without default stands behind one with a default")
        namespace |= {field: _tuplegetter(place, None) for place, field in enumerate(fields)}
        given: dict[str, Any] = {
            "__slots__": (),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": defaults,
            "__new__": _made_first(fields, defaults),
            "__repr__": _repr,
            "__getnewargs__": _given,
            "_values": _VALUES,
            "_make": classmethod(tuple.__new__),
            "_replace": _replace,
            "_asdict": _asdict,
        }
        made = type(name, (tuple,), given | namespace)
        copyreg.pickle(made, _REDUCED)
        return made


def _made_first(fields: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., Any]:
    """A constructor that makes way for a quicker one when it is first called."""

    def __new__(cls: Any, /, *args: Any, **named: Any) -> Any:
        given = "".join(f", {field}=_defaults[{field!r}]" if field in defaults else f", {field}" for field in fields)
        values = "".join(f"{field}, " for field in fields)
        space = {"_tuple_new": tuple.__new__, "_defaults": defaults}
        made: Any = eval(f"lambda _cls{given}: _tuple_new(_cls, ({values}))", space)
        made.__name__ = "__new__"
        for owner in cls.__mro__:
            if owner.__dict__.get("__new__") is marker:
                owner.__new__ = staticmethod(made)
        return made(cls, *args, **named)

    marker = staticmethod(__new__)
    return marker  # type: ignore[return-value]


def _given(self: Any) -> tuple[Any, ...]:
    return tuple(self)


# Tens of thousands of values go from process to process: with these, no call of Python's is needed to take one apart.
_VALUES = property(tuple)
_REDUCED: Any = attrgetter("__class__", "_values")


def _repr(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self, strict=True))})"


def _replace(self: Any, /, **changes: Any) -> Any:
    made = self._make(map(changes.pop, self._fields, self))
    if changes:
        raise ValueError(f"{type(self).__name__} has no field {', '.join(changes)}")
    return made


def _asdict(self: Any) -> dict[str, Any]:
    return dict(zip(self._fields, self, strict=True))


NamedTuple: Any = type.__new__(_Definition, "NamedTuple", (), {})
