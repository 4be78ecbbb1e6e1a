"""Decodes JSON bodies within limits: any bytes result in a value or in `BadJson`.

Numbers become int or Decimal, never float. msgspec rejects what is not JSON: NaN, a byte order mark, lone surrogates,
trailing text.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import msgspec

DEPTH_MAX = 64
NUMBER_CHARS_MAX = 4300  # Python's own limit for an int

# Nesting costs two bytes a level; a shorter body cannot be too deep.
_SHALLOW_BYTES_MAX = 2 * DEPTH_MAX
_CONTAINERS = (dict, list)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The decoder looks for the other half in the six bytes behind it, and finds the end instead.
_HALF_PAIR_AT_END = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}.{0,5}$", re.DOTALL)
_TOO_DEEP = f"the body is nested more than {DEPTH_MAX} levels deep"


class BadJson(ValueError):
    """A body that is rejected as JSON; the text says why, without quoting the body."""


class _TooLong(Exception):
    """A number has more than `NUMBER_CHARS_MAX` characters."""


def _number(text: str) -> Decimal:
    if len(text) > NUMBER_CHARS_MAX:
        raise _TooLong
    return Decimal(text)


# A body of at most that length cannot have a number that is too long.
_decode_short = msgspec.json.Decoder(float_hook=Decimal).decode
_decode_long = msgspec.json.Decoder(float_hook=_number).decode


def decode_object(body: bytes, reject_duplicates: bool = False) -> dict[str, Any]:
    """The JSON object in `body`. Raises `BadJson`.

    The last value of a repeated key counts; with `reject_duplicates` a repeated key is rejected at any level.
    """
    value = decode_any(body)
    if type(value) is not dict:
        raise BadJson("the body is not a JSON object")
    if reject_duplicates and repeated_keys(body, value):
        raise BadJson("the body has the same key twice in one object")
    return value


def decode_any(body: bytes) -> Any:
    """The JSON value in `body`, nested at most `DEPTH_MAX` deep. Raises `BadJson`."""
    if not body:
        raise BadJson("the body is empty")
    try:
        value = _decode_short(body) if len(body) <= NUMBER_CHARS_MAX else _decode_long(body)
    except msgspec.ValidationError:
        raise BadJson("the body has a number that is too long") from None
    except msgspec.DecodeError as error:
        raise BadJson(f"the body is not valid JSON: {_reason(body, str(error))}") from None
    except UnicodeDecodeError:
        raise BadJson("the body is not UTF-8") from None
    except RecursionError:
        raise BadJson(_TOO_DEEP) from None
    except (_TooLong, InvalidOperation):
        raise BadJson("the body has a number that is too long") from None
    if len(body) > _SHALLOW_BYTES_MAX and body.count(b"{") + body.count(b"[") > DEPTH_MAX and _is_deep(value):
        raise BadJson(_TOO_DEEP)
    return value


def _reason(body: bytes, text: str) -> str:
    """The decoder's words, but for what it calls truncated or invalid without saying what is there."""
    if body.startswith(_BYTE_ORDER_MARK):
        return "it begins with a byte order mark"
    if text != "Input data was truncated":
        return text.removeprefix("JSON is malformed: ")
    return "it has half a surrogate pair" if _HALF_PAIR_AT_END.search(body[-20:]) else "it ends too early"


def _is_deep(value: Any) -> bool:
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(DEPTH_MAX):
        level = [child for parent in level for child in _children(parent) if type(child) in _CONTAINERS]
        if not level:
            return False
    return True


def _children(parent: Any) -> Iterable[Any]:
    return parent.values() if type(parent) is dict else parent


def repeated_keys(body: bytes, value: dict[str, Any]) -> dict[str, int]:
    """The keys that occur several times in one object of a JSON body, at any level, with their counts. `value` is the
    decoded body.

    Each key is followed by a colon, so a body with no more colons than decoded keys repeats none. This quick check
    counts the keys of two levels; a body with more colons is parsed again.
    """
    beyond = body.count(b":") - len(value)
    if beyond <= 0:
        return {}
    beyond -= sum(len(child) for child in value.values() if type(child) is dict)
    if beyond <= 0:
        return {}
    found: dict[str, int] = {}

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            found.update((name, times) for name, times in counts.items() if times > found.get(name, 1))
        return made

    # Parse again, for the keys only; msgspec has validated the rest.
    json.loads(body, object_pairs_hook=unique, parse_int=str, parse_float=str, parse_constant=_never)
    return found


def _never(text: str) -> NoReturn:
    raise AssertionError(f"{text} is not JSON and was rejected before")
