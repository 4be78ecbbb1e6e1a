"""The readable content of a tape: its lines, and their parts after any decoding."""

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote_to_bytes

_RUN = re.compile(rb"[A-Za-z0-9+/_-]{12,}")
_FROM_URL = bytes.maketrans(b"-_", b"+/")


def unpacked(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each line, and then the decodings of the texts in it (escapes, Base64)."""
    for line in lines:
        yield line
        for text in _texts(json.loads(line)):
            yield from _decoded(text)


def _decoded(text: bytes) -> Iterator[bytes]:
    plain = unquote_to_bytes(unquote_to_bytes(text))
    for one in {text, plain, _without_escapes(text), _without_escapes(plain)}:
        yield one
        for run in _RUN.findall(one):
            for skipped in range(4):
                part = run[skipped:].translate(_FROM_URL)
                yield b64decode(part + b"A" * (4 + -len(part) % 4))


def _texts(value: Any) -> Iterator[bytes]:
    if isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        if value.keys() == {"base64"}:
            yield b64decode(value["base64"])
        for name, one in value.items():
            yield name.encode("utf-8", "surrogatepass")
            yield from _texts(one)


def _without_escapes(text: bytes) -> bytes:
    text = re.sub(rb"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)).encode("utf-8", "surrogatepass"), text)
    return re.sub(rb"\\(.)", rb"\1", text, flags=re.DOTALL)
