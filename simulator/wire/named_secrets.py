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

_MEMBER: Final = re.compile(
    rf"""("{_NAME}"\s*+:\s*+)(?!{_HIDDEN})("(?:[^"\\]|\\.)*+"?|\[[^\]]*+\]?|[^\s,{{}}\[\]"]++)""".encode(),
    re.IGNORECASE | re.DOTALL,
)
_PARAMETER: Final = re.compile(rf"((?:^|(?<=&)){_NAME}=)([^&]++)".encode(), re.IGNORECASE)


def without_named(body: bytes) -> bytes:
    """The body with the values of such members and parameters hidden."""
    body = _MEMBER.sub(rb'\1"%b"' % MASKED.encode(), body)
    return _PARAMETER.sub(rb"\1%b" % MASKED.encode(), body)


def with_named(body: bytes, replaced: Callable[[str], str]) -> bytes:
    """The body with the values of such members and parameters replaced by what `replaced` answers; one that it answers
    as it is stays as it is spelled."""

    def member(found: re.Match[bytes]) -> bytes:
        try:
            value = msgspec.json.decode(found[2], type=str)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return found[0]
        made = replaced(value)
        return found[0] if made == value else found[1] + msgspec.json.encode(made)

    def parameter(found: re.Match[bytes]) -> bytes:
        value = _unquoted(found[2])
        made = replaced(value)
        return found[0] if made == value else found[1] + quote_plus(made).encode()

    return _PARAMETER.sub(parameter, _MEMBER.sub(member, body))


def named_secrets(body: bytes) -> Iterator[str]:
    """Those values that are texts."""
    for found in _MEMBER.finditer(body):
        try:
            yield msgspec.json.decode(found[2], type=str)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    for found in _PARAMETER.finditer(body):
        yield _unquoted(found[2])


def _unquoted(value: bytes) -> str:
    return unquote_to_bytes(value.replace(b"+", b" ")).decode("utf-8", "replace")
