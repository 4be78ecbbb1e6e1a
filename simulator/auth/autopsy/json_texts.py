"""A JSON text as other encoders write it: laid out otherwise, with other escapes, members in another order, numbers as
texts, and absent members with or without their null.

It works on the text that was sent, so that what a client does not write otherwise stays to the character."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import combinations, permutations, product
from typing import NamedTuple

import msgspec

Members = dict[str, bytes]
"""The members of an object, each with its JSON text."""

TIGHT, _WIDE = -1, 0  # as `msgspec.json.format` knows them; others are indented by so many blanks
NESTED_MAX = 8
"""A text that is nested deeper is not written otherwise: indented it would grow with the square of its depth."""
_PERMUTED_MAX, _QUICK_PERMUTED_MAX = 6, 4
_ADDED_MAX = 3
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[,:]')
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^u]))")
_SIGN = re.compile(r"\\.|[^\x20-\x7e]|[<>&'+=/`\x7f]")
EXTRAS = ("subproduct_code", "ic_number", "biller_code", "ref2")
"""The members of `extras` in a payment."""
_ABSENT = (b"null", b'""', b"{}", b"[]", b"0", b"false", b"0.0")


class Escapes(NamedTuple):
    """What an encoder escapes: which ASCII signs (a quote stands for `\\"`), whether all others, and in which case."""

    signs: str = ""
    ascii_only: bool = False
    is_upper: bool = False
    has_slashes: bool = False


_ENCODERS = (
    Escapes(),  # JavaScript, Jackson
    Escapes(ascii_only=True),  # Python
    Escapes(ascii_only=True, has_slashes=True),  # PHP
    Escapes(has_slashes=True),
    Escapes("<>&\u2028\u2029"),  # Go, Rails
    Escapes("<>&'=\u2028\u2029"),  # Gson
    Escapes("<>&'+\"`\x7f", ascii_only=True, is_upper=True),  # System.Text.Json
    Escapes("<>&'+\"`\x7f", is_upper=True),
    Escapes("<>&'\""),  # Newtonsoft
    Escapes("<>&'"),  # JavaScriptSerializer
    Escapes("<>&'\"", ascii_only=True),
    Escapes("<>&", ascii_only=True),
    Escapes("<>&'=", ascii_only=True),
    Escapes(ascii_only=True, is_upper=True),  # Jackson's ESCAPE_NON_ASCII
    Escapes("<>&'\"", ascii_only=True, is_upper=True, has_slashes=True),  # PHP with JSON_HEX_*
    Escapes("<>&'\"", is_upper=True, has_slashes=True),
    Escapes(ascii_only=True, is_upper=True, has_slashes=True),
)


def is_shallow(text: bytes) -> bool:
    """Whether a JSON text is nested no deeper than `NESTED_MAX`, as far as brackets outside of strings tell."""
    depth = deepest = 0
    for sign in re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text) if text.count(b"[") + text.count(b"{") > NESTED_MAX else b"":
        depth += (sign in b"[{") - (sign in b"]}")
        deepest = max(deepest, depth)
    return deepest <= NESTED_MAX


def members_of(text: bytes) -> Members:
    """The members of an object; none of any other text."""
    try:
        return {name: bytes(raw) for name, raw in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items()}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def object_of(members: Iterable[tuple[str, bytes]]) -> bytes:
    """The object that has these members, without blanks."""
    return b"{%b}" % b",".join(json.dumps(name).encode() + b":" + raw for name, raw in members)


def layouts(text: bytes) -> Iterator[bytes]:
    """A JSON text as it is, with other blanks and indentation."""
    tight = msgspec.json.format(text, indent=TIGHT)
    for indent in (TIGHT, _WIDE, 2, 4, 3):
        yield msgspec.json.format(tight, indent=indent)
    single = msgspec.json.format(tight, indent=1)
    yield re.sub(rb"^ +", lambda found: b"\t" * len(found[0]), single, flags=re.MULTILINE)
    yield single
    for comma, colon in ((b", ", b":"), (b",", b": ")):
        yield _TOKEN.sub(lambda found, by={b",": comma, b":": colon}: by.get(found[0], found[0]), tight)  # type: ignore[misc]


def usual_layouts(text: bytes, sent: bytes) -> Iterator[bytes]:
    """A text laid out as the body was `sent`, then without blanks and with Python's."""
    tight = msgspec.json.format(text, indent=TIGHT)
    sent_tight = msgspec.json.format(sent, indent=TIGHT)
    own = next((n for n in (TIGHT, _WIDE, 2, 4, 1, 3) if msgspec.json.format(sent_tight, indent=n) == sent), TIGHT)
    for indent in dict.fromkeys((own, TIGHT, _WIDE)):
        yield msgspec.json.format(tight, indent=indent)


def unescaped(text: bytes) -> str:
    """A JSON text without the escapes that it could do without."""
    plain = _ESCAPED.sub(_character, text.decode())
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins halves of pairs


def _character(found: re.Match[str]) -> str:
    if found[2] is not None:
        return "/" if found[2] == "/" else found[0]
    character = chr(int(found[1], 16))
    return {'"': '\\"', "\\": "\\\\"}.get(character, character if character >= " " else found[0])


def escaped(plain: str, how: Escapes) -> bytes:
    """A text without escapes as an encoder writes it."""

    def spelt(found: re.Match[str]) -> str:
        sign = found[0]
        if sign == "/":
            return "\\/" if how.has_slashes else sign
        character = sign[1] if sign == '\\"' else sign
        if len(character) > 1 or not (character in how.signs or (how.ascii_only and not sign.isascii())):
            return sign
        units = character.encode("utf-16-be", "surrogatepass").hex()
        units = units.upper() if how.is_upper else units
        return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

    return _SIGN.sub(spelt, plain).encode("utf-8", "replace")


def spellings(text: bytes) -> Iterator[bytes]:
    """A JSON text as each encoder escapes it: as it was sent first."""
    yield text
    plain = unescaped(text)
    for how in _ENCODERS if _SIGN.search(plain) else ():
        yield escaped(plain, how)


def encodings(text: bytes) -> Iterator[bytes]:
    """Every layout in every spelling, each once; those with a line end at the end last."""
    made = dict.fromkeys(laid for spelt in spellings(text) for laid in layouts(spelt))
    yield from made
    yield from (laid + end for laid in made if b"\n" in laid for end in (b"\n", b"\r\n"))


def in_order(text: bytes) -> bytes:
    """A JSON text with the members of each object sorted."""
    members = members_of(text)
    made = object_of((name, in_order(members[name])) for name in sorted(members))
    return made if members else text


def reordered(members: Members, *, is_quick: bool) -> Iterator[bytes]:
    """An object with its members in the order of Java's HashMap, in the opposite one, then in each if they are few; and
    the same of the objects in it."""
    yield object_of(sorted(members.items(), key=lambda member: _bucket(member[0])))
    yield object_of(list(members.items())[::-1])
    if 1 < len(members) <= (_QUICK_PERMUTED_MAX if is_quick else _PERMUTED_MAX):
        yield from map(object_of, permutations(members.items()))
    for name, inner in _objects(members):
        yield from (object_of((members | {name: made}).items()) for made in reordered(inner, is_quick=is_quick))


def _objects(members: Members) -> Iterator[tuple[str, Members]]:
    yield from ((name, inner) for name, raw in members.items() if (inner := members_of(raw)))


def _bucket(name: str) -> int:
    """The place of a key in a HashMap of up to twelve."""
    number = 0
    for sign in name:
        number = (number * 31 + ord(sign)) & 0xFFFFFFFF
    return (number ^ (number >> 16)) & 15


def without_absent(members: Members) -> Iterator[bytes]:
    """An object without the members that have no value: the nulls, those and empty ones, all that count as false."""
    for absent in ((b"null",), (b"null", b'""'), (b"null", b"{}", b"[]"), _ABSENT):
        kept = {name: _pruned(raw, absent) for name, raw in members.items() if raw not in absent}
        if kept != members:
            yield object_of(kept.items())


def _pruned(raw: bytes, absent: tuple[bytes, ...]) -> bytes:
    inner = members_of(raw)
    return object_of((name, each) for name, each in inner.items() if each not in absent) if inner else raw


def without_some(members: Members) -> Iterator[tuple[bytes, str]]:
    """An object without one of its members, or two."""
    for count in (1, 2) if len(members) > 1 else ():
        for left_out in combinations(members, count):
            yield (
                object_of((name, raw) for name, raw in members.items() if name not in left_out),
                " and ".join(left_out),
            )


def with_absent(members: Members, names: tuple[str, ...]) -> Iterator[tuple[bytes, str]]:
    """An object with more members that have no value, at each place."""
    names = tuple(name for name in names if name not in members)
    items = list(members.items())
    for absent in _ABSENT:
        for name in names:
            for at in range(len(items), -1, -1):
                yield object_of([*items[:at], (name, absent), *items[at:]]), name
    for count in range(2, min(len(names), _ADDED_MAX) + 1):
        for added, values in product(permutations(names, count), product(_ABSENT[:3], repeat=count)):
            for at in range(len(items), -1, -1):
                more = zip(added, values, strict=True)
                yield object_of([*items[:at], *more, *items[at:]]), " and ".join(added)
    for outer, inner in _objects(members) if not set(names) & set(EXTRAS) else ():
        for made, shown in with_absent(inner, EXTRAS):
            yield object_of((members | {outer: made}).items()), shown


def revalued(members: Members) -> Iterator[bytes]:
    """An object whose numbers and flags are written otherwise: all of them, then each alone."""
    for change in (_as_text, _as_float, _as_whole, _as_cents, _as_value):
        changed = {name: _changed(raw, change) for name, raw in members.items()}
        different = [name for name in members if changed[name] != members[name]]
        if different:
            yield object_of(changed.items())
        for name in different if len(different) > 1 else ():
            yield object_of((members | {name: changed[name]}).items())


def _changed(raw: bytes, change: Callable[[str], str]) -> bytes:
    inner = members_of(raw)
    if inner:
        return object_of((name, _changed(each, change)) for name, each in inner.items())
    return change(raw.decode()).encode()


def _as_text(raw: str) -> str:
    return f'"{raw}"' if NUMBER.fullmatch(raw) or raw in ("true", "false") else raw


def _as_float(raw: str) -> str:
    return raw + ".0" if NUMBER.fullmatch(raw) and "." not in raw else raw


def _as_whole(raw: str) -> str:
    return raw.rstrip("0").rstrip(".") if NUMBER.fullmatch(raw) and "." in raw else raw


def _as_cents(raw: str) -> str:
    return f"{Decimal(raw):.2f}" if NUMBER.fullmatch(raw) and len(raw) < 16 else raw


def _as_value(raw: str) -> str:
    inner = raw[1:-1]
    return inner if raw[:1] == '"' and (NUMBER.fullmatch(inner) or inner in ("true", "false", "null")) else raw
