"""Checks the arguments of public functions against their annotations, before anything is sent.

A wrong type and an unknown name are a `TypeError`, a wrong value is a `ValueError`. `Annotated[str, Limit(…)]` limits
the values of a parameter.
"""

import inspect
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from math import isfinite
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

__tracebackhide__ = True  # pytest shows the line of the test
T = TypeVar("T")

WORDS: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    bytes: "bytes",
    Any: "anything",
    NoneType: "None",
}
UNIONS = (Union, UnionType)
COMPARED_CHARS = 64


@dataclass(frozen=True)
class Limit:
    """Which values of a type are taken: `wanted` says so after "must be"; a refusal suggests one of the `known`."""

    wanted: str
    accepts: Callable[[Any], bool]
    known: tuple[str, ...] = ()


def nearest(word: str, known: Sequence[str], likeness_min: float = 0.6) -> str:
    """Return the known name that is most like `word`, ignoring case; empty when none is similar."""
    by_folded = {name.casefold(): name for name in known}
    found = get_close_matches(word.strip().casefold()[:COMPARED_CHARS], by_folded, 1, likeness_min)
    return by_folded[found[0]] if found else ""


def did_you_mean(wrong: str, known: Sequence[str]) -> str:
    """Return the end of a sentence that names the likeliest known name, or all of them."""
    if likely := nearest(wrong, known):
        return f": did you mean {likely!r}?"
    return f": there are {', '.join(known)}" if known else ": it takes none"


def checked(target: T) -> T:
    """Check the arguments of a function, or of the constructor and the public methods of a class."""
    if isinstance(target, FunctionType):
        return _checked(target)  # type: ignore[return-value]  # it has the same signature
    for name, member in list(vars(target).items()):
        function = member.__func__ if isinstance(member, classmethod) else member
        if isinstance(function, FunctionType) and (name == "__init__" or not name.startswith("_")):
            wrapper = _checked(function)
            setattr(target, name, classmethod(wrapper) if isinstance(member, classmethod) else wrapper)
    return target


def _checked(function: FunctionType) -> Callable[..., Any]:
    signature = inspect.signature(function)
    owner, _, name = function.__qualname__.rpartition(".")
    called = f"{owner if name == '__init__' else name}()"
    annotations: dict[str, Any] = {}
    for one in signature.parameters.values():
        if one.kind is one.VAR_KEYWORD:
            annotations |= get_args(one.annotation)[0].__annotations__  # of an unpacked TypedDict
        elif one.name not in ("self", "cls"):
            annotations[one.name] = one.annotation

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in annotations:
                raise TypeError(f"{called} has no argument {name!r}{did_you_mean(name, [*annotations])}")
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{called}: {error}; its arguments are {', '.join(annotations) or 'none'}") from None
        for name, value in (given | given.get("filters", {})).items():
            if name in annotations:
                _check(f"{called}: {name}", annotations[name], value)
        return function(*args, **kwargs)

    return call


def _check(where: str, annotation: Any, value: Any) -> None:
    accepting = next((one for one in _alternatives(annotation) if _has_type(one, value)), None)
    if accepting is None:
        kind = type(value).__name__
        raise TypeError(f"{where} must be {_words(annotation)}, not {reprlib.repr(value)} ({kind})")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{where} must be a number, not {value}")
    if isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value):
        raise ValueError(f"{where} must be text that can be sent, not {value!r:.60}")
    for limit in getattr(accepting, "__metadata__", ()):
        if not limit.accepts(value):
            likely = nearest(value, limit.known) if limit.known else ""
            hint = f"; did you mean {likely!r}?" if likely else ""
            raise ValueError(f"{where} must be {limit.wanted}, not {reprlib.repr(value)}{hint}")


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in UNIONS else (annotation,)


def _has_type(annotation: Any, value: Any) -> bool:
    kind, inner = get_origin(annotation) or annotation, get_args(annotation)
    if kind in UNIONS:
        return any(_has_type(one, value) for one in inner)
    if kind is Annotated:
        return _has_type(inner[0], value)
    if kind is Mapping:  # the headers of http.server have all that it takes
        return hasattr(value, "keys") and all(
            _has_type(inner[0], name) and _has_type(inner[1], value[name])
            for name in value.keys()  # noqa: SIM118  # it may have no iterator
        )
    if kind is Sequence:
        return isinstance(value, list | tuple) and all(_has_type(inner[0], one) for one in value)
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool)
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _words(annotation: Any) -> str:
    words = list(dict.fromkeys(map(_word, _alternatives(annotation))))
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _word(annotation: Any) -> str:
    inner = get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return str(annotation.__metadata__[0].wanted)
    if get_origin(annotation) is Sequence:
        return f"a list with {_words(inner[0])} in each place"
    if get_origin(annotation) is Mapping:
        return f"a mapping of {_words(inner[0])} to {_words(inner[1])}"
    return WORDS.get(annotation) or f"a {annotation.__name__}"
