"""A JSON text as other encoders write it: laid out otherwise, with other escapes, with members in another order, absent
or written otherwise; and as a form.

It works on the text that was sent, so that what a client does not write otherwise stays to the character.
"""

import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from itertools import combinations, permutations, product
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

import msgspec

from simulator.shortened import one_line, shortened

Rewrite = str | Callable[[re.Match[str]], str]
Members = dict[str, bytes]
"""The members of an object, each with its JSON text."""

_TIGHT, _WIDE = -1, 0  # as `msgspec.json.format` knows them; others are indented by so many blanks
_PERMUTED_MAX, _ADDED_MAX, _DIGITS_MAX = 6, 3, 16
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[,:]')
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^u]))")
_SIGN = re.compile(r"\\.|[^\x20-\x7e]|[<>&'+=/`\x7f]")
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

_PART = re.compile(rb'name="([^"]*)"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n(.*?)\r\n--', re.DOTALL)
_INNER = re.compile(r"([^\[\].]+)(?:\[([^\[\]]*)\]|\.(\w+))")


def members_of(text: bytes) -> Members:
    """Return the members of an object; none of any other text."""
    try:
        return {name: bytes(raw) for name, raw in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items()}
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}


def object_of(members: Iterable[tuple[str, bytes]]) -> bytes:
    """Return an object with these members, without blanks."""
    return b"{%b}" % b",".join(json.dumps(name).encode() + b":" + raw for name, raw in members)


def small(value: object) -> bytes:
    """Return a value as JSON without blanks or escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _indented(blanks: int) -> Callable[[bytes], bytes]:
    return lambda text: msgspec.json.format(text, indent=blanks)


def _separated(comma: bytes, colon: bytes, blanks: int = _TIGHT) -> Callable[[bytes], bytes]:
    signs = {b",": comma, b":": colon}
    return lambda text: _TOKEN.sub(lambda found: signs.get(found[0], found[0]), _indented(blanks)(text))


def _of_windows(layout: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda text: layout(text).replace(b"\n", b"\r\n")


def _tabbed(text: bytes) -> bytes:
    single = msgspec.json.format(text, indent=1)
    return re.sub(rb"^ +", lambda found: b"\t" * len(found[0]), single, flags=re.MULTILINE)


_LAYOUTS: tuple[Callable[[bytes], bytes], ...] = (
    *map(_indented, (_TIGHT, _WIDE, 2, 4)),
    _tabbed, _separated(b", ", b":"), _separated(b",", b": "),
    *map(_indented, (3, 1)),
    _separated(b",", b" :", 2),  # Jackson
    _of_windows(_separated(b",", b": ", 4)), _of_windows(_indented(2)),  # PowerShell, .NET
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
    """Return a text without escapes as an encoder writes it."""

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
    """Yield an object with its members in the opposite order, then in each if they are few; and the same of the objects
    in it."""
    yield object_of(list(members.items())[::-1])
    for name, inner in _objects(members):
        yield from (object_of((members | {name: made}).items()) for made in reordered(inner))
    if 1 < len(members) <= _PERMUTED_MAX:
        yield from map(object_of, permutations(members.items()))


def _objects(members: Members) -> Iterator[tuple[str, Members]]:
    yield from ((name, inner) for name, raw in members.items() if (inner := members_of(raw)))


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
    for (first, other), added in product(combinations(range(len(items) + 1), 2), permutations(names, 2)):
        apart = [*items[:first], (added[0], b"null"), *items[first:other], (added[1], b"null"), *items[other:]]
        yield object_of(apart), " and ".join(added)
    for outer, inner in _objects(members) if not set(names) & set(_EXTRAS) else ():
        for made, shown in with_absent(inner, _EXTRAS):
            yield object_of((members | {outer: made}).items()), shown


def revalued(members: Members) -> Iterator[tuple[bytes, str]]:
    """Yield an object whose values are written otherwise: all of a kind, then each alone."""
    for pattern, made in _REWRITES:
        changed = {name: _rewritten(raw, pattern, made) for name, raw in members.items()}
        different = [name for name in members if changed[name] != members[name]]
        for names in [different, *([name] for name in different if len(different) > 1)] if different else ():
            shown = next((changed[name] for name in names if not members_of(changed[name])), b"others").decode()
            yield object_of((members | {name: changed[name] for name in names}).items()), one_line(shortened(shown, 40))


def _rewritten(raw: bytes, pattern: re.Pattern[str], made: Rewrite) -> bytes:
    if inner := members_of(raw):
        return object_of((name, _rewritten(each, pattern, made)) for name, each in inner.items())
    text = raw.decode()
    return pattern.sub(made, text).encode() if pattern.fullmatch(text) else raw


_N = r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?"
_REWRITES: tuple[tuple[re.Pattern[str], Rewrite], ...] = tuple((re.compile(pattern), made) for pattern, made in (
    (f"{_N}|true|false", r'"\g<0>"'), (r"-?\d+", r"\g<0>.0"),
    (r'("?)(-?\d+)\.0*("?)', r"\2"), (r"(-?\d+\.\d*?)0+", r"\1"),
    (_N, lambda found: f"{Decimal(found[0]):.2f}"), (f'"({_N}|true|false|null)"', r"\1"),
    ("null", '""'), ('""', "null"), ("{}", "[]"), (r"\[\]", "{}"), ("1", "true"), ("0", "false"), ("true", "1"),
    (_N, lambda found: str(Decimal(found[0]).normalize())),  # Java's stripTrailingZeros
    (_N, lambda found: f"{float(found[0]):.17g}"),  # PHP's serialize_precision of 17
    (_N, lambda found: repr(struct.unpack("f", struct.pack("f", float(found[0])))[0])),
    (_N, lambda found: f'"{Decimal(found[0]):.2f}"'), (r'^"\s*(.*?)\s*"$', r'"\1"'),
    (r'"[^"\\]*"', lambda found: found[0].upper()), (r'"[^"\\]*"', lambda found: found[0].lower()),
    ('"0*([1-9][0-9]*)"', r"\1"), ('"0+([1-9][0-9]*)"', r'"\1"'), ('"([1-9][0-9]*)"', r'"0\1"'),
    (r'"(.*)"', lambda found: found[0].replace("\\n", "\\r\\n")),
    (r'"(.*)"', lambda found: found[0].replace("\\r\\n", "\\n")),
    ('".*"', r"[\g<0>]"), (r'\[("[^"]*")\]', r"\1"),
))  # fmt: skip


def renamed(members: Members) -> Iterator[tuple[bytes, str]]:
    """Yield an object whose members have the names of another convention."""
    yield _renamed(members, lambda name: "".join(word.capitalize() for word in name.split("_"))), "PascalCase"
    yield _renamed(members, lambda name: re.sub("_(.)", lambda found: found[1].upper(), name)), "camelCase"
    yield _renamed(members, lambda name: re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower()), "snake_case"


def _renamed(members: Members, convention: Callable[[str], str]) -> bytes:
    return object_of(
        (convention(name), _renamed(inner, convention) if (inner := members_of(raw)) else raw)
        for name, raw in members.items()
    )


def printed(value: Any) -> Iterator[tuple[bytes, str]]:
    """Yield a value as languages print it."""
    texts = {"[object Object]": "[object Object]", "the word Array": "Array"}
    if isinstance(value, dict):
        pairs = list(value.items())
        shown = [(name, "null" if each is None else each) for name, each in pairs]
        quoted = [(name, json.dumps(each, ensure_ascii=False)) for name, each in pairs]
        texts |= {
            "Python prints it": repr(value),
            "Java prints it": "{{{}}}".format(", ".join(f"{name}={each}" for name, each in shown)),
            "Ruby prints it": "{{{}}}".format(", ".join(f"{json.dumps(name)}=>{each}" for name, each in quoted)),
            "Ruby 3.4 prints symbols": "{{{}}}".format(", ".join(f"{name}: {each}" for name, each in quoted)),
            "Go prints it": "map[{}]".format(" ".join(f"{name}:{each}" for name, each in sorted(shown))),
            "C# prints it": "{{ {} }}".format(", ".join(f"{name} = {each}" for name, each in shown)),
        }
    yield from ((text.encode("utf-8", "replace"), shown) for shown, text in texts.items())


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
    like a number or a literal is one or a text. The form may also have the whole JSON text in a field."""
    parts = [(name.decode("utf-8", "replace"), each.decode("utf-8", "replace")) for name, each in _PART.findall(body)]
    pairs = parts or parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    for text in (text.encode() for pair in pairs[:1] for text in pair if text[:1] in ("{", "[")):
        yield text
        with suppress(msgspec.DecodeError):
            yield from encodings(text)
    fields: dict[str, Any] = {}
    for name, each in pairs:
        inner = _INNER.fullmatch(name)
        if inner and not (inner[2] or inner[3] or "").isdigit() and not name.endswith("[]"):
            fields[inner[1]] = {**fields.get(inner[1], {}), inner[2] or inner[3]: each}
        elif inner or name in fields:
            name = inner[1] if inner else name
            before = fields.get(name, [])
            fields[name] = [*(before if isinstance(before, list) else [before]), each]
        else:
            fields[name] = each
    written = [[(name, raw) for raw in _as_json(value)] for name, value in fields.items()]
    for chosen in product(*written) if fields else ():
        text = object_of(chosen)
        yield from encodings(text)
        yield from encodings(in_order(text))


def _as_json(value: Any) -> list[bytes]:
    """Return the texts of a value of a form, the likeliest first."""
    text = json.dumps(value, ensure_ascii=False).encode()
    if not isinstance(value, str):
        return [text]
    if _NUMBER.fullmatch(value) and len(value) < _DIGITS_MAX:
        return [value.encode(), text, *([b"true"] if value == "1" else ())]
    if value.lower() in ("true", "false"):
        return [value.lower().encode(), text]
    if value in ("", "None", "null"):
        return [text, b"null"] if not value else [b"null", text]
    return [text, *([json.dumps(value.split(",")).encode()] if "," in value else ())]
