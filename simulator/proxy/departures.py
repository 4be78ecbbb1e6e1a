"""Where an answer or a notification departs from the contract."""

from collections.abc import Iterator

from simulator.contract.openapi import OPENAPI, load
from simulator.contract.responses import Departure, body_departures, departures, path_item
from simulator.contract.schemas import schema
from simulator.proxy.facts import first_parameters, members
from simulator.proxy.fields import value_of
from simulator.traffic.seen import Headers

DEPARTURES_MAX = 50
"""Of one message; the rest would say the same of other items of a list."""

_CALLBACK_PARAMETERS = ("refid", "status", "price", "message")
_ERRORS_FROM = 400


def of_answer(method: str, path: str, status: int, headers: Headers, answer: bytes) -> Iterator[Departure]:
    """Those of an answer whose body is unpacked. The contract has no HEAD, which an answer's body would be missing
    from."""
    if method == "HEAD":
        return
    if path_item(load(OPENAPI), path) is None and status < _ERRORS_FROM:
        yield Departure("the path", "one that the contract has", path[:200])
        return
    content_type = value_of(headers, b"content-type").decode("latin-1")
    yield from departures(OPENAPI, method, path, status, content_type, answer)


def of_callback(method: str, query: bytes, body: bytes) -> Iterator[Departure]:
    """Those of a transaction callback (SPEC 6.1)."""
    if method == "POST":
        yield from body_departures(schema("callback"), body)
    elif method == "GET":
        sent = first_parameters(query)
        yield from (Departure(name, "a parameter", "absent") for name in _CALLBACK_PARAMETERS if name not in sent)
        if "message" in sent:
            message = sent["message"].encode("utf-8", "surrogatepass")
            for one in body_departures(schema("callback-message"), message):
                yield one._replace(field=f"message: {one.field}")
    else:
        yield Departure("the method", "GET or POST", method)


def of_webhook(body: bytes) -> Iterator[Departure]:
    """Those of a webhook event (SPEC 2.13, 6.4)."""
    name = "balance-added" if members(body).get("type") == "balance.added" else "catalog-event"
    yield from body_departures(schema(name), body)
