"""A JSON text as other encoders write it: laid out otherwise, with other escapes, with members in another order, absent
or written otherwise, and as a form.

It works on the text that was sent, so that what a client does not write otherwise stays to the character.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import combinations, permutations, product
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

import msgspec

Members = dict[str, bytes]
"""The members of an object, each with its JSON text."""

_TIGHT, _WIDE = -1, 0  # as `msgspec.json.format` knows them; others are indented by so many blanks
_PERMUTED_MAX, _ADDED_MAX, _NUMERIC_MAX = 6, 3, 4
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[,:]')
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^u]))")
_SIGN = re.compile(r"\\.|[^\x20-\x7e]|[<>&'+=/`\x7f]")
_PART = re.compile(rb'name="([^"]*)"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n(.*?)\r\n--', re.DOTALL)
_INNER = re.compile(r"([^\[\]]+)\[([^\[\]]+)\]")
_EXTRAS = ("subproduct_code", "ic_number", "biller_code", "ref2")  # in a payment
_ABSENT = (b"null", b'""', b"{}", b"[]", b"0", b"false", b"0.0")
_NET, _HEX = "<>&'+\"`\x7f", "<>&'\""
# For each encoder, the characters that it escapes: which signs of ASCII (a quote stands for `\"`), whether all others,
# in capitals, and slashes.
_ENCODERS = (
    ("", True, False, False), ("", False, False, False), ("", True, False, True), ("", False, False, True),  # PHP
    ("<>&\u2028\u2029", False, False, False), ("<>&'=\u2028\u2029", False, False, False),  # Go and Rails; Gson
    (_NET, True, True, False), (_NET, False, True, False),  # System.Text.Json
    (_HEX, False, False, False), ("<>&'", False, False, False), (_HEX, True, False, False),  # Newtonsoft
    ("<>&", True, False, False), ("<>&'=", True, False, False), ("", True, True, False),  # Jackson
    (_HEX, True, True, True), (_HEX, False, True, True), ("", True, True, True),  # PHP with JSON_HEX_*
)  # fmt: skip


def members_of(text: bytes) -> Members:
    """Return the members of an object; none of any other text."""
    try:
        return {name: bytes(raw) for name, raw in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items()}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def object_of(members: Iterable[tuple[str, bytes]]) -> bytes:
    """Return an object with these members, without blanks."""
    return b"{%b}" % b",".join(json.dumps(name).encode() + b":" + raw for name, raw in members)


def _indented(blanks: int) -> Callable[[bytes], bytes]:
    return lambda text: msgspec.json.format(text, indent=blanks)


def _separated(comma: bytes, colon: bytes) -> Callable[[bytes], bytes]:
    signs = {b",": comma, b":": colon}
    return lambda text: _TOKEN.sub(
        lambda found: signs.get(found[0], found[0]), msgspec.json.format(text, indent=_TIGHT)
    )


def _tabbed(text: bytes) -> bytes:
    single = msgspec.json.format(text, indent=1)
    return re.sub(rb"^ +", lambda found: b"\t" * len(found[0]), single, flags=re.MULTILINE)


_LAYOUTS: tuple[Callable[[bytes], bytes], ...] = (
    *map(_indented, (_TIGHT, _WIDE, 2, 4)),
    _tabbed, _separated(b", ", b":"), _separated(b",", b": "),
    *map(_indented, (3, 1)),
)  # fmt: skip


def usual_layouts(body: bytes) -> list[Callable[[bytes], bytes]]:
    """Return the layout of a body as it was sent, then that without blanks and Python's."""
    tight = msgspec.json.format(body, indent=_TIGHT)
    own = next((n for n in (_TIGHT, _WIDE, 2, 4, 1, 3) if msgspec.json.format(tight, indent=n) == body), _TIGHT)
    return list(map(_indented, dict.fromkeys((own, _TIGHT, _WIDE))))


def unescaped(text: bytes) -> str:
    """Return a JSON text without the escapes that it could do without."""

    def character(found: re.Match[str]) -> str:
        if found[2] is not None:
            return "/" if found[2] == "/" else found[0]
        sign = chr(int(found[1], 16))
        return {'"': '\\"', "\\": "\\\\"}.get(sign, sign if sign >= " " else found[0])

    plain = _ESCAPED.sub(character, text.decode())
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins halves of pairs


def _escaped(plain: str, signs: str, ascii_only: bool, is_upper: bool, has_slashes: bool) -> bytes:
    """A text without escapes as an encoder writes it."""

    def spelt(found: re.Match[str]) -> str:
        sign = found[0]
        if sign == "/":
            return "\\/" if has_slashes else sign
        character = sign[1] if sign == '\\"' else sign
        if len(character) > 1 or not (character in signs or (ascii_only and not sign.isascii())):
            return sign
        units = character.encode("utf-16-be", "surrogatepass").hex()
        units = units.upper() if is_upper else units
        return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

    return _SIGN.sub(spelt, plain).encode("utf-8", "replace")


def spellings(text: bytes) -> Iterator[bytes]:
    """Yield a JSON text as each encoder escapes it: as it was sent first."""
    yield text
    plain = unescaped(text)
    yield from (_escaped(plain, *encoder) for encoder in (_ENCODERS if _SIGN.search(plain) else ()))


def encodings(text: bytes) -> Iterator[bytes]:
    """Yield every layout in every spelling; those with a line end at the end last."""
    spelt = list(dict.fromkeys(spellings(msgspec.json.format(text, indent=_TIGHT))))
    likely, rest = spelt[:2], spelt[2:]  # with letters as they are, or all escaped
    yield from (layout(each) for some in (likely, rest) for layout in _LAYOUTS for each in some)
    many = (layout(each) for layout in _LAYOUTS for each in spelt)
    yield from (laid + end for laid in many if b"\n" in laid for end in (b"\n", b"\r\n"))


def in_order(text: bytes) -> bytes:
    """Return a JSON text with the members of each object sorted."""
    members = members_of(text)
    return object_of((name, in_order(members[name])) for name in sorted(members)) if members else text


def reordered(members: Members) -> Iterator[bytes]:
    """Yield an object with its members in the order of Java's HashMap, in the opposite one, then in each if they are
    few; and the same of the objects in it."""
    yield object_of(sorted(members.items(), key=lambda member: _bucket(member[0])))
    yield object_of(list(members.items())[::-1])
    for name, inner in _objects(members):
        yield from (object_of((members | {name: made}).items()) for made in reordered(inner))
    if 1 < len(members) <= _PERMUTED_MAX:
        yield from map(object_of, permutations(members.items()))


def _objects(members: Members) -> Iterator[tuple[str, Members]]:
    yield from ((name, inner) for name, raw in members.items() if (inner := members_of(raw)))


def _bucket(name: str) -> int:
    """The place of a key in a HashMap of up to twelve."""
    number = 0
    for sign in name:
        number = (number * 31 + ord(sign)) & 0xFFFFFFFF
    return (number ^ (number >> 16)) & 15


def without_absent(members: Members) -> Iterator[bytes]:
    """Yield an object without the members that have no value: the nulls, those and empty ones, all that count as
    false."""

    def pruned(raw: bytes, absent: tuple[bytes, ...]) -> bytes:
        inner = members_of(raw)
        return object_of((name, each) for name, each in inner.items() if each not in absent) if inner else raw

    for absent in ((b"null",), (b"null", b'""'), (b"null", b"{}", b"[]"), _ABSENT):
        kept = {name: pruned(raw, absent) for name, raw in members.items() if raw not in absent}
        if kept != members:
            yield object_of(kept.items())


def without_some(members: Members) -> Iterator[tuple[bytes, str]]:
    """Yield an object without one of its members, or two."""
    for count in (1, 2) if len(members) > 1 else ():
        for left_out in combinations(members, count):
            rest = ((name, raw) for name, raw in members.items() if name not in left_out)
            yield object_of(rest), " and ".join(left_out)


def with_absent(members: Members, names: tuple[str, ...]) -> Iterator[tuple[bytes, str]]:
    """Yield an object with more members that have no value, at each place: one, or several side by side."""
    names = tuple(name for name in names if name not in members)
    items = list(members.items())
    for count in range(1, min(len(names), _ADDED_MAX) + 1):
        absents = _ABSENT if count == 1 else _ABSENT[:3]
        for values, added in product(product(absents, repeat=count), permutations(names, count)):
            for at in range(len(items), -1, -1):
                more = zip(added, values, strict=True)
                yield object_of([*items[:at], *more, *items[at:]]), " and ".join(added)
    for outer, inner in _objects(members) if not set(names) & set(_EXTRAS) else ():
        for made, shown in with_absent(inner, _EXTRAS):
            yield object_of((members | {outer: made}).items()), shown


def revalued(members: Members) -> Iterator[bytes]:
    """Yield an object whose numbers and flags are written otherwise: all of them, then each alone."""
    for change in _CHANGES:
        changed = {name: _changed(raw, change) for name, raw in members.items()}
        different = [name for name in members if changed[name] != members[name]]
        if different:
            yield object_of(changed.items())
        for name in different if len(different) > 1 else ():
            yield object_of((members | {name: changed[name]}).items())


def _changed(raw: bytes, change: Callable[[str], str]) -> bytes:
    if inner := members_of(raw):
        return object_of((name, _changed(each, change)) for name, each in inner.items())
    return change(raw.decode()).encode()


def _is_number(raw: str) -> bool:
    return _NUMBER.fullmatch(raw) is not None


_CHANGES: tuple[Callable[[str], str], ...] = (
    lambda raw: f'"{raw}"' if _is_number(raw) or raw in ("true", "false") else raw,
    lambda raw: raw + ".0" if _is_number(raw) and "." not in raw else raw,
    lambda raw: raw.rstrip("0").rstrip(".") if _is_number(raw) and "." in raw else raw,
    lambda raw: f"{Decimal(raw):.2f}" if _is_number(raw) and len(raw) < 16 else raw,
    lambda raw: (
        raw[1:-1] if raw[:1] == '"' and (_is_number(raw[1:-1]) or raw[1:-1] in ("true", "false", "null")) else raw
    ),
)


def forms(body: bytes) -> Iterator[bytes]:
    """Yield a JSON object as the usual libraries write it as a form."""
    value = json.loads(body)
    if not isinstance(value, dict):
        return
    flat = [
        (f"{name}[{inner}]" if inner else name, each)
        for name, one in value.items()
        for inner, each in (one.items() if isinstance(one, dict) else [("", one)])
    ]
    as_php = [(name, int(each) if isinstance(each, bool) else each) for name, each in flat if each is not None]
    for pairs, how in product((flat, as_php, list(value.items())), (quote_plus, quote)):
        yield urlencode(pairs, quote_via=how).encode()


def objects_of_form(body: bytes) -> Iterator[bytes]:
    """Yield the objects that may have been sent as this form, percent-encoded or in parts, in each spelling; what looks
    like a number is one or a text."""
    parts = [(name.decode("utf-8", "replace"), each.decode("utf-8", "replace")) for name, each in _PART.findall(body)]
    fields: dict[str, Any] = {}
    for name, each in parts or parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        if inner := _INNER.fullmatch(name):
            fields[inner[1]] = {**fields.get(inner[1], {}), inner[2]: each}
        else:
            fields[name] = each
    numeric = [name for name, value in fields.items() if isinstance(value, str) and _is_number(value)]
    some = numeric[:_NUMERIC_MAX]
    every = [chosen for count in range(len(some) + 1) for chosen in combinations(some, count)] if fields else []
    for chosen in sorted((*every, tuple(numeric)) if every else (), key=lambda names: names != ("amount",)):
        text = object_of(
            (name, str(value).encode() if name in chosen else json.dumps(value, ensure_ascii=False).encode())
            for name, value in fields.items()
        )
        yield from encodings(text)
        yield from encodings(in_order(text))
