"""Every link of the documents, followed: from a response that was played, with its values, to one that succeeds."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from simulator.contract.openapi import CONTROL, OPENAPI, bundled
from simulator.contract.schemas import at_pointer
from tests.support.client import Response
from tests.support.played import METHODS, Exchange, Player, player
from tests.support.stories import stories_with

Link = Mapping[str, Any]


class Followed(Exception):
    """Ends a story."""


def operations(document: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Path, method and operation by operationId."""
    return {
        item[method]["operationId"]: (path, method, item[method])
        for path, item in bundled(document)["paths"].items()
        for method in METHODS
        if method in item
    }


def links() -> list[tuple[str, str, str, str]]:
    return [
        (document, name, status, link)
        for document in (OPENAPI, CONTROL)
        for name, (_, _, operation) in operations(document).items()
        for status, response in operation["responses"].items()
        for link in response.get("links", ())
    ]


def value(expression: Any, exchange: Exchange) -> Any:
    """Return the value of a runtime expression; None when the exchange lacks it. Members of objects count, too."""
    if isinstance(expression, dict):
        return {name: value(each, exchange) for name, each in expression.items()}
    if isinstance(expression, list):
        return [value(each, exchange) for each in expression]
    if not isinstance(expression, str) or not expression.startswith("$"):
        return expression
    source, _, pointer = expression.partition("#")
    if source.startswith("$request.path."):
        return exchange.path_values.get(source.removeprefix("$request.path."))
    try:
        return at_pointer({"$request.body": exchange.body, "$response.body": exchange.answer}[source], pointer)
    except LookupError:
        return None


def lacks(found: Any) -> bool:
    if isinstance(found, dict | list):
        return any(map(lacks, found.values() if isinstance(found, dict) else found))
    return found is None


def follow(p: Player, document: str, link: Link, exchange: Exchange) -> Response | None:
    """The response to the linked request; None when this exchange has not all that the link needs."""
    path, method, operation = operations(document)[link["operationId"]]
    values = {name: value(each, exchange) for name, each in link.get("parameters", {}).items()}
    wanted = link.get("requestBody", link.get("x-request-body"))
    body = value(wanted, exchange)
    if lacks(values) or (wanted is not None and lacks(body)):
        return None
    for name in list(values):
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", str(values.pop(name)))
    known = [each.get("name", each.get("$ref", "").rpartition("/")[2].lower()) for each in operation["parameters"]] if (
        values
    ) else []  # fmt: skip
    assert set(values) <= set(known), "a link names parameters that the operation has"
    target = f"{path}?{urlencode(values)}" if values else path
    signed = document == OPENAPI and operation.get("security") != []
    send: Callable[..., Response] = p.call if signed else p.send
    return send(method.upper(), target, body)


@pytest.mark.slow
@pytest.mark.parametrize(("document", "name", "status", "link"), links())
def test_a_link_leads_to_a_request_that_succeeds(document: str, name: str, status: str, link: str) -> None:
    path, method, operation = operations(document)[name]
    described: Link = operation["responses"][status]["links"][link]
    refused: list[str] = []

    def succeeds(p: Player, exchange: Exchange) -> bool:
        if (exchange.document, exchange.operation.get("operationId"), str(exchange.status)) != (document, name, status):
            return False
        response = follow(p, document, described, exchange)
        if response is None:
            return False
        if response.status >= 300:
            refused.append(f"{response.status} {json.loads(response.body)}")
        return response.status < 300

    stories = stories_with(document, method, path)
    assert any(leads_there(story, needed, succeeds) for story, needed in stories), refused or "it was never possible"


def leads_there(story: Any, needed: Mapping[str, Any], succeeds: Callable[[Player, Exchange], bool]) -> bool:
    """Whether a link can be followed at some point of a story; a story ends there."""
    following = False

    def seen(exchange: Exchange) -> None:
        nonlocal following
        if not following:
            following = True
            if succeeds(p, exchange):
                raise Followed
            following = False

    with player(seen, **needed) as p:
        try:
            story(p)
        except Followed:
            return True
    return False


def test_created_objects_link_to_their_later_states() -> None:
    found = {(name, link) for _, name, _, link in links()}
    assert {("createPayment", link) for link in ("requery", "dispute", "void")} <= found
    assert {("addReseller", link) for link in ("deposit", "settings", "addKey")} <= found
    assert {("createSandbox", link) for link in ("show", "clock", "rules", "requests", "remove")} <= found
    assert {("listDeliveries", "replay"), ("listSandboxDeliveries", "replay"), ("getInbox", "next")} <= found
