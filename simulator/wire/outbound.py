"""Transaction callbacks and webhook deliveries as HTTP requests (SPEC 6.1, 6.3)."""

from datetime import datetime
from functools import lru_cache
from typing import ClassVar
from urllib.parse import quote, urlsplit, urlunsplit

import msgspec

from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import Job, OutgoingRequest
from simulator.domain.model.transactions import PaymentResult, Transaction
from simulator.domain.model.webhooks import Delivery, Event, Signature
from simulator.wire import payment_answers, webhook_bodies
from simulator.wire.formats import encode, number
from simulator.wire.webhook_signature import signed

USER_AGENT = "reseller-sim"


def callback(job: Callback, source_address: str) -> OutgoingRequest:
    """Return the request of an attempt: GET with four query parameters, or POST with a JSON body.

    A query in the configured URL is preserved, ours is appended.
    """
    headers = _common_headers(source_address)
    if job.method == "GET":
        return OutgoingRequest("GET", _with_query(job.url, _query(job)), headers[:-1])
    return OutgoingRequest("POST", job.url, headers, encode(payment_answers.callback(job.transaction, job.result)))


def webhook(job: Delivery, scheme: Signature, at: datetime, source_address: str) -> OutgoingRequest:
    """Return the request of an attempt, signed with the current secret; `at` is the receiver's present."""
    body = event_body(job.event)
    signature = signed(scheme, job.webhook.secret, job.event.id, at, body)
    headers = (*_common_headers(source_address), *signature)
    return OutgoingRequest(webhook_bodies.METHOD, job.url, headers, body)


class CallbackRequest(msgspec.Struct, frozen=True, gc=False):
    """The request of a POST callback. Its body is rendered when it is read, from values that do not change: the tape
    keeps many."""

    url: str
    headers: tuple[tuple[str, str], ...]
    transaction: Transaction
    result: PaymentResult
    method: ClassVar[str] = "POST"
    verifies: ClassVar[bool] = True

    @property
    def body(self) -> bytes:
        """Return the body as it was sent."""
        return encode(payment_answers.callback(self.transaction, self.result))


def without_body(job: Job, request: OutgoingRequest) -> OutgoingRequest | CallbackRequest:
    """Return the request of an attempt in the form that takes least memory."""
    if isinstance(job, Callback) and request.body is not None:
        return CallbackRequest(request.url, request.headers, job.transaction, job.result)
    return request


@lru_cache(maxsize=64)
def _common_headers(source_address: str) -> tuple[tuple[str, str], ...]:
    """Return the headers of every request with a body, shared by all of them: the tape keeps many requests."""
    return ("User-Agent", USER_AGENT), ("X-Forwarded-For", source_address), ("Content-Type", "application/json")


def event_body(event: Event) -> bytes:
    """Return the body of an event, the same in every attempt."""
    return encode(webhook_bodies.event(event))


def _query(job: Callback) -> str:
    message = encode(payment_answers.callback_message(job.transaction, job.result)).decode()
    parameters = {
        "refid": job.transaction.refid,
        "status": str(job.result.kind.code),
        "price": encode(number(job.result.kind.cost)).decode(),
        "message": message,
    }
    return "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items())


def _with_query(url: str, query: str) -> str:
    parts = urlsplit(url)
    own = parts.query.rstrip("&")
    return urlunsplit(parts._replace(query=f"{own}&{query}" if own else query, fragment=""))
