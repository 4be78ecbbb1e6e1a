"""Adversarial deliveries to a reseller's receivers, which leave the sandbox unchanged.

Each probe reports the receiver's answer and whether it should have accepted it: a 2xx for a forgery is a finding, and
so is rejecting a legitimate repetition.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

import msgspec
from msgspec.structs import replace

from simulator.domain.model import draw
from simulator.domain.model.callbacks import Callback
from simulator.domain.model.delivery_attempts import (
    AttemptEnd,
    AttemptResult,
    Job,
    OutgoingRequest,
    is_accepted,
)
from simulator.domain.model.resellers import Reseller
from simulator.domain.model.transactions import PaymentResult, Status, Transaction
from simulator.domain.model.webhooks import (
    BALANCE_ADDED,
    BalanceAdded,
    Delivery,
    Event,
    Webhook,
)
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.traffic_log import probe_seen
from simulator.wire import outbound
from simulator.wire.webhook_signature import STANDARD_HEADERS

OLD = timedelta(hours=1)
ONE_CENT = Decimal("0.01")


class ImpossibleProbe(Exception):
    """A probe is not possible here; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """One request of a probe. `accept` is whether the receiver should answer with a 2xx."""

    job: Job
    request: OutgoingRequest
    accept: bool


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of a probe's request."""

    sent: ProbeRequest
    result: AttemptResult

    @property
    def verdict(self) -> str:
        """`ok`, `finding`, or `inconclusive` when the receiver neither accepted nor rejected it."""
        status = self.result.status if self.result.kind is AttemptEnd.ANSWERED else None
        if self.sent.accept:
            return "inconclusive" if status is None else "ok" if is_accepted(self.result) else "finding"
        if is_accepted(self.result):
            return "finding"
        return "ok" if status is not None and 400 <= status < 500 else "inconclusive"


@dataclass(frozen=True, slots=True)
class ReceiverProbe:
    """One kind of attack: its purpose, in a sentence, and the function that builds its requests."""

    name: str
    about: str
    make: Callable[[LiveSandbox, Reseller], list[ProbeRequest]]


async def send_probe(
    live: LiveSandbox, name: str, requests: list[ProbeRequest], timeout_s: float | None
) -> list[ProbeResult]:
    """Send the requests of the probe of this name sequentially, and note them for the audit."""
    results = []
    for one in requests:
        limit_s = live.courier.timeout_s(one.job, live.clock) if timeout_s is None else timeout_s
        result = await live.courier.carry(one.job.url, one.request, live.clock, limit_s)
        live.probes.append(probe_seen(name, one.job, one.request, result, live.clock.now(), is_forged=not one.accept))
        results.append(ProbeResult(one, result))
    return results


def _callback(live: LiveSandbox, job: Callback, *, accept: bool) -> ProbeRequest:
    return ProbeRequest(job, live.courier.request(job, live.clock.wall()), accept)


def _paid(live: LiveSandbox, reseller: Reseller) -> Transaction:
    """Return the latest settled payment whose callbacks were sent to the receiver."""
    if not reseller.callback.url:
        raise ImpossibleProbe("the reseller has no callback URL")
    for transaction in reversed(reseller.history.transactions):
        if transaction.is_settled and len(transaction.results) > 1:
            return transaction
    raise ImpossibleProbe("there is no settled payment to build on; make one and let it succeed")


def _job(reseller: Reseller, transaction: Transaction, result: PaymentResult | None = None) -> Callback:
    config = reseller.callback
    return Callback(
        id="probe",
        transaction=transaction,
        result=result or transaction.result,
        url=config.url,
        method=config.method,
    )


def _unknown_refid(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    forged = copy(_paid(live, reseller))
    forged.refid = "forged-" + draw.digits(live.seed, 12, "probe", reseller.code)
    return [_callback(live, _job(reseller, forged), accept=False)]


def _wrong_amount(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    forged = copy(_paid(live, reseller))
    forged.amount = forged.amount * 10 + 1
    return [_callback(live, _job(reseller, forged), accept=False)]


def _duplicate(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    job = _job(reseller, _paid(live, reseller))
    return [_callback(live, job, accept=True), _callback(live, job, accept=True)]


def _out_of_order(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    transaction = _paid(live, reseller)
    code = live.core.state.codes[Status.PROCESSING]
    kind = msgspec.structs.replace(transaction.results[0].kind, status=Status.PROCESSING, code=code)
    earlier = msgspec.structs.replace(transaction.results[0], kind=kind)
    return [_callback(live, _job(reseller, transaction, earlier), accept=True)]


def _event(live: LiveSandbox, reseller: Reseller) -> Delivery:
    """Return a job like a genuine job, for a credit that did not happen."""
    webhook = reseller.webhook
    if not webhook.url:
        raise ImpossibleProbe("the reseller has no balance webhook")
    now = live.clock.now()
    data = BalanceAdded(reseller.code, ONE_CENT, reseller.wallet.balance, "probe")
    id_ = "evt_probe" + draw.digits(live.seed, 12, "probe", reseller.code, now.isoformat())
    return Delivery(
        id="probe",
        event=Event(id_, BALANCE_ADDED, now, data),
        reseller=reseller.code,
        webhook=webhook,
        url=webhook.url,
        retry_limit=0,
        created=now,
    )


def _unsigned(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    job = _event(live, reseller)
    request = live.courier.request(job, live.clock.wall())
    scheme = live.scenario.webhooks.signature
    unsigned = tuple(pair for pair in request.headers if pair[0] not in (scheme.header, *STANDARD_HEADERS))
    return [ProbeRequest(job, msgspec.structs.replace(request, headers=unsigned), False)]


def _wrong_signature(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    job = _event(live, reseller)
    job.webhook = Webhook(job.url, draw.secret(live.seed, "probe", reseller.code).hex(), True)
    return [ProbeRequest(job, live.courier.request(job, live.clock.wall()), False)]


def _old_timestamp(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    if live.scenario.webhooks.signature.header:
        raise ImpossibleProbe("a plain HMAC of the body carries no timestamp")
    job = _event(live, reseller)
    return [ProbeRequest(job, live.courier.webhook(job, live.courier.present(live.clock.wall()) - OLD), False)]


def _changed_body(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    job = _event(live, reseller)
    request = live.courier.request(job, live.clock.wall())
    assert isinstance(job.event.data, BalanceAdded)
    richer = replace(job.event.data, amount=job.event.data.amount + 1_000_000)
    changed = outbound.event_body(replace(job.event, data=richer))
    return [ProbeRequest(job, msgspec.structs.replace(request, body=changed), False)]


def _repeated_event(live: LiveSandbox, reseller: Reseller) -> list[ProbeRequest]:
    job = _event(live, reseller)
    return [ProbeRequest(job, live.courier.request(job, live.clock.wall()), True) for _ in range(2)]


PROBES: tuple[ReceiverProbe, ...] = (
    ReceiverProbe("callback-unknown-refid", "a payment that you never made: look the refid up", _unknown_refid),
    ReceiverProbe(
        "callback-wrong-amount", "your refid with another amount: check product, account, amount", _wrong_amount
    ),
    ReceiverProbe(
        "callback-duplicate", "the same callback twice: process each refid once, answer 2xx again", _duplicate
    ),
    ReceiverProbe(
        "callback-out-of-order", "an earlier status after the final status: answer 2xx, keep the final", _out_of_order
    ),
    ReceiverProbe("webhook-unsigned", "without any signature: refuse it", _unsigned),
    ReceiverProbe("webhook-wrong-signature", "signed with another secret: verify the signature", _wrong_signature),
    ReceiverProbe("webhook-old-timestamp", "well signed, an hour old: check the timestamp", _old_timestamp),
    ReceiverProbe(
        "webhook-changed-body", "changed after it was signed: verify over the body as it came", _changed_body
    ),
    ReceiverProbe(
        "webhook-repeated-event", "a genuine event twice: take its id once, answer 2xx again", _repeated_event
    ),
)
