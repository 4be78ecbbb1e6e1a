"""The texts of a JSON value: in the layouts and escapes of many encoders, as a form, and as languages print it.

Functions with `Members` yield changed objects: members in another order, left out, added, rewritten or renamed. Only
the outer object is changed. Numbers keep the digits that were sent.
"""

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from itertools import chain, permutations, product
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

from simulator.short_text import one_line, shortened

Members = dict[str, Any]
"""The members of an object, each with its value."""
Fields = frozenset[str]
Changes = Iterator[tuple[Members, str]]
"""Changed objects, each with the text for `{}` in `SigningMistake.does`."""

Layout = tuple[int | str | None, str, str]
"""The whitespace of an encoder: its indentation, comma and colon."""

_BEGIN, _END = "<#", "#>"  # mark a string value that has the digits of a number
_LITERAL = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|true|false|null", re.IGNORECASE)
ABSENT = (b"null", b'""', b"{}", b"[]", b"0", b"false", b"0.0")
_NOT_ASCII = r"[^\x20-\x7e\n\t]"
_TIGHT, _PYTHON = (None, ",", ":"), (None, ", ", ": ")
_LAYOUTS: tuple[Layout, ...] = (
    _TIGHT, _PYTHON, *((indent, ",", ": ") for indent in (2, 4, "\t", 3, 1)), (None, ", ", ":"), (None, ",", ": "),
)  # fmt: skip
# Encoders whose escapes differ from Python's: the escaped characters, and whether the digits are in upper case.
_ENCODERS = (
    (f"{_NOT_ASCII}|/", False), ("/", False), (_NOT_ASCII, True),  # PHP, Jackson
    ("[<>&\u2028\u2029]", False), ("[<>&'=\u2028\u2029]", False),  # Go and Rails; Gson
    (f"{_NOT_ASCII}|[<>&'+`]", True), ("[<>&']", False),  # System.Text.Json, Newtonsoft
)  # fmt: skip


@cache
def _encoder(layout: Layout, is_ascii: bool, is_sorted: bool) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=is_ascii, indent=layout[0], separators=layout[1:], sort_keys=is_sorted)


def _marked(digits: str) -> str:
    return _BEGIN + digits + _END


_DECODER = json.JSONDecoder(parse_float=_marked, parse_int=_marked)


def value_of(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8. Raises ValueError and RecursionError."""

    return _DECODER.decode(text.decode())


def written(value: object, layout: Layout = _TIGHT, *, is_ascii: bool = False, is_sorted: bool = False) -> bytes:
    """Return a value as JSON. With `is_ascii`, all other characters are escaped."""
    text = _encoder(layout, is_ascii, is_sorted).encode(value)
    return text.replace('"' + _BEGIN, "").replace(_END + '"', "").encode("utf-8", "replace")


def _escaped(text: bytes, signs: str, is_upper: bool) -> bytes:
    """Return a JSON text with escapes for these signs. Each is spelt once: a text may be full of them."""
    plain = text.decode()
    found = filter(re.compile(signs).match, set(plain))
    return plain.translate({ord(sign): _escape(sign, is_upper) for sign in found}).encode()


def _escape(sign: str, is_upper: bool) -> str:
    units = sign.encode("utf-16-be").hex()
    return "\\/" if sign == "/" else re.sub("(.{4})", r"\\u\1", units.upper() if is_upper else units)


def encodings(value: object, *, is_sorted: bool = False) -> Iterator[bytes]:
    """Yield a value in every layout and with the escapes of each encoder, the likeliest first."""
    for layout, is_ascii in product(_LAYOUTS, (False, True)):
        yield written(value, layout, is_ascii=is_ascii, is_sorted=is_sorted)
    plain = [written(value, layout, is_sorted=is_sorted) for layout in _LAYOUTS]
    yield from (_escaped(text, *encoder) for text in plain for encoder in _ENCODERS)
    yield from (text + b"\n" for text in plain)


def as_sent(members: Members, body: bytes) -> Callable[[Members], Iterator[bytes]]:
    """Return a function that writes members as the sender of `body` wrote these, tight, and as Python does."""
    is_ascii = body.isascii()
    own = (layout for layout in _LAYOUTS if written(members, layout, is_ascii=is_ascii) == body)
    layouts = dict.fromkeys((next(own, _TIGHT), _TIGHT, _PYTHON))
    return lambda changed: (written(changed, layout, is_ascii=is_ascii) for layout in layouts)


def with_absent(members: Members, fields: Fields) -> Changes:
    """Yield an object with up to three adjacent members added that have no value, at each place."""
    names, items = sorted(fields - members.keys()), list(members.items())
    for count, absent in ((1, ABSENT), (2, ABSENT[:3]), (3, ABSENT[:3])):
        for values, added in product(product(map(value_of, absent), repeat=count), permutations(names, count)):
            for at in range(len(items), -1, -1):
                yield dict([*items[:at], *zip(added, values, strict=True), *items[at:]]), " and ".join(added)


def revalued(members: Members, _: Fields) -> Changes:
    """Yield an object with rewritten values: for each rewrite all values that it fits, then each alone."""
    texts = {name: written(value).decode() for name, value in members.items()}
    for pattern, replacement in _REWRITES:
        fitting = {name: text for name, text in texts.items() if re.fullmatch(pattern, text)}
        changed = {name: new for name, text in fitting.items() if (new := re.sub(pattern, replacement, text)) != text}
        for names in ([*changed], *([name] for name in changed)) if changed else ():
            shown = one_line(shortened(changed[names[0]], 40))
            yield members | {name: value_of(changed[name].encode()) for name in names}, shown


_N = r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?"
_REWRITES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (f"{_N}|true|false", r'"\g<0>"'), (r"-?\d+", r"\g<0>.0"),
    (r'("?)(-?\d+)\.0*("?)', r"\2"), (r"(-?\d+\.\d+?)0+", r"\1"),
    (_N, lambda found: f"{Decimal(found[0]):.2f}"), (f'"({_N}|true|false|null)"', r"\1"),
    ("null", '""'), ('""', "null"), ("{}", "[]"), (r"\[\]", "{}"), ("1", "true"), ("0", "false"), ("true", "1"),
    (_N, lambda found: str(Decimal(found[0]).normalize())),  # Java's stripTrailingZeros
    (_N, lambda found: f'"{Decimal(found[0]):.2f}"'), (r'^"\s*(.*?)\s*"$', r'"\1"'),
    (r'"[^"\\]*"', lambda found: found[0].upper()), (r'"[^"\\]*"', lambda found: found[0].lower()),
    ('"0*([1-9][0-9]*)"', r"\1"), ('"0+([1-9][0-9]*)"', r'"\1"'),
)  # fmt: skip


def renamed(members: Members, _: Fields) -> Changes:
    """Yield an object with its members' names in another convention."""
    for shown, convention in _CONVENTIONS.items():
        yield {convention(name): value for name, value in members.items()}, shown


_CONVENTIONS: dict[str, Callable[[str], str]] = {
    "PascalCase": lambda name: "".join(word.capitalize() for word in name.split("_")),
    "camelCase": lambda name: re.sub("_(.)", lambda found: found[1].upper(), name),
    "snake_case": lambda name: re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower(),
}


def printed(value: Any) -> Iterator[tuple[bytes, str]]:
    """Yield a value as programming languages print it."""
    texts = {"[object Object]": "[object Object]", "the word Array": "Array", "the name of its type": "System.Byte[]"}
    if isinstance(value, dict):
        shown = {name: "null" if each is None else each for name, each in value.items()}
        quoted = {name: json.dumps(each, ensure_ascii=False) for name, each in value.items()}
        texts |= {
            "Python prints it": repr(value),
            "Java prints it": "{{{}}}".format(", ".join(f"{name}={each}" for name, each in shown.items())),
            "Ruby prints it": "{{{}}}".format(", ".join(f'"{name}"=>{each}' for name, each in quoted.items())),
            "Ruby 3.4 prints symbols": "{{{}}}".format(", ".join(f"{name}: {each}" for name, each in quoted.items())),
            "Go prints it": "map[{}]".format(" ".join(f"{name}:{shown[name]}" for name in sorted(shown))),
            "C# prints it": "{{ {} }}".format(", ".join(f"{name} = {each}" for name, each in shown.items())),
        }
    yield from ((text.encode(), shown) for shown, text in texts.items())


def forms(value: Any) -> Iterator[bytes]:
    """Yield a JSON object as the form that common libraries write."""
    for encode in (quote_plus, quote) if isinstance(value, dict) else ():
        yield urlencode(value, quote_via=encode).encode()


def objects_of_form(body: bytes) -> Iterator[bytes]:
    """Yield the flat object that may have been sent as this form, in each encoding: with numbers and literals where a
    value looks like one, then with strings alone."""
    sent = dict(parse_qsl(body.decode(), keep_blank_values=True))
    typed = {
        name: value_of(value.lower().encode()) if _LITERAL.fullmatch(value) else value for name, value in sent.items()
    }
    for members in (typed, sent):
        yield from chain(encodings(members), encodings(members, is_sorted=True))
