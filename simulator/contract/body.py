"""Decodes bodies: JSON within limits, and forms. Any bytes result in a value or in `BadJson`.

Numbers become int or Decimal, never float. msgspec rejects what is not JSON: NaN, a byte order mark, lone surrogates,
trailing text. The content type says which of the two a body is; some endpoints accept both (SPEC 4.2).
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, Final, NoReturn

import msgspec

from simulator.contract.query import (
    TOO_MANY_PARAMETERS,
    decode_query,
    has_too_many,
    parameter_names,
    parameters,
    with_repeats,
)
from simulator.contract.schemas import schema
from simulator.contract.validator import validator
from simulator.short_text import shortened

OUTLINE_BYTES_MAX: Final = 64 * 1024
"""The bytes of a form; of JSON the bytes outside its strings, without white space, and its quotes; also the number of
its backslashes."""

BLANK_FACTOR: Final = 16
"""The factor by which white space may make a body larger."""

_BLANKS: Final = b" \t\r\n"

JSON = b"application/json"
FORM = b"application/x-www-form-urlencoded"
FORM_TOO_LONG = f"is longer than {OUTLINE_BYTES_MAX} bytes"

# The members of a body, and its problems: texts by member, with `body` for the whole body.
Decoded = tuple[dict[str, Any], dict[str, list[str]]]

DEPTH_MAX = 64
NUMBER_CHARS_MAX = 4300  # Python's own limit for an int

_CONTAINERS = (dict, list)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_COMPRESSED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda", b"\x28\xb5\x2f\xfd")  # gzip, zlib, zstd
# The decoder looks for the other half in the next six bytes, and finds the end instead.
_HALF_PAIR_AT_END = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}.{0,5}$", re.DOTALL)
_SERIALISED_TWICE = "the body is a JSON string that has the JSON in it: serialise it once"
_TOO_DEEP = f"the body is nested more than {DEPTH_MAX} levels deep"
_TOO_MUCH = "the body has more than {} bytes outside its strings, or more escapes in them"


def read_members(
    name: str,
    content_type: bytes,
    body: bytes,
    may_be_form: bool = False,
    reject_duplicates: bool = False,
    any_type: bool = False,
) -> tuple[dict[str, Any], dict[str, list[str]], bool]:
    """Return the members of a body without absent members, and their problems by the schema
    `contracts/schemas/NAME.json`: texts by member. Absent are nulls and the optional texts that are blank.

    Third, True for a JSON body whose members are all known and were each sent once. It has as many colons as members,
    unless a value contains a colon.
    """
    decode = decode_form if may_be_form else decode_json
    members, problems = decode(content_type, body, reject_duplicates, any_type)
    if problems:
        return members, problems, False
    checker = validator(name)
    has_more_colons = body.count(b":") != len(members)
    is_exact = not has_more_colons and parameter_names(name).issuperset(members)
    if _has_absent(members):
        members, is_exact = _without_absent(members, _optional_texts(name)), False
    if checker.is_valid(members):
        return members, problems, is_exact
    problems = checker.problems(members)
    if may_be_form and not looks_like_json(body):
        problems = with_repeats(name, members, problems)
    return members, problems, is_exact


def looks_like_json(body: bytes) -> bool:
    """Return whether a body that was accepted at an endpoint that reads forms, too, was JSON."""
    return body.lstrip()[:1] == b"{"


def decode_json(content_type: bytes, body: bytes, reject_duplicates: bool = False, any_type: bool = False) -> Decoded:
    """Return the members of a JSON body.

    The content type must be JSON's or missing, unless `any_type`. The members are returned even if it is wrong.
    """
    try:
        members = decode_object(body, reject_duplicates)
    except BadJson as bad:
        members, problems = {}, {"body": [str(bad).removeprefix("the body ")]}
    else:
        problems = {}
    if content_type != JSON and body and not (any_type or _is_json(_media_type(content_type))):
        problems = {"body": [_mistyped(content_type, JSON.decode())]}
    return members, problems


def decode_form(content_type: bytes, body: bytes, reject_duplicates: bool = False, any_type: bool = False) -> Decoded:
    """Return the members of a body: a form if the content type says so, else JSON. An empty body has no members."""
    if len(body) > OUTLINE_BYTES_MAX:
        return {}, {"body": [FORM_TOO_LONG]}
    if not body:
        return {}, {}
    media_type = _media_type(content_type)
    if media_type == FORM and not (any_type and looks_like_json(body)):
        if looks_like_json(body):
            return {}, {"body": [f"looks like JSON, but was sent as {FORM.decode()}; send it as {JSON.decode()}"]}
        return ({}, {"body": [TOO_MANY_PARAMETERS]}) if has_too_many(body) else decode_query(body)
    members, problems = decode_json(JSON, body, reject_duplicates=reject_duplicates)
    if not (any_type or _is_json(media_type)):
        problems = {"body": [_mistyped(content_type, f"{JSON.decode()} or {FORM.decode()}")]}
    return members, problems


def _media_type(content_type: bytes) -> bytes:
    return content_type.partition(b";")[0].strip().lower()


def _is_json(media_type: bytes) -> bool:
    return media_type in (b"", JSON) or media_type.endswith(b"+json")


def _mistyped(content_type: bytes, wanted: str) -> str:
    return f"was sent as {shortened(content_type)}, but must be {wanted}"


@cache
def _optional_texts(name: str) -> frozenset[str]:
    required = schema(name).get("required", ())
    return frozenset(
        member
        for member, wanted in parameters(name).items()
        if wanted.get("type") == "string" and member not in required
    )


def _has_absent(members: Mapping[str, Any]) -> bool:
    for sent in members.values():  # a loop: this runs for every body, and any() takes three times as long
        if type(sent) is str:
            if not sent or (sent[0].isspace() and _is_blank(sent)):
                return True
        elif sent is None or (type(sent) is dict and _has_absent(sent)):
            return True
    return False


def _is_blank(text: str) -> bool:
    """Return whether a text is empty or white space. A text over `OUTLINE_BYTES_MAX` counts as not blank."""
    return len(text) <= OUTLINE_BYTES_MAX and not text.strip()


def _without_absent(members: Mapping[str, Any], optional: Container[str] | None = None) -> dict[str, Any]:
    """Return the members without nulls, without blank texts among `optional`, and without blank texts in objects."""
    return {
        name: _without_absent(sent) if type(sent) is dict else sent
        for name, sent in members.items()
        if sent is not None and not (type(sent) is str and (optional is None or name in optional) and _is_blank(sent))
    }


class BadJson(ValueError):
    """A body that is rejected as JSON; the text says why, without quoting the body."""


class _TooLong(Exception):
    """A number with more than `NUMBER_CHARS_MAX` characters."""


def _number(text: str) -> Decimal:
    if len(text) > NUMBER_CHARS_MAX:
        raise _TooLong
    return Decimal(text)


_decode = msgspec.json.Decoder(float_hook=_number).decode


def decode_object(body: bytes, reject_duplicates: bool = False, outline_max: int = OUTLINE_BYTES_MAX) -> dict[str, Any]:
    """Return the JSON object in `body`. Raises `BadJson`.

    The last value of a repeated key counts; with `reject_duplicates` a repeated key is rejected at any level.
    """
    value = decode_any(body, outline_max)
    if type(value) is not dict:
        is_twice = type(value) is str and looks_like_json(value.encode())
        raise BadJson(_SERIALISED_TWICE if is_twice else "the body is not a JSON object")
    if reject_duplicates and repeated_keys(body, value):
        raise BadJson("the body has the same key twice in one object")
    return value


def decode_any(body: bytes, outline_max: int = OUTLINE_BYTES_MAX) -> Any:
    """Return the JSON value in `body`, nested at most `DEPTH_MAX` deep, with at most `outline_max` bytes outside its
    strings. Raises `BadJson`."""
    if not body:
        raise BadJson("the body is empty")
    if len(body) > outline_max and (start := outline(body, outline_max)) is not None:
        raise BadJson(_TOO_DEEP if opened(start) > DEPTH_MAX else _TOO_MUCH.format(outline_max))
    try:
        value = _decode(body)
    except msgspec.ValidationError:
        raise BadJson("the body has a number that is too long") from None
    except msgspec.DecodeError as error:
        raise BadJson(_encoded_otherwise(body) or f"the body is not valid JSON: {_reason(body, str(error))}") from None
    except UnicodeDecodeError:
        raise BadJson(_encoded_otherwise(body) or "the body is not UTF-8") from None
    except RecursionError:
        raise BadJson(_TOO_DEEP) from None
    except (_TooLong, InvalidOperation):
        raise BadJson("the body has a number that is too long") from None
    if len(body) > 2 * DEPTH_MAX and _is_deep(value):
        raise BadJson(_TOO_DEEP)
    return value


def _encoded_otherwise(body: bytes) -> str:
    """Return a hint that a body is compressed or in another charset, by its first bytes; empty for other bodies."""
    if body.startswith(_COMPRESSED):
        return "the body is compressed; the service does not support Content-Encoding: send plain JSON"
    if body.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in body[:2]:
        return f"the body is in {'UTF-32' if bytes(2) in body[:4] else 'UTF-16'}; send it in UTF-8"
    if body.startswith(b"{'"):
        return "the body is not valid JSON: it has single quotes, as Python prints a dict; send the text of json.dumps"
    if body.startswith(b"[object "):
        return "the body is the text [object Object]; send the text of JSON.stringify"
    return "the body is Base64; send the JSON itself" if body.startswith((b"eyJ", b"ewo", b"ew0K")) else ""


def _reason(body: bytes, text: str) -> str:
    """Return the decoder's message, or a better message if the decoder only says that the text is truncated or
    invalid."""
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
    """Return the keys that occur several times in an object of a JSON body, at any level, with their counts. `value` is
    the decoded body.

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
        members = dict(pairs)
        if len(members) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            found.update((name, times) for name, times in counts.items() if times > found.get(name, 1))
        return members

    # Parse again, for the keys only; msgspec has validated the rest.
    json.loads(body, object_pairs_hook=unique, parse_int=str, parse_float=str, parse_constant=_never)
    return found


def _never(text: str) -> NoReturn:
    raise AssertionError(f"{text} is not JSON and was rejected before")


# The outline of JSON, the part outside its strings, is measured before decoding. Decoding is so much slower than
# reading that a body of ten megabytes could delay all other requests for seconds. Measuring takes a few milliseconds.


def outline(body: bytes, bytes_max: int) -> bytes | None:
    """Return the beginning of the text outside the strings of `body`, if this text, the quotes or the backslashes
    exceed `bytes_max`. Return None for other bodies, which are cheap to decode. Valid JSON is measured exactly; `body`
    need not be valid.
    """
    if len(body) <= bytes_max:
        return None
    return _excess(body[: 2 * bytes_max], bytes_max) or _excess(body, bytes_max)  # the beginning is often enough


def _excess(body: bytes, bytes_max: int) -> bytes | None:
    if b"\\" in body:
        if len(body.split(b"\\", bytes_max + 1)) > bytes_max + 1:  # stops when they are too many, as count() does not
            return body[:bytes_max]
        # Pairs first: a backslash that is left in front of a quote escapes it.
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    parts = body.split(b'"', bytes_max + 1)
    outside, quotes = b"".join(parts[::2]), len(parts) - 1
    if bytes_max < len(outside) + quotes <= BLANK_FACTOR * bytes_max:
        outside = outside.translate(None, _BLANKS)
    return outside[:bytes_max] if len(outside) + quotes > bytes_max else None


def opened(outside: bytes) -> int:
    """Return the number of arrays and objects that are open at the end of an outline, a lower bound of its depth."""
    return sum(map(outside.count, (b"[", b"{"))) - sum(map(outside.count, (b"]", b"}")))
