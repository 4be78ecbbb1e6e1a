"""Parameters that are signed otherwise than they are sent, as lists, objects, flags and absent values or in another
part of the request."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import combinations, product
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

from simulator.auth.autopsy.form_texts import forms
from simulator.auth.autopsy.json_texts import printed
from simulator.auth.autopsy.query_mistakes import QUERY, QUERY_BYTES_MAX, RAW, SAME, Shown, parameters_of
from simulator.auth.autopsy.signing_steps import FIELDS, PARTS_MAX, Facts, Parameters, Parts, by_key, rows
from simulator.auth.canonical import EMPTY_BODY_HASH, body_hash, key_of
from simulator.shortened import one_line, shortened

_ABSENT = ("None", "null", "undefined", "", "nil", "NULL", "(null)", "<nil>")
_INDEX = re.compile(r"\[\d*\]$")
_ITEMS = re.compile(r"""[^\[\]()'",|;\s][^\[\]()'",|;]*""")

Pairs = list[tuple[str, str]]


def _objects(facts: Facts) -> list[dict[str, Any]]:
    """The parameters as an object, with numbers as texts and as numbers."""
    pairs = [unquote_plus(part.decode("latin-1")) for part in parameters_of(facts)]
    texts = {name: value for name, equals, value in (pair.partition("=") for pair in pairs) if equals}
    typed = {name: int(value) if _INTEGER.fullmatch(value) else value for name, value in texts.items()}
    return [texts, typed] if texts else []


def _jsons(facts: Facts) -> Iterator[bytes]:
    for members, separators, is_sorted in product(_objects(facts), ((",", ":"), (", ", ": ")), (False, True)):
        yield json.dumps(members, separators=separators, sort_keys=is_sorted).encode()


def _as_object(facts: Facts) -> Shown:
    made = [(text, "JSON") for text in _jsons(facts)]
    for members in _objects(facts):
        made += [*printed(members), *printed({name: f"[{value}]" for name, value in members.items()})]
    return ((lambda _, text=text: text, shown) for text, shown in made)


def _in_query(query: bytes, hashed: bytes, parts: Parts) -> tuple[bytes, ...]:
    return (b"v1", *parts[:3], query, hashed)


def _parameters_elsewhere(facts: Facts) -> Shown:
    """The parameters signed in another part than they are sent in, or in two."""
    texts = [facts.query, b"&".join(by_key(facts.query.split(b"&"))), *_jsons(facts)] if facts.query else []
    for hashed in map(body_hash, dict.fromkeys(texts)):
        yield partial(_in_query, b"", hashed), "the body, and sent as the query"
        yield lambda parts, hashed=hashed: (b"v1", *parts[:4], hashed), "query and body, and sent as the query"
    with suppress(ValueError, RecursionError):
        forms_sent = forms(facts.body) if facts.body[:1] == b"{" else [facts.body]
        for form in forms_sent if len(facts.body) < QUERY_BYTES_MAX else ():
            query = b"&".join(by_key(form.split(b"&")))
            for hashed in (EMPTY_BODY_HASH, facts.hashed) if query else ():
                yield partial(_in_query, query, hashed), "the query, and sent as the body"


def _once(facts: Facts) -> Iterator[Any]:
    parts = parameters_of(facts)
    if len(set(map(key_of, parts))) < len(parts):
        yield lambda parts: list({key_of(part): part for part in parts}.values())
        yield lambda parts: list({key_of(part): part for part in parts[::-1]}.values())[::-1]


def _lists(facts: Facts) -> Shown:
    by_name: dict[str, Pairs] = {}
    sent = [part.decode("latin-1").partition("=") for part in parameters_of(facts)]
    pairs = [(unquote_plus(name), unquote_plus(value)) for name, _, value in sent]
    for name, value in pairs:
        by_name.setdefault(_INDEX.sub("", name), []).append((name, value))
    several = {name: items for name, found in by_name.items() if (items := _items(name, found))}
    made: dict[tuple[bytes, ...], str] = {}
    for found in [several] if several else [{name: [values[0][1]]} for name, values in by_name.items()]:
        others = [part for part, (name, _) in zip(facts.query.split(b"&"), pairs, strict=True)
                  if _INDEX.sub("", name) not in found]  # fmt: skip
        for spell, (shown, write) in product(_SPELLINGS, _LISTS.items()):
            written = [pair for name, items in found.items() for pair in write(name, items)]
            texts = (f"{spell(name)}={spell(value)}".encode() for name, value in written)
            made.setdefault((*others, *texts), shown)
    yield from ((lambda _, parts=parts: parts, shown) for parts, shown in made.items())


_SPELLINGS: tuple[Callable[[str], str], ...] = (str, partial(quote, safe=""), quote_plus)


def _items(name: str, sent: Pairs) -> list[str]:
    """The items of a list; none when the parameter is no list."""
    if len(sent) > 1 or sent[0][0] != name:
        return [value for _, value in sent]
    value = sent[0][1]
    items = [item.strip() for item in _ITEMS.findall(value)]
    return items if value[:1] in ("[", "(") or len(items) > 1 else []


def _joined(begin: str, separator: str, end: str) -> Callable[[str, list[str]], Pairs]:
    return lambda name, values: [(name, begin + separator.join(values) + end)]


_LISTS: dict[str, Callable[[str, list[str]], Pairs]] = {
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


_INTEGER = re.compile("0|[1-9][0-9]{0,14}")
_REWRITES = (
    (r"\d+", r"\g<0>.0"), (r"\d+", r"\g<0>.00"), (r"\d+", r'"\g<0>"'), (r"(\d+)\.00?", r"\1"),
    *((r"\d{4}-\d\d-\d\d", r"\g<0>" + time + zone) for time in (" 00:00:00", "T00:00:00", "T00:00:00.000")
      for zone in ("", "Z", "+08:00", "+00:00")),
)  # fmt: skip


def _values(facts: Facts) -> Shown:
    sent = {part.partition(b"=")[2].decode("latin-1") for part in parameters_of(facts)}
    flags = (("true", "false"), ("True", "False"), ("1", "0"), ("TRUE", "FALSE"))
    for true, false in flags if any(value.lower() in ("true", "false", "1", "0") for value in sent) else ():
        words = {"true": true, "1": true, "false": false, "0": false}
        yield _changed(lambda value, words=words: words.get(value.lower(), value)), f"{true} or {false}"
    for pattern, made in _REWRITES:
        rewrite = partial(re.sub, f"^{pattern}$", made)
        if changed := min((rewrite(value) for value in sent if re.fullmatch(pattern, value)), default=""):
            yield _changed(rewrite), one_line(shortened(changed, 40))
    for absent in _ABSENT if not sent.isdisjoint(_ABSENT) else ():
        yield _changed(lambda value, absent=absent: absent if value in _ABSENT else value), absent or "nothing"


def _changed(change: Any) -> Callable[[Parameters], Parameters]:
    def of_part(part: bytes) -> bytes:
        name, equals, value = part.partition(b"=")
        return name + equals + change(value.decode("latin-1")).encode("latin-1") if equals else part

    return lambda parts: list(map(of_part, parts))


def _fewer(facts: Facts) -> Shown:
    pairs = [part for part in parameters_of(facts) if b"=" in part][:PARTS_MAX]
    for count in range(1, min(4, len(pairs))):
        for left_out in combinations(pairs, count):
            yield (
                lambda parts, left_out=left_out: [part for part in parts if part not in left_out],
                " and ".join(key_of(part).decode("ascii", "backslashreplace") for part in left_out),
            )


def _absent_sent(facts: Facts) -> Shown:
    absent = [part for part in parameters_of(facts) if part.partition(b"=")[2].decode("latin-1") in _ABSENT[:3]]
    if absent:
        shown = " and ".join(part.decode("ascii", "backslashreplace") for part in absent)
        yield lambda parts: [part for part in parts if part not in absent], shown


def _more(facts: Facts) -> Shown:
    has = {key_of(part).decode("latin-1") for part in facts.query.split(b"&")}
    names = [name for name in FIELDS.get(facts.path, ()) if name not in has] if facts.method in (b"GET", b"get") else []
    for count in range(1, len(names) + 1):
        for added, absent in product(combinations(names, count), _ABSENT):
            made = [f"{name}={absent}".encode() for name in added]
            yield lambda parts, made=made: [part for part in [*parts, *made] if part], " and ".join(added)


def _separated(facts: Facts) -> Iterator[Any]:
    for separator in (b"", b",", b";", b"\n") if b"&" in facts.query else ():
        yield lambda text, separator=separator: text.replace(b"&", separator)
    if facts.query:
        yield lambda text: text.translate(None, b"&=")


MISTAKES = (
    *rows(
        "parameters",
        ("repeated-key-once", "of a repeated key only one parameter is signed", "sign each of them", _once),
        ("query-list-otherwise", "a list in the query is signed as {}, and sent otherwise", SAME, _lists),
        ("query-value-otherwise", "a value of the query is signed as {}, and sent otherwise", SAME, _values),
        ("parameter-absent-sent", "sent without a value, and not signed: {}",
         "leave out parameters without a value before you send", _absent_sent),
        ("parameter-added", "added to the query after signing: {}", "sign the query when it is complete", _fewer),
        ("parameter-not-sent", "signed and not sent: {}", "leave out parameters without a value before you sign",
         _more),
    ),
    *rows(
        "query",
        ("query-in-lower-case", "the query is signed in lower case", RAW, lambda r: [bytes.lower]),
        ("query-without-separators", "the parameters of the query are signed without & between them", RAW,
         _separated),
    ),
    *rows(
        "pieces",
        ("parameters-elsewhere", "the parameters are signed as {}", "sign each part of the request as it is sent",
         _parameters_elsewhere),
        is_alone=True,
    ),
    *rows(
        "query",
        ("query-as-json", "the query is signed as {}", QUERY, _as_object),
        ("query-escaped-for-html", "the query is signed with &amp; between the parameters", RAW,
         lambda r: [lambda text: text.replace(b"&", b"&amp;")] if b"&" in r.query else []),
        is_alone=True,
    ),
    *rows(
        "parameters",
        ("query-value-cut", "a value of the query is signed up to its =, and sent as a whole", SAME,
         lambda r: [lambda parts: [b"=".join(part.split(b"=")[:2]) for part in parts]] if r.query else []),
        is_alone=True,
    ),
)  # fmt: skip
