"""Parameters that are signed otherwise than they are sent, as lists, objects, flags and absent values or in another
part of the request."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import combinations, product
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

from simulator.auth.autopsy.json_texts import forms, printed
from simulator.auth.autopsy.signing_steps import FIELDS, PARTS_MAX, Facts, Parts, Shown, always, by_key, rows
from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash, key_of
from simulator.shortened import one_line, shortened

QUERY_BYTES_MAX, PARAMETERS_MAX = 4096, 20
"""The parameters of a longer query, or of a query with more parameters, are not changed."""
_ABSENT = ("None", "null", "undefined", "", "nil", "NULL", "(null)", "<nil>")
_INDEX = re.compile(r"\[\d*\]$")
_ITEMS = re.compile(r"""[^\[\]()'",|;\s][^\[\]()'",|;]*""")
_INTEGER = re.compile("0|[1-9][0-9]{0,14}")
_FLAGS = (("true", "false"), ("True", "False"), ("1", "0"), ("TRUE", "FALSE"))
_REWRITES = (
    (r"\d+", r"\g<0>.0"), (r"\d+", r"\g<0>.00"), (r"\d+", r'"\g<0>"'), (r"(\d+)\.00?", r"\1"),
    *((r"\d{4}-\d\d-\d\d", r"\g<0>" + time + zone) for time in (" 00:00:00", "T00:00:00", "T00:00:00.000")
      for zone in ("", "Z", "+08:00", "+00:00")),
)  # fmt: skip

Values = list[str]
Pairs = list[tuple[str, str]]


def parts_of(r: Facts) -> list[bytes]:
    """Return the parameters, none when they are too many or too long."""
    is_short = r.query and len(r.query) <= QUERY_BYTES_MAX and r.query.count(b"&") < PARAMETERS_MAX
    return r.query.split(b"&") if is_short else []


def _pairs(r: Facts) -> Pairs:
    """Return the names and values of the parameters, decoded."""
    sent = (part.decode("latin-1").partition("=") for part in parts_of(r))
    return [(unquote_plus(name), unquote_plus(value)) for name, _, value in sent]


def _named(parts: Iterable[bytes]) -> str:
    return " and ".join(part.decode("ascii", "backslashreplace") for part in parts)


def _once(r: Facts) -> Iterator[list[bytes]]:
    for parts in (parts_of(r), parts_of(r)[::-1]):
        if len(by_name := {key_of(part): part for part in parts}) < len(parts):
            yield list(by_name.values())


def _joined(begin: str, separator: str, end: str) -> Callable[[str, Values], Pairs]:
    return lambda name, values: [(name, begin + separator.join(values) + end)]


_LISTS: dict[str, Callable[[str, Values], Pairs]] = {
    "a repeated key": lambda name, values: [(name, value) for value in values],
    "a key with []": lambda name, values: [(name + "[]", value) for value in values],
    "a key with [0], [1]": lambda name, values: [(f"{name}[{at}]", value) for at, value in enumerate(values)],
    "A,B": _joined("", ",", ""), "A, B": _joined("", ", ", ""),
    "Python prints it": lambda name, values: [(name, str(values))],
    "JSON": lambda name, values: [(name, json.dumps(values, separators=(",", ":")))],
    "JSON with blanks": lambda name, values: [(name, json.dumps(values))],
    "[A, B]": _joined("[", ", ", "]"), "[A,B]": _joined("[", ",", "]"), "A B": _joined("", " ", ""),
    "A|B": _joined("", "|", ""), "A;B": _joined("", ";", ""),
    "(A, B)": lambda name, values: [(name, str(tuple(values)))], "[A B]": _joined("[", " ", "]"),
    "the word Array": lambda name, _: [(name, "Array")],
    "the name of its type": lambda name, _: [(name, "System.Collections.Generic.List`1[System.String]")],
    "the name of an array": lambda name, _: [(name, "System.String[]")],
}  # fmt: skip

_SPELLINGS: tuple[Callable[[str], str], ...] = (str, partial(quote, safe=""), quote_plus)


def _lists(r: Facts) -> Shown:
    sent: dict[str, Pairs] = {}
    for name, value in _pairs(r):
        sent.setdefault(_INDEX.sub("", name), []).append((name, value))
    several = {name: items for name, pairs in sent.items() if (items := _items(name, pairs))}
    found = [several] if several else [{name: [pairs[0][1]]} for name, pairs in sent.items()]
    raw = [(part, _INDEX.sub("", name)) for part, (name, _) in zip(parts_of(r), _pairs(r), strict=True)]
    for lists, spell, (shown, write) in product(found, _SPELLINGS, _LISTS.items()):
        others = [part for part, name in raw if name not in lists]
        written = [pair for name, items in lists.items() for pair in write(name, items)]
        yield [*others, *(f"{spell(name)}={spell(value)}".encode() for name, value in written)], shown


def _items(name: str, sent: Pairs) -> Values:
    """Return the items of a list; none when the parameter is no list."""
    if len(sent) > 1 or sent[0][0] != name:
        return [value for _, value in sent]
    items = [item.strip() for item in _ITEMS.findall(sent[0][1])]
    return items if sent[0][1][:1] in ("[", "(") or len(items) > 1 else []


def _values(r: Facts) -> Shown:
    parts = [part.partition(b"=") for part in parts_of(r)]
    sent = {value.decode("latin-1") for _, _, value in parts}

    def changed(change: Callable[[str], str]) -> list[bytes]:
        return [b"".join((*pair, change(value.decode("latin-1")).encode("latin-1"))) for *pair, value in parts]

    for true, false in _FLAGS if any(value.lower() in ("true", "false", "1", "0") for value in sent) else ():
        words = {"true": true, "1": true, "false": false, "0": false}
        yield changed(lambda value, words=words: words.get(value.lower(), value)), f"{true} or {false}"  # type: ignore[misc]
    for pattern, made in _REWRITES:
        rewrite = partial(re.sub, f"^{pattern}$", made)
        if shown := min((rewrite(value) for value in sent if re.fullmatch(pattern, value)), default=""):
            yield changed(rewrite), one_line(shortened(shown, 40))
    for absent in _ABSENT if not sent.isdisjoint(_ABSENT) else ():
        yield changed(lambda value, absent=absent: absent if value in _ABSENT else value), absent or "nothing"  # type: ignore[misc]


def _fewer(r: Facts) -> Shown:
    parts = [part for part in parts_of(r) if b"=" in part][:PARTS_MAX]
    for count in range(1, min(4, len(parts))):
        for left_out in combinations(parts, count):
            yield [part for part in parts_of(r) if part not in left_out], _named(map(key_of, left_out))


def _absent_sent(r: Facts) -> Shown:
    absent = [part for part in parts_of(r) if part.partition(b"=")[2].decode("latin-1") in _ABSENT[:3]]
    if absent:
        yield [part for part in parts_of(r) if part not in absent], _named(absent)


def _more(r: Facts) -> Shown:
    has = {key_of(part).decode("latin-1") for part in r.query.split(b"&")}
    names = [name for name in FIELDS.get(r.path, ()) if name not in has] if r.method.upper() == b"GET" else []
    for count in range(1, len(names) + 1):
        for added, absent in product(combinations(names, count), _ABSENT):
            made = [f"{name}={absent}".encode() for name in added]
            yield [part for part in (*r.query.split(b"&"), *made) if part], " and ".join(added)


def _objects(r: Facts) -> list[dict[str, Any]]:
    """Return the parameters as an object, with numbers as texts and as numbers."""
    texts = {name: value for part, (name, value) in zip(parts_of(r), _pairs(r), strict=True) if b"=" in part}
    typed = {name: int(value) if _INTEGER.fullmatch(value) else value for name, value in texts.items()}
    return [texts, typed] if texts else []


def _jsons(r: Facts) -> Iterator[bytes]:
    for members, separators, is_sorted in product(_objects(r), ((",", ":"), (", ", ": ")), (False, True)):
        yield json.dumps(members, separators=separators, sort_keys=is_sorted).encode()


def _as_object(r: Facts) -> Shown:
    yield from ((text, "JSON") for text in _jsons(r))
    for members in _objects(r):
        yield from printed(members)
        yield from printed({name: f"[{value}]" for name, value in members.items()})
        yield from printed({name: [value] for name, value in members.items()})
        pairs = list(members.items())
        yield from ((str(pairs).encode(), "a list of pairs"), (f"OrderedDict({pairs})".encode(), "an OrderedDict"))
        yield f"[{', '.join(f'{name}={value}' for name, value in pairs)}]".encode(), "Java prints a list"
        lists = [f"{name}=[{value}]" for name, value in pairs]
        yield from (("&".join(each).encode(), "Java prints lists") for each in (lists, sorted(lists)))
    if r.query:
        yield repr(r.query).encode(), "Python prints bytes, b'...'"


def _elsewhere(r: Facts) -> Shown:
    """Yield the parameters signed in another part than they are sent in, or in two."""
    texts = [r.query, b"&".join(by_key(r.query.split(b"&"))), *_jsons(r)] if r.query else []
    for hashed in map(body_hash, dict.fromkeys(texts)):
        yield partial(_in_query, b"", hashed), "the body, and sent as the query"
        yield partial(_in_query, None, hashed), "query and body, and sent as the query"
    with suppress(ValueError, RecursionError):
        sent = forms(r.body) if r.body[:1] == b"{" else [r.body]
        for form in sent if 0 < len(r.body) < QUERY_BYTES_MAX else ():
            query = b"&".join(by_key(form.split(b"&")))
            for hashed in (EMPTY_BODY_HASH, r.hashed):
                yield partial(_in_query, query, hashed), "the query, and sent as the body"


def _in_query(query: bytes | None, hashed: bytes, parts: Parts) -> tuple[bytes, ...]:
    return (b"v1", *parts[:3], parts.query if query is None else query, hashed)


def _separated(r: Facts) -> Iterator[Any]:
    for separator in (b"", b",", b";", b"\n") if b"&" in r.query else ():
        yield lambda text, separator=separator: text.replace(b"&", separator)
    if r.query:
        yield lambda text: text.translate(None, b"&=")


RAW = "sign the text that is sent, sorted by key"
QUERY = (
    "sign what follows the ? as it is sent, sorted by key, without parameters that have no = (of equal keys and empty "
    "values assume.repeated-query-keys and assume.empty-query-values say more)"
)
SAME = "build the query once, sign this text and send it"

MISTAKES = (
    *rows(
        "parameters",
        ("repeated-key-once", "only one parameter of a repeated key is signed", "sign each of them", _once),
        ("query-list-otherwise", "a list in the query is signed as {}, and sent differently", SAME, _lists),
        ("query-value-otherwise", "a value of the query is signed as {}, and sent differently", SAME, _values),
        ("parameter-absent-sent", "sent without a value, and not signed: {}",
         "leave out parameters without a value before you send", _absent_sent),
        ("parameter-added", "added to the query after signing: {}", "sign the query when it is complete", _fewer),
        ("parameter-not-sent", "signed and not sent: {}", "leave out parameters without a value before you sign",
         _more),
        ("query-value-cut", "a value of the query is signed up to its =, and sent as a whole", SAME,
         lambda r: [[b"=".join(part.split(b"=")[:2]) for part in r.query.split(b"&")]] if r.query else []),
    ),
    *rows(
        "query",
        ("query-in-lower-case", "the query is signed in lower case", RAW, always(bytes.lower)),
        ("query-without-separators", "the parameters of the query are signed without & between them", RAW,
         _separated),
        ("query-as-json", "the query is signed as {}", QUERY, _as_object),
        ("query-escaped-for-html", "the query is signed with &amp; between the parameters", RAW,
         lambda r: [lambda text: text.replace(b"&", b"&amp;")] if b"&" in r.query else []),
    ),
    *rows(
        "pieces",
        ("parameters-elsewhere", "the parameters are signed as {}", "sign each part of the request as it is sent",
         _elsewhere),
    ),
)  # fmt: skip
