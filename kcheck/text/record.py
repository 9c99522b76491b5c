"""`NamedTuple` for modules that most runs import: like `typing.NamedTuple`, but a class takes a tenth of the instructions to define.

A run defines dozens of these classes. `typing.NamedTuple` compiles the annotations and the constructor of each class. Here,
annotations remain strings, and the constructor is compiled when the first instance is created, which never happens for many classes.
Type checkers see `typing.NamedTuple` (`record.pyi`).
"""

from operator import itemgetter
from typing import Any

try:
    # Reads the fields of `collections.namedtuple`.
    from _collections import _tuplegetter  # type: ignore[import-not-found]
except ImportError:

    def _tuplegetter(index: int, doc: None) -> Any:
        return property(itemgetter(index))


_new = tuple.__new__


class _NamedTupleBase(tuple[Any, ...]):
    """The methods that all named tuples have."""

    __slots__ = ()
    _make = classmethod(_new)

    def __new__(cls, /, *args: Any, **fields: Any) -> Any:
        """Compile the constructor of a class on its first call."""
        owner: Any = next(each for each in cls.__mro__ if "_fields" in vars(each))
        defaults = owner._field_defaults
        parameters = "".join(f", {name}=_defaults[{name!r}]" if name in defaults else f", {name}" for name in owner._fields)
        values = "".join(f"{name}, " for name in owner._fields)
        scope = {"_new": _new, "_defaults": defaults}
        owner.__new__ = staticmethod(eval(f"lambda _cls{parameters}: _new(_cls, ({values}))", scope))
        return owner.__new__(cls, *args, **fields)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Support pickling. Processes send tens of thousands of tuples to each other; the default takes longer."""
        return _new, (self.__class__, tuple(self))

    def __repr__(self: Any) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self, strict=True))})"

    def _replace(self: Any, /, **changes: Any) -> Any:
        changed = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"{type(self).__name__} has no field {', '.join(changes)}")
        return changed

    def _asdict(self: Any) -> dict[str, Any]:
        return dict(zip(self._fields, self, strict=True))


class _NamedTupleMeta(type):
    """Turns the body of a class into a tuple with named fields."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        fields = tuple(namespace.get("__annotations__", ()))
        defaults = {field: namespace[field] for field in fields if field in namespace}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one with a default")
        namespace |= {field: _tuplegetter(index, None) for index, field in enumerate(fields)}
        namespace |= {"__slots__": (), "__match_args__": fields, "_fields": fields, "_field_defaults": defaults}
        return type(name, (_NamedTupleBase,), namespace)


NamedTuple: Any = type.__new__(_NamedTupleMeta, "NamedTuple", (), {})
