"""The origin of a message in an inbox: whether it is a callback, a webhook or something else, its owner, and whether it
is genuine.

A signature is judged by the secrets at the arrival of the message. Callbacks are not signed (SPEC 5.5), so for a
callback the rows show what a receiver can compare.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import islice
from typing import Any, Final

from simulator.contract.body import BadJson, decode_any
from simulator.control.autopsies import OTHERS_MAX
from simulator.control.http import AT_ONCE_BYTES_MAX
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import Transaction
from simulator.domain.model.webhooks import Delivery
from simulator.runtime.inbox_messages import InboxMessage
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.wire.webhook_signature import headers_of, is_signed_with, lacking, staleness

TRIED_BYTES_MAX: Final = 4 * 1024 * 1024  # per message, which is hashed again with each secret
JSON_DEPTH_MAX: Final = 32  # an answer with more levels could not be read by our own bounds
_WEBHOOK_SECRET: Final = re.compile("[0-9a-f]{64}", re.IGNORECASE)
_IN_QUERY: Final = ("refid", "status", "price", "message")
_NEITHER: Final = "this is neither a callback nor a webhook of the service"
_UNSIGNED: Final = "callbacks are not signed: {}; accept them from the service's addresses alone, or re-query the refid"


class MessageOrigins:
    """Finds the origin of the messages on a page of an inbox."""

    def __init__(self, live: LiveSandbox) -> None:
        self._state = live.core.state
        self._scheme = live.scenario.webhooks.signature
        self._skew = live.scenario.clock.skew

    def origin_of(self, one: InboxMessage, query: Mapping[str, str], json: Any, message: Any) -> dict[str, Any]:
        """Return the known facts about a message. `json` is its decoded body, as far as it was decoded; `message` is
        the parameter of its query."""
        found = _callback_of(query, json, message)
        if found is not None:
            return self._callback(found)
        headers = {name.lower().decode("latin-1"): value.decode("latin-1") for name, value in one.headers}
        event = json if isinstance(json, dict) else {}
        is_event = isinstance(event.get("type"), str) and isinstance(event.get("data"), dict)
        if is_event or any(name in headers for name in headers_of(self._scheme)):
            return self._webhook(one, headers, event)
        return _origin("other", None, _NEITHER)

    def _callback(self, found: Mapping[str, Any]) -> dict[str, Any]:
        refid = str(found["refid"])
        holders = self._state.resellers.values()
        payments = [paid for holder in holders if (paid := holder.refids.get(refid)) is not None]
        same = [payment for payment in payments if _matches(payment, found)]
        known = same or payments
        if not known:
            reason = "this sandbox has no payment of its refid"
        elif same:
            reason = "its refid, product, account and amount match a payment of this sandbox"
        else:
            reason = "its product, account or amount differs from the payment of its refid"
        trxid = known[0].trxid if len(known) == 1 else None
        return _origin("callback", None, _UNSIGNED.format(reason), refid=refid, trxid=trxid)

    def _webhook(self, message: InboxMessage, headers: Mapping[str, str], event: Mapping[str, Any]) -> dict[str, Any]:
        ids = (headers.get("webhook-id"), event.get("id"))
        jobs = next((self._jobs[id_] for id_ in ids if isinstance(id_, str) and id_ in self._jobs), [])
        ok, reason = self._verified(message, headers, event)
        at_that_time = [job for job in jobs if any(attempt.at == message.at for attempt in job.attempts)]
        job = next(iter([*reversed(at_that_time), *reversed(jobs)]), None)
        return _origin("webhook", ok, reason, delivery=None if job is None else job.id)

    @cached_property
    def _jobs(self) -> Mapping[str, list[Delivery]]:
        """Return the deliveries of each event."""
        found: dict[str, list[Delivery]] = {}
        for job in self._state.deliveries:
            found.setdefault(job.event.id, []).append(job)
        return found

    def _verified(self, one: InboxMessage, headers: Mapping[str, str], event: Mapping[str, Any]) -> tuple[bool, str]:
        if lack := lacking(self._scheme, headers):
            return False, lack
        data = event.get("data")
        code = data.get("resellerCode") if isinstance(data, dict) else None
        named = self._state.resellers.get(code) if isinstance(code, str) else None
        tries = min(OTHERS_MAX, max(1, TRIED_BYTES_MAX // (len(one.body) + 1)))
        for signer, wrong, secret in islice(self._likely_secrets(one, named), tries):
            if is_signed_with(self._scheme, secret, headers, one.body):
                if wrong:
                    return False, wrong
                if named is not None and signer not in ("", named.code):
                    return False, f"signed with the secret of {signer}, but about {named.code}"
                if stale := staleness(self._scheme, headers, one.wall + self._skew):
                    return False, f"well signed, but {stale}"
                return (
                    True,
                    f"signed with the secret of {signer}" if signer else "signed with the secret that was valid then",
                )
        return False, "the signature fits no secret of this sandbox: another secret signed, or the body was changed"

    def _likely_secrets(self, message: InboxMessage, named: Reseller | None) -> Iterator[tuple[str, str, str]]:
        """Yield the likely secrets, the likeliest first: the owner, the reason why it must not be used (empty if it
        may), and the secret."""
        for holder in (*([] if named is None else [named]), *self._state.resellers.values()):
            if holder.webhook.secret:
                yield holder.code, "", holder.webhook.secret
        if self._state.catalog_webhook.secret:
            yield "the catalog's webhook", "", self._state.catalog_webhook.secret
        since = self._state.secrets.replacements - message.replacements
        for place, secret in enumerate(self._state.secrets.former):
            if _WEBHOOK_SECRET.fullmatch(secret):
                yield "", "" if place < since else "signed with a secret that had been replaced by then", secret


def _origin(kind: str, ok: bool | None, reason: str, **known: str | None) -> dict[str, Any]:
    ids = {"refid": None, "trxid": None, "delivery": None}
    return {"kind": kind, "verified": {"ok": ok, "reason": reason}} | ids | known


def _callback_of(query: Mapping[str, str], json: Any, message: Any) -> Mapping[str, Any] | None:
    """Return the fields of a callback (SPEC 6.1), sent with POST or GET; None for any other message."""
    data = json.get("data") if isinstance(json, dict) else None
    if isinstance(data, dict) and isinstance(data.get("refid"), str) and "statusCode" in data:
        return data
    if all(name in query for name in _IN_QUERY):
        return {**(message if isinstance(message, dict) else {}), "refid": query["refid"]}
    return None


def _matches(payment: Transaction, found: Mapping[str, Any]) -> bool:
    """Return whether the fields of a callback are those of the payment."""
    try:
        is_amount = Decimal(str(found.get("amount"))) == payment.amount
    except InvalidOperation:  # comparing a signalling NaN raises, too
        return False
    return is_amount and found.get("product") == payment.product and found.get("account") == payment.account


def json_of(body: bytes) -> Any:
    """Return the decoded JSON; None when it is invalid, too long or nested too deep."""
    try:
        value = decode_any(body) if len(body) <= AT_ONCE_BYTES_MAX else None
    except BadJson:
        return None
    return value if _is_within(value, JSON_DEPTH_MAX) else None


def _is_within(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    children = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_within(child, levels - 1) for child in children)
