"""Addresses as they are shown, wherever one stands: without the credentials in their query and without userinfo.

An address may be a text of its own, a value in a query or form, percent-encoded once or more, or a string in a JSON
text with its escapes.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import quote_plus, unquote_plus

from simulator.wire.runs import end_of_run, run_of
from simulator.wire.secret_names import is_secret_name
from simulator.wire.secrets import MASKED
from simulator.wire.userinfo import HIDDEN, without_userinfo

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


def shown_address(url: str) -> str:
    """A receiver's URL, or `inbox:NAME`, with the values of parameters such as `token` hidden. The rest is as it was,
    so that receivers can be told apart."""
    return _without_values(without_userinfo(url), HIDDEN)


def shown_query(query: str) -> str:
    """A query or form, in which values may be addresses themselves."""
    return _without_values("?" + without_userinfo(query, is_query=True), MASKED)[1:]


def with_query_secrets(query: str, replaced: Callable[[str], str]) -> str:
    """A query in which the values of parameters that are secrets by their names are what `replaced` answers."""
    text, parts, end = f"?{query}", [], 0
    for begins, ends in _values(text):
        parts += [text[end:begins], quote_plus(replaced(unquote_plus(text[begins:ends])))]
        end = ends
    return "".join((*parts, text[end:]))[1:]


def with_shown_addresses(text: str) -> str:
    """A text in which there may be addresses; only these are changed."""
    return _ADDRESS.sub(lambda found: _without_values(found[0], MASKED), without_userinfo(text))


def credentials_in(text: str) -> Iterator[str]:
    """What is hidden of the queries of the addresses in a text, as it is written there."""
    for found in _ADDRESS.finditer(text):
        yield from (found[0][begins:ends] for begins, ends in _values(found[0]))


def _without_values(address: str, hidden: str) -> str:
    parts, end = [], 0
    for begins, ends in _values(address):
        parts += [address[end:begins], hidden]
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
