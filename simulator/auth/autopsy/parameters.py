"""Other parameters than were sent, as clients sign them: lists, flags and absent values written otherwise, some added
or left out after signing."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any
from urllib.parse import quote, quote_plus, unquote_plus

from simulator.auth.autopsy.facts import Facts

Parameters = list[bytes]
Ways = Iterator[tuple[Any, str]]

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

_DROPPED_MAX = 10
_INDEX = re.compile(r"\[\d*\]$")
_ITEMS = re.compile(r"""[^\[\]()'",|;\s][^\[\]()'",|;]*""")
_ABSENT = ("None", "null", "undefined", "", "nil", "NULL", "(null)")
_FLAGS = (("true", "false"), ("True", "False"), ("1", "0"))


def key_of(part: bytes) -> bytes:
    """What stands before the first `=`."""
    return part.partition(b"=")[0]


def value_of(part: bytes) -> bytes:
    """What stands behind it."""
    return part.partition(b"=")[2]


def once(parts: Parameters) -> Iterator[Callable[[Parameters], Parameters]]:
    """Of a repeated key the last parameter, or the first."""
    if len(set(map(key_of, parts))) < len(parts):
        yield lambda parts: list({key_of(part): part for part in parts}.values())
        yield lambda parts: list({key_of(part): part for part in parts[::-1]}.values())[::-1]


def lists(parts: Parameters) -> Ways:
    """Lists as clients write them. One that was sent is repeated, has brackets, or is one value with separators."""
    by_name: dict[str, Parameters] = {}
    for part in parts:
        by_name.setdefault(_bare_name(part), []).append(part)
    several = {name: items for name, sent in by_name.items() if (items := _items(name, sent))}
    alone = ({name: [unquote_plus(value_of(sent[0]).decode("latin-1"))]} for name, sent in by_name.items())
    for found in [several] if several else alone:
        others = [part for part in parts if _bare_name(part) not in found]
        for (shown, write), spell in product(_LISTS.items(), _SPELLINGS):
            pairs = [pair for name, items in found.items() for pair in write(name, items)]
            made = [*others, *(f"{spell(name)}={spell(value)}".encode() for name, value in pairs)]
            yield lambda _, made=made: made, shown


def _bare_name(part: bytes) -> str:
    return _INDEX.sub("", unquote_plus(key_of(part).decode("latin-1")))


def _items(name: str, sent: Parameters) -> list[str]:
    """The items of a list, decoded; none when the parameter is no list."""
    values = [unquote_plus(value_of(part).decode("latin-1")) for part in sent]
    if len(sent) > 1 or unquote_plus(key_of(sent[0]).decode("latin-1")) != name:
        return values
    items = [item.strip() for item in _ITEMS.findall(values[0])]
    return items if values[0][:1] in ("[", "(") or len(items) > 1 else []


def _quoted(text: str) -> str:
    return quote(text, safe="")


_SPELLINGS: tuple[Callable[[str], str], ...] = (str, _quoted, quote_plus)


def _joined(separator: str) -> Callable[[str, list[str]], list[tuple[str, str]]]:
    return lambda name, values: [(name, separator.join(values))]


_LISTS: dict[str, Callable[[str, list[str]], list[tuple[str, str]]]] = {
    "a repeated key": lambda name, values: [(name, value) for value in values],
    "a key with []": lambda name, values: [(name + "[]", value) for value in values],
    "a key with [0], [1]": lambda name, values: [(f"{name}[{at}]", value) for at, value in enumerate(values)],
    "A,B": _joined(","),
    "A, B": _joined(", "),
    "Python prints it": lambda name, values: [(name, str(values))],
    "JSON": lambda name, values: [(name, json.dumps(values, separators=(",", ":")))],
    "JSON with blanks": lambda name, values: [(name, json.dumps(values))],
    "[A, B]": lambda name, values: [(name, f"[{', '.join(values)}]")],
    "[A,B]": lambda name, values: [(name, f"[{','.join(values)}]")],
    "A B": _joined(" "),
    "A|B": _joined("|"),
    "A;B": _joined(";"),
    "(A, B)": lambda name, values: [(name, str(tuple(values)))],
    "[A B]": lambda name, values: [(name, f"[{' '.join(values)}]")],
    "the word Array": lambda name, values: [(name, "Array")],
    "the name of its type": lambda name, values: [(name, "System.Collections.Generic.List`1[System.String]")],
    "the name of an array": lambda name, values: [(name, "System.String[]")],
}


def values(parts: Parameters) -> Ways:
    """Flags, numbers and absent values as other languages write them."""
    sent = {value_of(part).decode("latin-1") for part in parts}
    for true, false in _FLAGS if any(value.lower() in ("true", "false", "1", "0") for value in sent) else ():
        words = {"true": true, "1": true, "false": false, "0": false}
        yield _changed(lambda value, words=words: words.get(value.lower(), value)), f"{true} or {false}"
    if any(value.isdigit() for value in sent):
        yield _changed(lambda value: value + ".0" if value.isdigit() else value), "10.0"
    if any(value.endswith(".0") for value in sent):
        yield _changed(lambda value: value.removesuffix(".0")), "10"
    for absent in _ABSENT if not sent.isdisjoint(_ABSENT) else ():
        yield _changed(lambda value, absent=absent: absent if value in _ABSENT else value), absent or "nothing"


def _changed(change: Any) -> Callable[[Parameters], Parameters]:
    return lambda parts: [
        key_of(part) + b"=" + change(value_of(part).decode("latin-1")).encode("latin-1") if b"=" in part else part
        for part in parts
    ]


def fewer(parts: Parameters) -> Ways:
    """Without one parameter, two or three."""
    pairs = [part for part in parts if b"=" in part][:_DROPPED_MAX]
    for count in range(1, min(4, len(pairs))):
        for left_out in combinations(pairs, count):
            yield (
                lambda parts, left_out=left_out: [part for part in parts if part not in left_out],
                " and ".join(key_of(part).decode("ascii", "backslashreplace") for part in left_out),
            )


def more(facts: Facts, least: int) -> Ways:
    """With optional parameters that have no value."""
    has = {key_of(part).decode("latin-1") for part in facts.query.split(b"&")}
    names = [name for name in FIELDS.get(facts.path, ()) if name not in has] if facts.method in (b"GET", b"get") else []
    for count in range(least, len(names) + 1) if least > 1 else (1,):
        for added in combinations(names, count):
            for absent in _ABSENT:
                made = [f"{name}={absent}".encode() for name in added]
                yield lambda parts, made=made: [part for part in [*parts, *made] if part], " and ".join(added)
