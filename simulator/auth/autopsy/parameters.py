"""Parameters that clients sign otherwise than they send them: lists, flags and absent values in other words, and some
that are added or left out after signing."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, product
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

from simulator.auth.autopsy.queries import RAW, SAME, parameter_by_parameter, parameters
from simulator.auth.autopsy.signing import Facts, Parameters, rows
from simulator.auth.canonical import key_of

CHANGED_MAX = 20
"""Of more parameters none is changed or left out."""
FIELDS = {
    b"/v2/subproducts": ("product_code", "account_number", "limit"),
    b"/v2/catalog": ("product_code", "is_active", "include_inactive"),
    b"/v2/options": ("product_code", "field_id", "account_number", "biller_code", "is_active", "include_inactive",
                     "include_hidden", "page", "per_page", "limit"),
    b"/v1/interbank/billers": ("biller_code", "suggested_category", "page", "limit"),
    b"/v2/transactions": ("date", "status", "product", "account", "limit", "offset"),
    b"/v2/balance-statement": ("date", "type", "page", "limit"),
    b"/v2/networkstatus": ("product",),
    b"/v2/bill-presentment": ("product", "account", "amount", "biller_code", "ref2"),
    b"/v2/balance-webhook/deliveries": ("status", "from", "to", "search", "cursor", "limit"),
    b"/v2/topup": ("remarks", "extras"),
    b"/v2/transactions/check": ("refid", "trxid", "user_email"),
    b"/v2/transactions/void": ("refid", "trxid", "user_email", "refund_type", "refund_reason"),
    b"/v2/callback-url": ("url", "method"),
}  # fmt: skip
"""The optional parameters, or members of the body, of each path that has some."""
_ABSENT = ("None", "null", "undefined", "", "nil", "NULL", "(null)")
_DROPPED_MAX = 10
_INDEX = re.compile(r"\[\d*\]$")
_ITEMS = re.compile(r"""[^\[\]()'",|;\s][^\[\]()'",|;]*""")

Shown = Iterator[tuple[Any, str]]
Pairs = list[tuple[str, str]]


def _once(facts: Facts) -> Iterator[Any]:
    parts = parameters(facts, CHANGED_MAX)
    if len(set(map(key_of, parts))) < len(parts):
        yield lambda parts: list({key_of(part): part for part in parts}.values())
        yield lambda parts: list({key_of(part): part for part in parts[::-1]}.values())[::-1]


def _lists(facts: Facts) -> Shown:
    by_name: dict[str, Pairs] = {}
    sent = [part.decode("latin-1").partition("=") for part in parameters(facts, CHANGED_MAX)]
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


def _values(facts: Facts) -> Shown:
    sent = {part.partition(b"=")[2].decode("latin-1") for part in parameters(facts, CHANGED_MAX)}
    flags = (("true", "false"), ("True", "False"), ("1", "0"))
    for true, false in flags if any(value.lower() in ("true", "false", "1", "0") for value in sent) else ():
        words = {"true": true, "1": true, "false": false, "0": false}
        yield _changed(lambda value, words=words: words.get(value.lower(), value)), f"{true} or {false}"
    if any(value.isdigit() for value in sent):
        yield _changed(lambda value: value + ".0" if value.isdigit() else value), "10.0"
    if any(value.endswith(".0") for value in sent):
        yield _changed(lambda value: value.removesuffix(".0")), "10"
    for absent in _ABSENT if not sent.isdisjoint(_ABSENT) else ():
        yield _changed(lambda value, absent=absent: absent if value in _ABSENT else value), absent or "nothing"


def _changed(change: Any) -> Callable[[Parameters], Parameters]:
    def of_part(part: bytes) -> bytes:
        name, equals, value = part.partition(b"=")
        return name + equals + change(value.decode("latin-1")).encode("latin-1") if equals else part

    return parameter_by_parameter(of_part)


def _fewer(facts: Facts) -> Shown:
    pairs = [part for part in parameters(facts, CHANGED_MAX) if b"=" in part][:_DROPPED_MAX]
    for count in range(1, min(4, len(pairs))):
        for left_out in combinations(pairs, count):
            yield (
                lambda parts, left_out=left_out: [part for part in parts if part not in left_out],
                " and ".join(key_of(part).decode("ascii", "backslashreplace") for part in left_out),
            )


def _more(facts: Facts) -> Shown:
    has = {key_of(part).decode("latin-1") for part in facts.query.split(b"&")}
    names = [name for name in FIELDS.get(facts.path, ()) if name not in has] if facts.method in (b"GET", b"get") else []
    for count in range(1, len(names) + 1):
        for added, absent in product(combinations(names, count), _ABSENT):
            made = [f"{name}={absent}".encode() for name in added]
            yield lambda parts, made=made: [part for part in [*parts, *made] if part], " and ".join(added)


def _separated(facts: Facts) -> Iterator[Any]:
    for separator in (b"", b",", b";", b"\n", b"&amp;") if b"&" in facts.query else ():
        yield lambda text, separator=separator: text.replace(b"&", separator)
    if facts.query:
        yield lambda text: text.translate(None, b"&=")


MISTAKES = (
    *rows(
        "parameters",
        ("repeated-key-once", "of a repeated key only one parameter is signed", "sign each of them", _once),
        ("query-list-otherwise", "a list in the query is signed as {}, and sent otherwise", SAME, _lists),
        ("query-value-otherwise", "a value of the query is signed as {}, and sent otherwise", SAME, _values),
        ("parameter-added", "{} was added to the query after signing", "sign the query when it is complete", _fewer),
        ("parameter-not-sent", "{} was signed and not sent", "leave out parameters without a value before you sign",
         _more),
    ),
    *rows(
        "query",
        ("query-in-lower-case", "the query is signed in lower case", RAW, lambda r: [bytes.lower]),
        ("query-without-separators", "the parameters of the query are signed without & between them", RAW,
         _separated),
    ),
)  # fmt: skip
