"""A JSON object as a form, and the object that was signed when a form was sent: percent-encoded, or in parts."""

import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from simulator.auth.autopsy.json_texts import NUMBER, encodings, in_order, object_of

_NUMERIC_MAX = 4  # values that may be numbers or texts
_PART = re.compile(rb'name="([^"]*)"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n(.*?)\r\n--', re.DOTALL)
_INNER = re.compile(r"([^\[\]]+)\[([^\[\]]+)\]")


def form_texts(body: bytes) -> Iterator[bytes]:
    """A JSON object as the usual libraries write it as a form."""
    value = json.loads(body)
    if not isinstance(value, dict):
        return
    flat = [
        (f"{name}[{inner}]" if inner else name, each)
        for name, one in value.items()
        for inner, each in (one.items() if isinstance(one, dict) else [("", one)])
    ]
    as_php = [(name, int(each) if isinstance(each, bool) else each) for name, each in flat if each is not None]
    for pairs in (flat, as_php, list(value.items())):
        yield urlencode(pairs).encode()
        yield urlencode(pairs, quote_via=quote).encode()


def objects_of_form(body: bytes) -> Iterator[bytes]:
    """The objects that may have been sent as this form, in each spelling; what looks like a number is one or a text."""
    parts = [(name.decode("utf-8", "replace"), each.decode("utf-8", "replace")) for name, each in _PART.findall(body)]
    fields: dict[str, Any] = {}
    for name, each in parts or parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        if inner := _INNER.fullmatch(name):
            fields[inner[1]] = {**fields.get(inner[1], {}), inner[2]: each}
        else:
            fields[name] = each
    numeric = [name for name, value in fields.items() if isinstance(value, str) and NUMBER.fullmatch(value)]
    some = numeric[:_NUMERIC_MAX]
    every = [chosen for count in range(len(some) + 1) for chosen in combinations(some, count)] if fields else []
    for chosen in sorted((*every, tuple(numeric)) if every else (), key=lambda names: names != ("amount",)):
        text = object_of(
            (name, str(value).encode() if name in chosen else json.dumps(value, ensure_ascii=False).encode())
            for name, value in fields.items()
        )
        yield from encodings(text)
        yield from encodings(in_order(text))
