"""Requests and responses that a page shows in blocks: what they say, and whether a response has what is shown of it.

A request is an `http` block: request line, headers, an empty line, a body. The block below it is its response: `json`
for a 200, or `http` with a status line. `…` stands for anything: a value, part of a text, the rest of a list. `{name}`
stands for the latest member of that name in a response.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.support.client import Client, Response
from tests.support.pages import Block

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_UNSIGNED = ("/v2/token", "/_sim")
ANYTHING = "…"


class Shown(NamedTuple):
    """A message of the page: its first line, headers, and body as text."""

    first: str
    headers: dict[str, str]
    body: str


class Example(NamedTuple):
    """A request, and the shown part of its response."""

    request: str
    response: str


def examples(blocks: list[Block]) -> list[Example]:
    """The requests among a page's blocks with their responses, in the page's order."""
    shown = [block.text if block.language == "http" else f"HTTP/1.1 200\n\n{block.text}" for block in blocks]
    assert len(shown) % 2 == 0, "each request has a response"
    return [Example(*pair) for pair in zip(shown[::2], shown[1::2], strict=True)]


def play(client: Client, example: Example, known: dict[str, Any]) -> None:
    """Send the request, compare the response, and remember its members in `known`."""
    wanted = message(_filled(example.response, known))
    response = _sent(client, message(_filled(example.request, known)))
    assert f"HTTP/1.1 {response.status}" == wanted.first, response.body.decode()
    for name, value in wanted.headers.items():
        assert response.headers[name.lower()] == value
    received = response.json if response.body else None
    differences = list(missing(json.loads(wanted.body) if wanted.body else None, received, ""))
    assert not differences, "; ".join(differences)
    _remember(received, known)


def message(text: str) -> Shown:
    """Parse a block into the first line, the headers and the body."""
    head, _, body = text.partition("\n\n")
    first, *lines = head.strip().splitlines()
    return Shown(first, dict(line.split(": ", 1) for line in lines), body.strip())


def missing(wanted: Any, received: Any, place: str) -> Iterator[str]:
    """Yield the members that are shown but were not received. Members that are not shown are ignored."""
    if isinstance(wanted, dict) and isinstance(received, dict):
        for name, value in wanted.items():
            if name in received:
                yield from missing(value, received[name], f"{place}.{name}")
            else:
                yield f"{place} has no {name}"
    elif isinstance(wanted, list) and isinstance(received, list):
        yield from _missing_items(wanted, received, place)
    elif not _is_like(wanted, received):
        yield f"{place} is {received!r}, not {wanted!r}"


def _missing_items(wanted: list[Any], received: list[Any], place: str) -> Iterator[str]:
    """Without `…` at its end a list is shown whole."""
    is_whole = wanted[-1:] != [ANYTHING]
    items = wanted if is_whole else wanted[:-1]
    if len(received) < len(items) or (is_whole and len(received) > len(items)):
        yield f"{place} has {len(received)} items"
    else:
        for number, (one, other) in enumerate(zip(items, received, strict=False)):
            yield from missing(one, other, f"{place}[{number}]")


def _is_like(wanted: Any, received: Any) -> bool:
    if isinstance(wanted, str) and isinstance(received, str):
        pattern = ".*".join(map(re.escape, wanted.split(ANYTHING)))
        return re.fullmatch(pattern, received, re.DOTALL) is not None
    return type(wanted) is type(received) and bool(wanted == received)


def _sent(client: Client, request: Shown) -> Response:
    method, target = request.first.split(" ", 1)
    body = request.body.encode()
    path, _, query = target.partition("?")
    if "Authorization" in request.headers or path.startswith(_UNSIGNED):
        return client.send(method, path, query, body, request.headers)
    return client.call(method, target, body, headers=request.headers)


def _filled(text: str, known: dict[str, Any]) -> str:
    return _PLACEHOLDER.sub(lambda found: str(known[found[1]]), text)


def _remember(received: Any, known: dict[str, Any]) -> None:
    """The members of a response by name: of several with one name, the outermost and first."""
    level = [received]
    fresh: dict[str, Any] = {}
    while level:
        objects = [part for part in level if isinstance(part, dict)]
        for part in objects:
            fresh = {name: value for name, value in part.items() if isinstance(value, str)} | fresh
        level = [value for part in objects for value in part.values()] + [
            item for part in level if isinstance(part, list) for item in part
        ]
    known.update(fresh)
