"""A JSON text as other encoders write it: laid out otherwise, with other escapes, with members in another order, absent
or written otherwise; and as a form.

It works on the text that was sent, so that what a client does not write otherwise stays to the character. Members of
inner objects stay as they are.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
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
_PERMUTED_MAX, _ADDED_MAX = 6, 3
_LITERAL = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?|true|false|null", re.IGNORECASE)
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[,:]')
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^u]))")
_ABSENT = (b"null", b'""', b"{}", b"[]", b"0", b"false", b"0.0")
_OTHERS = r"[^\x20-\x7e]"
# For each encoder, the characters that it escapes, and whether in capitals.
_ENCODERS = (
    (_OTHERS, False), ("", False), (f"{_OTHERS}|/", False), ("/", False),  # Python, JavaScript, PHP
    ("[<>&\u2028\u2029]", False), ("[<>&'=\u2028\u2029]", False),  # Go and Rails; Gson
    (f"{_OTHERS}|[<>&'+`]", True), ("[<>&']", False), (_OTHERS, True),  # System.Text.Json, Newtonsoft, Jackson
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


def small(value: object) -> bytes:
    """Return a value as JSON without blanks or escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _indented(blanks: int) -> Callable[[bytes], bytes]:
    return lambda text: msgspec.json.format(text, indent=blanks)


def _separated(comma: bytes, colon: bytes) -> Callable[[bytes], bytes]:
    signs = {b",": comma, b":": colon}
    return lambda text: _TOKEN.sub(lambda found: signs.get(found[0], found[0]), _indented(_TIGHT)(text))


def _tabbed(text: bytes) -> bytes:
    single = msgspec.json.format(text, indent=1)
    return re.sub(rb"^ +", lambda found: b"\t" * len(found[0]), single, flags=re.MULTILINE)


_LAYOUTS = (*map(_indented, (_TIGHT, _WIDE, 2, 4)), _tabbed, _separated(b", ", b":"), _separated(b",", b": "),
            *map(_indented, (3, 1)))  # fmt: skip


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


def _escaped(plain: str, escaped: str, is_upper: bool) -> bytes:
    """Return a text without escapes as an encoder writes it."""

    def spelt(found: re.Match[str]) -> str:
        units = found[0].encode("utf-16-be", "surrogatepass").hex()
        return "\\/" if found[0] == "/" else re.sub("(.{4})", r"\\u\1", units.upper() if is_upper else units)

    return re.sub(escaped, spelt, plain).encode("utf-8", "replace")


def spellings(text: bytes) -> Iterator[bytes]:
    """Yield a JSON text as each encoder escapes it: as it was sent first."""
    yield text
    plain = unescaped(text)
    yield from (_escaped(plain, *encoder) for encoder in _ENCODERS)


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
    """Yield an object with its members in the opposite order, then in each if they are few."""
    yield object_of(list(members.items())[::-1])
    if 1 < len(members) <= _PERMUTED_MAX:
        yield from map(object_of, permutations(members.items()))


def without_absent(members: Members) -> Iterator[bytes]:
    """Yield an object without the members that have no value: the nulls, those and empty ones, all that count as
    false."""
    for absent in ((b"null",), (b"null", b'""'), (b"null", b"{}", b"[]"), _ABSENT):
        kept = [(name, raw) for name, raw in members.items() if raw not in absent]
        if len(kept) < len(members):
            yield object_of(kept)


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


def revalued(members: Members) -> Iterator[tuple[bytes, str]]:
    """Yield an object whose values are written otherwise: all of a kind, then each alone."""
    for pattern, made in _REWRITES:
        texts = {name: text for name, raw in members.items() if pattern.fullmatch(text := raw.decode())}
        changed = {name: raw for name, text in texts.items() if (raw := pattern.sub(made, text)) != text}
        for names in [[*changed], *([name] for name in changed if len(changed) > 1)] if changed else ():
            new = {name: changed[name].encode() for name in names}
            yield object_of((members | new).items()), one_line(shortened(changed[names[0]], 40))


_N = r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?"
_REWRITES: tuple[tuple[re.Pattern[str], Rewrite], ...] = tuple((re.compile(pattern), made) for pattern, made in (
    (f"{_N}|true|false", r'"\g<0>"'), (r"-?\d+", r"\g<0>.0"),
    (r'("?)(-?\d+)\.0*("?)', r"\2"), (r"(-?\d+\.\d*?)0+", r"\1"),
    (_N, lambda found: f"{Decimal(found[0]):.2f}"), (f'"({_N}|true|false|null)"', r"\1"),
    ("null", '""'), ('""', "null"), ("{}", "[]"), (r"\[\]", "{}"), ("1", "true"), ("0", "false"), ("true", "1"),
    (_N, lambda found: str(Decimal(found[0]).normalize())),  # Java's stripTrailingZeros
    (_N, lambda found: f'"{Decimal(found[0]):.2f}"'), (r'^"\s*(.*?)\s*"$', r'"\1"'),
    (r'"[^"\\]*"', lambda found: found[0].upper()), (r'"[^"\\]*"', lambda found: found[0].lower()),
    ('"0*([1-9][0-9]*)"', r"\1"), ('"0+([1-9][0-9]*)"', r'"\1"'),
))  # fmt: skip


def renamed(members: Members) -> Iterator[tuple[bytes, str]]:
    """Yield an object whose members have the names of another convention."""
    for shown, convention in _CONVENTIONS.items():
        yield object_of((convention(name), raw) for name, raw in members.items()), shown


_CONVENTIONS: dict[str, Callable[[str], str]] = {
    "PascalCase": lambda name: "".join(word.capitalize() for word in name.split("_")),
    "camelCase": lambda name: re.sub("_(.)", lambda found: found[1].upper(), name),
    "snake_case": lambda name: re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower(),
}


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
    for how in (quote_plus, quote) if isinstance(value, dict) else ():
        yield urlencode(value, quote_via=how).encode()


def objects_of_form(body: bytes) -> Iterator[bytes]:
    """Yield the flat objects that may have been sent as this form, in each spelling; what looks like a number or a
    literal is one or a text."""
    written = []
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        text = json.dumps(value, ensure_ascii=False).encode()
        raws = [value.lower().encode(), text] if _LITERAL.fullmatch(value) else [text]
        written.append([(name, raw) for raw in raws])
    for chosen in product(*written) if written else ():
        text = object_of(chosen)
        yield from encodings(text)
        yield from encodings(in_order(text))
