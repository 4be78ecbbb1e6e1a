"""Hides the userinfo of addresses, `https://user:password@host/`, wherever one stands in a text.

No receiver of ours has any, since such an address is refused; but what was refused stands in the journal. The signs of
an address may be percent-encoded, once or more, or escaped as in JSON.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import quote

from simulator.wire.runs import end_of_run, run_of
from simulator.wire.secrets import MASKED

HIDDEN: Final = quote(MASKED, safe="()")  # an address goes on behind it
_LEVELS_MAX: Final = 3  # so many times an address may be percent-encoded in another one
_PERCENT: Final = f"%(?:25){{0,{_LEVELS_MAX - 1}}}"
_QUOTED_SCHEME: Final = r"""(?P<quote>["'])(?:[a-z][a-z0-9+.-]{0,19}:)?"""
_START: Final = re.compile(
    rf"(?:{_QUOTED_SCHEME}|^|[:=\s`(]|{_PERCENT}3A|\\u003a)(?:(?:\\?/|\\u002f){{2}}|(?P<slash>{_PERCENT}2F){{2}})",
    re.IGNORECASE,
)
_AT: Final = re.compile(rf"@|{_PERCENT}40|\\u0040", re.IGNORECASE)
_COLON: Final = re.compile(rf":|{_PERCENT}3A|\\u003a", re.IGNORECASE)
# What may stand behind the colon of a host, and what a sentence may have behind an address.
_PORT: Final = re.compile(r"[0-9]*[.,;:!)'`]*")


def _run(stops: str, level: int, *, is_authority: bool) -> re.Pattern[str]:
    """What belongs to an address up to the end of its authority, or to its own end. In an encoded address the signs of
    less encoding end it, too."""
    ends = [r"\\u00(?:2f|3f|23)|\\/", *(f"%{'25' * each}(?:2F|3F|23)" for each in range(level))] if is_authority else []
    end = f"(?!{'|'.join(ends)})" if ends else ""
    delimiters = "/?#" if is_authority else ""
    return run_of(rf"{end}(?:\\.|[^{delimiters}{stops}\\])")


_PLAIN, _PARAMETER = r'\s"<>', r'\s"<>&'
_QUOTED: Final = {'"': r'"<>\r\n', "'": r"'<>\r\n"}  # there blanks may stand in a password
_RUNS: Final = {
    (stops, level): (_run(stops, level, is_authority=True), _run(stops, level, is_authority=False))
    for stops in (_PLAIN, _PARAMETER, *_QUOTED.values())
    for level in range(_LEVELS_MAX + 1)
}


def without_userinfo(text: str, *, is_query: bool = False) -> str:
    """The text with what is before the `@` of each address hidden. In a query `&` ends an address."""
    return with_userinfo(text, lambda _: HIDDEN, is_query=is_query)


def with_userinfo(text: str, put: Callable[[str], str], *, is_query: bool = False) -> str:
    """The text with what `put` answers in the place of what is before the `@` of each address."""
    if _AT.search(text) is None:
        return text
    parts, end = [], 0
    for begins, ends in _places(text, is_query=is_query):
        parts += [text[end:begins], put(text[begins:ends])]
        end = ends
    return "".join((*parts, text[end:]))


def userinfo_in(text: str) -> Iterator[str]:
    """What is before the `@` of each address, as it is written there."""
    if _AT.search(text) is not None:
        yield from (text[begins:ends] for begins, ends in _places(text, is_query=False))


def user_and_password(userinfo: str) -> tuple[str, str, str]:
    """The parts of it, and the colon between them as it is written."""
    colon = _COLON.search(userinfo)
    return (userinfo[: colon.start()], colon[0], userinfo[colon.end() :]) if colon else (userinfo, "", "")


def _places(text: str, *, is_query: bool) -> Iterator[tuple[int, int]]:
    at = 0
    while found := _START.search(text, at):
        stop, at = _userinfo(text, found, is_query=is_query)
        if stop > found.end():
            yield found.end(), stop


def _userinfo(text: str, start: re.Match[str], *, is_query: bool) -> tuple[int, int]:
    """Where the userinfo of an address ends, its beginning without any, and how far the text is read then."""
    slash = start["slash"]
    level = 1 + slash.count("25") if slash else 0
    stops = _QUOTED.get(start["quote"], _PARAMETER if is_query or level else _PLAIN)
    of_authority, of_whole = _RUNS[stops, level]
    begins = start.end()
    ends = end_of_run(of_authority, text, begins)
    if (sign := _last_at(text, begins, ends)) is None and _is_broken(text[begins:ends]):
        # A password with a raw slash or question mark in it: what looks like a path has the rest.
        ends = end_of_run(of_whole, text, begins)
        sign = _last_at(text, begins, ends)
    return begins if sign is None else sign, ends


def _last_at(text: str, begins: int, ends: int) -> int | None:
    last = None
    for found in _AT.finditer(text, begins, ends):
        last = found.start()
    return last


def _is_broken(authority: str) -> bool:
    """Whether what follows the colon is no port, so that it may be a password. IPv6 addresses have colons of their
    own."""
    colon = _COLON.search(authority)
    return colon is not None and not authority.startswith("[") and not _PORT.fullmatch(authority, colon.end())
