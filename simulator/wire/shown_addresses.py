"""Addresses as they are shown, wherever one stands: without the credentials in their query and without userinfo.

An address may be a text of its own, a value in a query or form, percent-encoded once or more, or a string in a JSON
text with its escapes.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote_plus

from simulator.wire.runs import end_of_run, run_of
from simulator.wire.secret_names import is_secret_name
from simulator.wire.secrets import MASKED
from simulator.wire.userinfo import HIDDEN, with_userinfo, without_userinfo

_LEVELS_MAX: Final = 3  # so many times an address may be percent-encoded in another one
_PERCENT: Final = f"%(?:25){{0,{_LEVELS_MAX - 1}}}"
_NAME: Final = re.compile(
    rf"""(?:[?&;]|{_PERCENT}(?:3F|26|3B)|\\u0026)([^=&;\#?"\s<>\\/]{{1,100}}?)(=|{_PERCENT}3D|\\u003d)""",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(rf"""https?(?::|{_PERCENT}3A)(?:\\?/|{_PERCENT}2F){{2}}[^\s"<>]++""", re.IGNORECASE)


_QUESTION: Final = re.compile(rf"\?|{_PERCENT}3F", re.IGNORECASE)


def _value_pattern(level: int) -> re.Pattern[str]:
    """A value that ends where the next parameter or the fragment begins: at `&` and `#`, also as they are written at
    this level of percent-encoding and below. `;` may belong to a value, so it does not end one."""
    ends = "".join(rf"|%{'25' * each}(?:26|23)" for each in range(level))
    return run_of(rf"""(?!\\u00(?:26|23){ends})(?:\\.|[^&\#"\s<>\\])""")


_VALUES: Final = tuple(_value_pattern(level) for level in range(_LEVELS_MAX + 1))


Put = Callable[[str], str]
"""Answers what is to stand in the place of a credential, as both are written in an address."""


def shown_address(url: str) -> str:
    """A receiver's URL, or `inbox:NAME`, with the values of parameters such as `token` hidden. The rest is as it was,
    so that receivers can be told apart."""
    return _with_values(without_userinfo(url), _hidden)


def shown_path(path: str) -> str:
    """A path, in which there may be parameters such as `;token=`, and addresses."""
    return _with_values(without_userinfo(path), _masked)


def shown_query(query: str) -> str:
    """A query or form, in which values may be addresses themselves."""
    return _with_values("?" + without_userinfo(query, is_query=True), _masked)[1:]


def with_shown_addresses(text: str) -> str:
    """A text in which there may be addresses; only these are changed."""
    return _ADDRESS.sub(lambda found: _with_values(found[0], _masked), without_userinfo(text))


def path_with(path: str, userinfo: Put, value: Put) -> str:
    """What `shown_path` hides, replaced by what the functions answer."""
    return _with_values(with_userinfo(path, userinfo), value)


def query_with(query: str, userinfo: Put, value: Put) -> str:
    """What `shown_query` hides, replaced by what the functions answer."""
    return _with_values("?" + with_userinfo(query, userinfo, is_query=True), value)[1:]


def addresses_with(text: str, userinfo: Put, value: Put) -> str:
    """What `with_shown_addresses` hides, replaced by what the functions answer."""
    return _ADDRESS.sub(lambda found: _with_values(found[0], value), with_userinfo(text, userinfo))


def credentials_in(text: str) -> Iterator[str]:
    """What is hidden of the queries of the addresses in a text, as it is written there."""
    for found in _ADDRESS.finditer(text):
        yield from (found[0][begins:ends] for begins, ends in _values(found[0]))


def _hidden(_: str) -> str:
    return HIDDEN


def _masked(_: str) -> str:
    return MASKED


def _with_values(address: str, put: Put) -> str:
    parts, end = [], 0
    for begins, ends in _values(address):
        parts += [address[end:begins], put(address[begins:ends])]
        end = ends
    return "".join((*parts, address[end:]))


def _values(address: str) -> Iterator[tuple[int, int]]:
    """Where the values of parameters begin and end that are secrets by their names."""
    end = 0
    question = _QUESTION.search(address)
    path_end = question.start() if question else 0
    for found in _NAME.finditer(address):
        if found.start() < end or not is_secret_name(unquote_plus(found[1])):
            continue
        value_end = end_of_run(_VALUES[_level(found[2])], address, found.end())
        if value_end == found.end() or address.startswith(MASKED, found.end()):
            continue
        end = path_end if found.end() <= path_end < value_end else value_end
        yield found.end(), end


def _level(equals: str) -> int:
    """How many times a sign is percent-encoded."""
    return 0 if not equals.startswith("%") else 1 + equals.count("25")
