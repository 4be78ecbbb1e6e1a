"""JSON as libraries send it in a form, and the JSON texts that may have been sent as a form."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, product
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

import msgspec

from simulator.auth.autopsy.json_texts import DIGITS_MAX, encodings, in_order, is_number, object_of

_PART = re.compile(rb'name="([^"]*)"[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n(.*?)\r\n--', re.DOTALL)
_INNER = re.compile(r"([^\[\].]+)(?:\[([^\[\]]*)\]|\.(\w+))")
_IS_FORM = re.compile(rb"--|[\w.%+\[\]-]+=(?!=|$)")
FORM_SENT = "the body was sent as a form: the service reads JSON, so sign and send one JSON text"
OBJECT_SENT = "the body was sent as an object is printed: sign and send the text of JSON.stringify or json.dumps"
_OBJECTS_MAX = 24  # that are tried for one form


def not_json(body: bytes) -> str:
    """Say what was sent instead of the JSON that was probably signed; empty when the body's form does not show it."""
    if body.startswith((b"[object ", b"{'")):
        return OBJECT_SENT
    return FORM_SENT if _IS_FORM.match(body) else ""


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
    for chosen in islice(product(*written), _OBJECTS_MAX) if fields else ():
        text = object_of(chosen)
        yield from encodings(text)
        yield from encodings(in_order(text))


def _as_json(value: Any) -> list[bytes]:
    """The texts of a value of a form, the likeliest first."""
    text = json.dumps(value, ensure_ascii=False).encode()
    if not isinstance(value, str):
        return [text]
    if is_number(value) and len(value) < DIGITS_MAX:
        return [value.encode(), text, *([b"true"] if value == "1" else ())]
    if value.lower() in ("true", "false"):
        return [value.lower().encode(), text]
    if value in ("", "None", "null"):
        return [text, b"null"] if not value else [b"null", text]
    return [text, *([json.dumps(value.split(",")).encode()] if "," in value else ())]
