"""A JSON value as encoders write it: laid out and escaped in their ways, with members in another order, absent or
written otherwise; and as a form.

Numbers keep their digits as they were sent. Members of inner objects stay as they are.
"""

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import chain, combinations, permutations, product
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

from simulator.shortened import one_line, shortened

Members = dict[str, Any]
"""The members of an object, each with its value."""
Fields = frozenset[str]
Changes = Iterator[tuple[Members, str]]
"""Objects with other members, each with what stands for `{}` in the words about it."""

Layout = tuple[int | str | None, str, str]
"""The blanks of an encoder: its indentation, and what it writes for a comma and a colon."""

_BEGIN, _END = "<#", "#>"  # around the text that stands for a number while it is a value
_LITERAL = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|true|false|null", re.IGNORECASE)
_ABSENT = (b"null", b'""', b"{}", b"[]", b"0", b"false", b"0.0")
_OTHERS = r"[^\x20-\x7e\n\t]"
_TIGHT, _PYTHON = (None, ",", ":"), (None, ", ", ": ")
_LAYOUTS: tuple[Layout, ...] = (
    _TIGHT, _PYTHON, *((indent, ",", ": ") for indent in (2, 4, "\t", 3, 1)), (None, ", ", ":"), (None, ",", ": "),
)  # fmt: skip
# For each encoder that escapes other characters than Python, these characters, and whether in capitals.
_ENCODERS = (
    (f"{_OTHERS}|/", False), ("/", False), (_OTHERS, True),  # PHP, Jackson
    ("[<>&\u2028\u2029]", False), ("[<>&'=\u2028\u2029]", False),  # Go and Rails; Gson
    (f"{_OTHERS}|[<>&'+`]", True), ("[<>&']", False),  # System.Text.Json, Newtonsoft
)  # fmt: skip


def value_of(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8. Raises ValueError and RecursionError."""

    def number(digits: str) -> str:
        return _BEGIN + digits + _END

    return json.loads(text.decode(), parse_float=number, parse_int=number)


def written(value: object, layout: Layout = _TIGHT, *, is_ascii: bool = False, is_sorted: bool = False) -> bytes:
    """Return a value as JSON, with escapes for all letters beyond ASCII or for none."""
    text = json.dumps(value, ensure_ascii=is_ascii, indent=layout[0], separators=layout[1:], sort_keys=is_sorted)
    return text.replace('"' + _BEGIN, "").replace(_END + '"', "").encode("utf-8", "replace")


def _escaped(text: bytes, signs: str, is_upper: bool) -> bytes:
    """Return a JSON text with escapes for these signs."""

    def spelt(found: re.Match[str]) -> str:
        units = found[0].encode("utf-16-be").hex()
        return "\\/" if found[0] == "/" else re.sub("(.{4})", r"\\u\1", units.upper() if is_upper else units)

    return re.sub(signs, spelt, text.decode()).encode()


def encodings(value: object, *, is_sorted: bool = False) -> Iterator[bytes]:
    """Yield a value in every layout, as each encoder escapes it; the likeliest first."""
    likely = [
        written(value, layout, is_ascii=is_ascii, is_sorted=is_sorted)
        for layout in _LAYOUTS
        for is_ascii in (False, True)
    ]
    yield from likely
    yield from (_escaped(text, *encoder) for text in likely[::2] for encoder in _ENCODERS)
    yield from (text + b"\n" for text in likely)


def as_sent(members: Members, body: bytes) -> Callable[[Members], Iterator[bytes]]:
    """Return how a client that sent these members as `body` writes others: as it did, tight, and as Python does."""
    is_ascii = body.isascii()
    own = (layout for layout in _LAYOUTS if written(members, layout, is_ascii=is_ascii) == body)
    layouts = dict.fromkeys((next(own, _TIGHT), _TIGHT, _PYTHON))
    return lambda changed: (written(changed, layout, is_ascii=is_ascii) for layout in layouts)


def reordered(members: Members, _: Fields) -> Changes:
    """Yield an object with its members in the opposite order, then in each."""
    for items in chain([list(members.items())[::-1]], permutations(members.items())):
        yield dict(items), ""


def without_absent(members: Members, _: Fields) -> Changes:
    """Yield an object without the members that have no value: the nulls, those and empty ones, all that count as
    false."""
    for absent in (_ABSENT[:1], _ABSENT[:2], (b"null", b"{}", b"[]"), _ABSENT):
        yield {name: value for name, value in members.items() if written(value) not in absent}, ""


def without_some(members: Members, _: Fields) -> Changes:
    """Yield an object without one of its members, or two."""
    for left_out in chain(combinations(members, 1), combinations(members, 2)):
        yield {name: members[name] for name in members if name not in left_out}, " and ".join(left_out)


def with_absent(members: Members, fields: Fields) -> Changes:
    """Yield an object with more members that have no value, at each place: one, or several side by side."""
    names, items = sorted(fields - members.keys()), list(members.items())
    for count, absent in ((1, _ABSENT), (2, _ABSENT[:3]), (3, _ABSENT[:3])):
        for values, added in product(product(map(value_of, absent), repeat=count), permutations(names, count)):
            for at in range(len(items), -1, -1):
                yield dict([*items[:at], *zip(added, values, strict=True), *items[at:]]), " and ".join(added)


def revalued(members: Members, _: Fields) -> Changes:
    """Yield an object whose values are written otherwise: all of a kind, then each alone."""
    texts = {name: written(value).decode() for name, value in members.items()}
    for pattern, made in _REWRITES:
        fitting = {name: text for name, text in texts.items() if re.fullmatch(pattern, text)}
        changed = {name: new for name, text in fitting.items() if (new := re.sub(pattern, made, text)) != text}
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
    """Yield an object whose members have the names of another convention."""
    for shown, convention in _CONVENTIONS.items():
        yield {convention(name): value for name, value in members.items()}, shown


_CONVENTIONS: dict[str, Callable[[str], str]] = {
    "PascalCase": lambda name: "".join(word.capitalize() for word in name.split("_")),
    "camelCase": lambda name: re.sub("_(.)", lambda found: found[1].upper(), name),
    "snake_case": lambda name: re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower(),
}


def printed(value: Any) -> Iterator[tuple[bytes, str]]:
    """Yield a value as languages print it."""
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
    """Yield a JSON object as the usual libraries write it as a form."""
    for how in (quote_plus, quote) if isinstance(value, dict) else ():
        yield urlencode(value, quote_via=how).encode()


def objects_of_form(body: bytes) -> Iterator[bytes]:
    """Yield the flat objects that may have been sent as this form, in each spelling; what looks like a number or a
    literal is one or a text."""
    sent = dict(parse_qsl(body.decode(), keep_blank_values=True))
    read = (
        (value_of(value.lower().encode()), value) if _LITERAL.fullmatch(value) else (value,) for value in sent.values()
    )
    for values in product(*read):  # billions, if there are many numbers
        members = dict(zip(sent, values, strict=True))
        yield from chain(encodings(members), encodings(members, is_sorted=True))
