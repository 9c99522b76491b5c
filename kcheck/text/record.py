"""Named tuples that are cheap to define: a replacement of `typing.NamedTuple` (see `record.pyi`) that needs a sixth of the time.

A run defines about a hundred named tuples and instantiates half of them. Therefore the constructor of a class is compiled when its first
instance is created, and annotations are not evaluated.
"""

import copyreg
from collections.abc import Callable
from operator import attrgetter, itemgetter
from typing import Any

try:
    # The field descriptor of the named tuples in the standard library.
    from _collections import _tuplegetter  # type: ignore[import-not-found]
except ImportError:

    def _tuplegetter(place: int, doc: None) -> Any:
        return property(itemgetter(place))


class _Definition(type):
    """Metaclass that turns a class with annotated fields into a tuple with named fields."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        fields = tuple(namespace.get("__annotations__", ()))
        defaults = {field: namespace.pop(field) for field in fields if field in namespace}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows a field with a default")
        namespace |= {field: _tuplegetter(place, None) for place, field in enumerate(fields)}
        members: dict[str, Any] = {
            "__slots__": (),
            "__match_args__": fields,
            "_fields": fields,
            "_field_defaults": defaults,
            "__new__": _lazy_constructor(fields, defaults),
            "__repr__": _repr,
            "__getnewargs__": _newargs,
            "_values": _VALUES,
            "_make": classmethod(tuple.__new__),
            "_replace": _replace,
            "_asdict": _asdict,
        }
        made = type(name, (tuple,), members | namespace)
        copyreg.pickle(made, _REDUCED)
        return made


def _lazy_constructor(fields: tuple[str, ...], defaults: dict[str, Any]) -> Callable[..., Any]:
    """Return a `__new__` that compiles a faster `__new__` on its first call and replaces itself with it."""

    def __new__(cls: Any, /, *args: Any, **named: Any) -> Any:
        parameters = "".join(f", {field}=_defaults[{field!r}]" if field in defaults else f", {field}" for field in fields)
        values = "".join(f"{field}, " for field in fields)
        space = {"_tuple_new": tuple.__new__, "_defaults": defaults}
        made: Any = eval(f"lambda _cls{parameters}: _tuple_new(_cls, ({values}))", space)
        made.__name__ = "__new__"
        for owner in cls.__mro__:
            if owner.__dict__.get("__new__") is marker:
                owner.__new__ = staticmethod(made)
        return made(cls, *args, **named)

    marker = staticmethod(__new__)
    return marker  # type: ignore[return-value]


def _newargs(self: Any) -> tuple[Any, ...]:
    return tuple(self)


# Tens of thousands of values are sent between processes. With these, pickling a value runs no Python code.
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
