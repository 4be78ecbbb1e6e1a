"""Finds what is a secret by the name of its member or parameter: passwords, tokens and secrets in JSON and in forms.

It needs no whole document: a body may be cut, broken, or sent to a path that has no such member.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import quote_plus, unquote_to_bytes

import msgspec

from simulator.wire.secret_names import MEMBERS
from simulator.wire.secrets import MASKED


def _spelled(name: str) -> str:
    """A pattern for a name, each character as it is or escaped as in JSON or in a form."""
    return "".join(rf"(?:{each}|\\u00{ord(each):02x}|%{ord(each):02x})" for each in name)


# Most names have another beginning; that is seen at once.
_NAME: Final = (
    rf"(?=[{''.join(sorted({name[0].lower() for name in MEMBERS}))}\\%])(?:{'|'.join(map(_spelled, MEMBERS))})"
)
# Null, and what is masked but for its end.
_HIDDEN: Final = r"""null\b|"\*{8,}[^"\\]{0,4}\""""

_MEMBER: Final = re.compile(rf"""("{_NAME}"\s*+:\s*+)(?!{_HIDDEN})""".encode(), re.IGNORECASE)
_TEXT: Final = rb'"(?:[^"\\]|\\.)*+"?'
_VALUE: Final = re.compile(_TEXT + rb'|[^\s,{}\[\]"]++', re.DOTALL)
_BRACKET: Final = re.compile(_TEXT + rb"|[\[\]{}]", re.DOTALL)
_PART: Final = re.compile(_TEXT + rb'|[^\s,:{}\[\]"]++', re.DOTALL)  # of a list or an object
_LITERALS: Final = (b"true", b"false", b"null")
_NUMBER: Final = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PARAMETER: Final = re.compile(rf"((?:^|(?<=&)){_NAME}=)([^&]++)".encode(), re.IGNORECASE)


def without_named(body: bytes) -> bytes:
    """The body with the values of such members and parameters hidden."""
    body = _with_members(body, lambda _: b'"%b"' % MASKED.encode())
    return _PARAMETER.sub(rb"\1%b" % MASKED.encode(), body)


def named_with(body: bytes, text: Callable[[str], str], form: Callable[[bytes], bytes]) -> bytes:
    """What `without_named` hides, replaced: a text by what `text` answers, which may be the text itself, and what is
    none, such as a broken one or a list, by `form`, as it is written."""

    def member(value: bytes) -> bytes:
        if value[:1] in (b"[", b"{"):
            return _PART.sub(lambda part: member(part[0]), value)
        if value in _LITERALS:
            return value
        if _NUMBER.fullmatch(value):
            return re.sub(rb"[0-9]+", lambda digits: form(digits[0]), value)
        return _of_text(value, text, form)

    def parameter(found: re.Match[bytes]) -> bytes:
        value = _unquoted(found[2])
        made = text(value)
        return found[0] if made == value else found[1] + quote_plus(made).encode()

    return _PARAMETER.sub(parameter, _with_members(body, member))


def _of_text(value: bytes, text: Callable[[str], str], form: Callable[[bytes], bytes]) -> bytes:
    try:
        decoded = msgspec.json.decode(value, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return form(value)
    made = text(decoded)
    return value if made == decoded else msgspec.json.encode(made)


def named_secrets(body: bytes) -> Iterator[str]:
    """Those values that are texts."""
    for begins, ends in _members(body):
        try:
            yield msgspec.json.decode(body[begins:ends], type=str)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    for found in _PARAMETER.finditer(body):
        yield _unquoted(found[2])


def _with_members(body: bytes, put: Callable[[bytes], bytes]) -> bytes:
    parts, end = [], 0
    for begins, ends in _members(body):
        parts += [body[end:begins], put(body[begins:ends])]
        end = ends
    return b"".join((*parts, body[end:])) if parts else body


def _members(body: bytes) -> Iterator[tuple[int, int]]:
    """Where the values of such members begin and end."""
    at = 0
    while found := _MEMBER.search(body, at):
        at = found.end()
        if body[at : at + 1] in (b"[", b"{"):
            ends = _end_of_brackets(body, at)
        else:
            value = _VALUE.match(body, at)
            ends = value.end() if value else at
        if ends > at:
            yield at, ends
        at = ends


def _end_of_brackets(body: bytes, begins: int) -> int:
    """Where the list or object ends; the end of a body that is cut within it."""
    depth = 0
    for found in _BRACKET.finditer(body, begins):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(found[0], 0)
        if not depth:
            return found.end()
    return len(body)


def _unquoted(value: bytes) -> str:
    return unquote_to_bytes(value.replace(b"+", b" ")).decode("utf-8", "replace")
