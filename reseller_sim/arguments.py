"""Checks the arguments of public functions against their annotations, before anything is sent; and the types of
parameters that several functions have.

A wrong type and an unknown name are a `TypeError`, a wrong value is a `ValueError`. `Annotated[str, Limit(…)]` limits
the values of a parameter. The simulator itself checks what it is sent.
"""

import inspect
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from functools import wraps
from math import inf
from pathlib import Path
from types import FunctionType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin
from urllib.parse import urlsplit

from reseller_sim.formats import duration

__tracebackhide__ = True  # pytest shows the line of the test
T = TypeVar("T")

UNIONS = (Union, UnionType)
COMPARED_CHARS = 64


@dataclass(frozen=True)
class Limit:
    """Which values of a type are taken: `wanted` says so after "must be"; a refusal suggests one of the `known`."""

    wanted: str
    accepts: Callable[[Any], bool]
    known: tuple[str, ...] = ()


def nearest(word: str, known: Sequence[str]) -> str:
    """Return the known name that is most like `word`, ignoring case; empty when none is similar."""
    by_folded = {name.casefold(): name for name in known}
    found = get_close_matches(word.strip().casefold()[:COMPARED_CHARS], by_folded, 1)
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
    parameters = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    annotations = {one.name: one.annotation for one in parameters}
    filters = next((one.name for one in parameters if one.kind is one.VAR_KEYWORD), "")  # the simulator knows them

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in annotations and not filters:
                hint = did_you_mean(name, [*annotations])
                if "scenario" in annotations and not hint.endswith("?"):
                    hint += f'; a scenario\'s own keys go into scenario={{"{name}": …}}'
                raise TypeError(f"{called} has no argument {name!r}{hint}")
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{called}: {error}; its arguments are {', '.join(annotations) or 'none'}") from None
        for name, value in (given | given.pop(filters, {})).items():
            if name not in ("self", "cls"):
                _check(f"{called}: {name}", annotations.get(name) or annotations[filters], value)
        return function(*args, **kwargs)

    return call


def _check(where: str, annotation: Any, value: Any) -> None:
    accepting = next((one for one in _alternatives(annotation) if _has_type(one, value)), None)
    if accepting is None:
        kind = type(value).__name__
        raise TypeError(f"{where} must be {_words(annotation)}, not {reprlib.repr(value)} ({kind})")
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
    if kind is Mapping:  # the headers of http.server are none, and have `items`
        return hasattr(value, "items") and all(
            _has_type(inner[0], name) and _has_type(inner[1], one) for name, one in value.items()
        )
    if kind is Sequence:
        return isinstance(value, list | tuple) and all(_has_type(inner[0], one) for one in value)
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool) and -inf < value < inf
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _words(annotation: Any) -> str:
    words = [
        one.__metadata__[0].wanted if hasattr(one, "__metadata__") else inspect.formatannotation(one)
        for one in _alternatives(annotation)
    ]
    return _MODULES.sub("", " or ".join(dict.fromkeys(words))).replace("NoneType", "None")


DAY_S = 86_400
PAYMENT = ("Accepted", "Processing", "Succesful", "Failed", "Refund")
CALLBACK = ("Processing", "Succesful", "Failed")
CLOCKS = ("manual", "real")
SPELLING = " (the service writes 'Succesful', with one s)"
RATE = re.compile(r"x([0-9]{1,9}(?:\.[0-9]{1,9})?)")  # a clock that runs faster, such as x60
_MODULES = re.compile(r"\b([a-z_]+\.)+(?=[A-Z])")
_NOT_SENT = re.compile(r"[^!-~]|#")


def choice(*known: str, note: str = "") -> Limit:
    """Take one of these texts."""
    return Limit(f"one of {', '.join(known)}{note}", known.__contains__, known)


def between(least: float, most: float, what: str) -> Limit:
    """Take a number from `least` to `most`."""
    return Limit(f"{what} from {least} to {most}", lambda value: least <= value <= most)


def _is_amount(value: Any) -> bool:
    try:
        return Decimal(str(value)).is_finite()
    except InvalidOperation:
        return False


def is_url(text: str) -> bool:
    """Return True for an http or https URL with a host, an optional port, and no part that a request would drop."""
    try:
        parts = urlsplit(text)
        is_whole = not _NOT_SENT.search(text) and "?" not in text and parts.username is None
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and is_whole
    except ValueError:
        return False


def seconds(span: str | float | timedelta) -> float:
    """Return the seconds of `90`, `"90s"`, `"1h30m"`, `"1.5d"` or a timedelta. Raises `ValueError` for a text."""
    try:
        parsed = duration(span) if isinstance(span, str) else span
    except ValueError as error:
        raise ValueError(f"{span!r} {error}") from None
    return parsed.total_seconds() if isinstance(parsed, timedelta) else parsed


def moment(at: str | datetime) -> str:
    """Return a time as ISO 8601."""
    return at if isinstance(at, str) else at.isoformat()


Name = Annotated[str, Limit("text that is not empty", lambda text: bool(text.strip()))]
Seconds = Annotated[float, between(0, DAY_S, "seconds")]
Count = Annotated[int, between(1, 10_000, "a number")]
Money = Annotated[str | int | float | Decimal, Limit("an amount such as '25.00'", _is_amount)]
Duration = str | int | float | timedelta
Moment = str | datetime
PaymentStatus = Annotated[str, choice(*PAYMENT, note=SPELLING)]
CallbackStatus = Annotated[str, choice(*CALLBACK, note=SPELLING)]
Section = Annotated[str, choice("payments", "voids", "disputes", "bills", "faults")]
Clock = Annotated[
    str, Limit("manual, real or a rate such as x60", lambda text: text in CLOCKS or bool(RATE.fullmatch(text)), CLOCKS)
]
Url = Annotated[
    str, Limit("an http or https URL such as http://127.0.0.1:8080, without a user, a query and a fragment", is_url)
]
Target = Annotated[
    str,
    Limit(
        "a path such as /v2/balance, percent-encoded",
        lambda text: text[:1] in ("", "/") and not _NOT_SENT.search(text),
    ),
]
Filter = Name | int
Scenario = Annotated[
    Name | Path | Mapping[str, Any],
    Limit("a bundled scenario's name, a file, YAML text or a mapping", lambda value: value != ""),
]
