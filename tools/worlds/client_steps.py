"""Steps of clients: pay, ask, dispute, configure, and make mistakes."""

import asyncio
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from simulator.domain.model.delivery_attempts import OutgoingRequest
from simulator.domain.model.webhooks import DeliveryState
from simulator.runtime.live_sandbox import LiveSandbox
from tools.worlds.clients import Answered, Asked
from tools.worlds.scenarios import CALLBACKS, key_of
from tools.worlds.steps import BOX, WHO, number, one_of, step
from tools.worlds.world import World

REFIDS = 60


def _account(random: Random) -> str:
    """Draw an ordinary account, whose last digit selects a rule, or a magic account."""
    if random.random() < 0.3:
        return f"0000{random.choice('00012')}{random.randrange(18):02}"
    return f"{random.randrange(1, 30):07}"


PRODUCTS = one_of(*["RELOAD", "ELECTRIC", "ELECTRIC", "WATER"] * 4, "NONE")
BEFORE_ACCOUNT = {"RELOAD": "012", "ELECTRIC": "21001", "WATER": "300", "NONE": ""}


def refid_of(place: int) -> str:
    """Return a refid, in most cases short, in some as long as allowed."""
    return f"r{place}" if place % 9 else f"r{place}".ljust(50, "x")


def payment(place: int, product: str, account: str, amount: str) -> dict[str, Any]:
    """Return the body of a topup."""
    account = BEFORE_ACCOUNT[product] + account
    return {"refid": refid_of(place), "product": product, "account": account, "amount": amount}


def asked_for(world: World, box: str, code: str, wanted: dict[str, Any]) -> Asked:
    """Return the body of a topup, and record its refid as asked for."""
    world.invariants.asked.add((box, code, wanted["refid"]))
    return Asked(box, code, "POST", "/v2/topup", msgspec.json.encode(wanted), payment=wanted)


PAY = {
    "box": BOX, "who": WHO, "refid": number(0, REFIDS), "product": PRODUCTS, "account": _account,
    "amount": one_of("5", "10", "20", "50", "100", "7.5"),
}  # fmt: skip


@step(34, **PAY)
def pay(world: World, box: str, who: str, refid: int, product: str, account: str, amount: str) -> None:
    """Pay, or ask about the payment when there is one with this refid."""
    world.clients.send(asked_for(world, box, who, payment(refid, product, account, amount)))


@step(7, box=BOX, who=WHO, place=number(0, 20))
def requery(world: World, box: str, who: str, place: int) -> None:
    """Repeat one of the latest acknowledged payments."""
    life = world.life(box)
    account = None if life is None else life.accounts.get(who)
    if account is not None and account.acknowledged:
        refids = list(account.acknowledged)
        again(world, box, who, refids[-1 - place % len(refids)])


def again(world: World, box: str, who: str, refid: str) -> "asyncio.Task[Answered] | None":
    """Repeat an acknowledged payment; return None without such a payment."""
    life = world.life(box)
    account = None if life is None else life.accounts.get(who)
    known = None if account is None else account.acknowledged.get(refid)
    if known is None:
        return None
    wanted = {"refid": refid, "product": known.product, "account": known.account, "amount": str(known.amount)}
    asked = asked_for(world, box, who, wanted)
    if not life or key_of(who) not in life.revoked:
        asked.expects = (200, 503)
    return world.clients.send(asked)


@step(2, **PAY, count=number(2, 9))
def pay_at_once(
    world: World, box: str, who: str, refid: int, product: str, account: str, amount: str, count: int
) -> None:
    """Send one payment several times at the same instant."""
    for _ in range(count):
        world.clients.send(asked_for(world, box, who, payment(refid, product, account, amount)))


@step(2, **PAY, pauses=number(1, 4), pause_s=one_of(0.0, 0.3, 4.0, 70.0), is_cut=one_of(False, False, True))
def pay_slowly(
    world: World, box: str, who: str, refid: int, product: str, account: str, amount: str,
    pauses: int, pause_s: float, is_cut: bool,
) -> None:  # fmt: skip
    """Send a payment in pieces, and sometimes disconnect before its end."""
    asked = asked_for(world, box, who, payment(refid, product, account, amount))
    world.clients.send_slowly(asked, [pause_s] * pauses, is_cut)


async def call_back(world: World, how: str, live: LiveSandbox, outgoing: OutgoingRequest) -> None:
    """Send a request that a receiver makes before it answers a callback."""
    code = next((code for code, url in CALLBACKS.items() if outgoing.url.startswith(url)), "R1")
    refid = _told_refid(outgoing)
    if how == "balance" or not refid:
        await world.clients.send(Asked(live.id, code, "GET", "/v2/balance"))
    elif how == "pay":
        wanted = payment(0, "WATER", "0000003", "5") | {"refid": f"again-{refid}"[:50]}
        if not refid.startswith("again"):
            await world.clients.send(asked_for(world, live.id, code, wanted))
    else:
        asked = [again(world, live.id, code, refid) for _ in range(2 if how == "twice" else 1)]
        for task in filter(None, asked):
            await task


def _told_refid(outgoing: OutgoingRequest) -> str:
    """Return the refid in a callback, empty for anything else."""
    if outgoing.body is None:
        return parse_qs(urlsplit(outgoing.url).query).get("refid", [""])[0]
    refid: str = msgspec.json.decode(outgoing.body)["data"].get("refid", "")
    return refid


READS = (
    "/v2/balance", "/v2/callback-url", "/v2/balance-webhook", "/v2/balance-webhook/deliveries?limit=5",
    "/v2/transactions?limit=20&date=2026-11-21", "/v2/balance-statement?limit=5&date=2026-11-21",
    "/v2/networkstatus?product=WATER", "/v2/bill-presentment?product=ELECTRIC&account=210010000001",
    "/v2/catalog?product_code=WATER", "/v2/options?product_code=RELOAD&field_id=amount",
)  # fmt: skip


@step(6, box=BOX, who=WHO, target=one_of(*READS))
def read(world: World, box: str, who: str, target: str) -> None:
    """Send a GET request."""
    world.clients.send(Asked(box, who, "GET", target))


@step(2, box=BOX, who=WHO)
def read_catalog(world: World, box: str, who: str) -> None:
    """Read the catalog, which must be the current one."""
    asked = Asked(box, who, "GET", "/v2/catalog?include_inactive=true")
    world.clients.send(asked).add_done_callback(lambda task: _compare_catalog(world, asked, task))


def _compare_catalog(world: World, asked: Asked, task: "asyncio.Task[Answered]") -> None:
    life = world.life(asked.box)
    if task.cancelled() or life is None or life.core is not asked.core or task.result().status != 200:
        return
    if life.live.is_closed or b"x-sim-rule" in task.result().lines.lower():
        return
    shown = {code: one["is_active"] for code, one in msgspec.json.decode(task.result().body)["products"].items()}
    wrong = [code for code, is_active in life.products.items() if shown.get(code, is_active) != is_active]
    if wrong:
        world.answers.problems.append(f"{asked.box}: the catalog shows {wrong} as they were before")


@step(7, box=BOX, place=number(0, 3), is_told=one_of(True, True, True, False))
def void(world: World, box: str, place: int, is_told: bool) -> None:
    """Void one of the latest payments that were answered as successful."""
    life = world.life(box)
    paid = [] if life is None else [
        one for one in life.core.state.transactions.values() if one.is_settled or not is_told
    ]  # fmt: skip
    if paid:
        one = paid[-1 - place % len(paid)]
        body = {"refid": one.refid, "refund_type": 2, "user_email": ["user@example.com"]}
        world.clients.send(Asked(box, one.reseller, "POST", "/v2/transactions/void", msgspec.json.encode(body)))


@step(2, box=BOX, who=WHO, refid=number(0, REFIDS))
def dispute(world: World, box: str, who: str, refid: int) -> None:
    """Dispute a payment."""
    body = {"refid": refid_of(refid)}
    world.clients.send(Asked(box, who, "POST", "/v2/transactions/check", msgspec.json.encode(body)))


URLS = ("http://one.example/cb", "http://two.example/cb", "inbox:callbacks", "inbox:other")


@step(1, box=BOX, who=WHO, url=one_of(*URLS), method=one_of("GET", "POST"))
def set_callback_url(world: World, box: str, who: str, url: str, method: str) -> None:
    """Set another callback URL."""
    target = f"/v2/callback-url?url={url.replace(':', '%3A').replace('/', '%2F')}&method={method}"
    world.clients.send(Asked(box, who, "POST", target))


WEBHOOK: tuple[tuple[str, str, Any], ...] = (
    ("PUT", "/v2/balance-webhook", {"url": "http://hooks.example/new"}),
    ("PUT", "/v2/balance-webhook", {"url": "inbox:webhooks"}),
    ("PATCH", "/v2/balance-webhook/enabled", {"enabled": False}),
    ("PATCH", "/v2/balance-webhook/enabled", {"enabled": True}),
    ("PATCH", "/v2/balance-webhook/enabled", {"enabled": True}),
    ("POST", "/v2/balance-webhook/rotate-secret", None),
    ("DELETE", "/v2/balance-webhook", None),
    ("POST", "/v2/low-balance-threshold?amount=50", None),
)


@step(2, box=BOX, who=WHO, change=number(0, len(WEBHOOK) - 1))
def change_webhook(world: World, box: str, who: str, change: int) -> None:
    """Set another webhook URL, or enable or disable the webhook."""
    method, target, body = WEBHOOK[change]
    world.clients.send(Asked(box, who, method, target, b"" if body is None else msgspec.json.encode(body)))


@step(3, box=BOX, who=WHO, place=number(0, 3))
def replay_delivery(world: World, box: str, who: str, place: int) -> None:
    """Replay a failed delivery; an event at most three times."""
    life = world.life(box)
    failed = [
        one
        for one in (life.core.state.deliveries if life else ())
        if one.state is DeliveryState.FAILED and one.reseller == who
    ]
    if not failed or life is None:
        return
    job = failed[-1 - place % len(failed)]
    asked = Asked(box, who, "POST", f"/v2/balance-webhook/deliveries/{job.id}/replay")
    event = job.event.id

    def count(task: "asyncio.Task[Answered]") -> None:
        if not task.cancelled() and task.result().status == 200 and life.core is asked.core:
            life.replays[event] += 1
            if life.replays[event] > 3:
                world.answers.problems.append(f"{box}: {event} was replayed {life.replays[event]} times")

    world.clients.send(asked).add_done_callback(count)


MISTAKES = ("signature", "key", "late", "json", "path", "method", "empty")


@step(4, box=BOX, who=WHO, mistake=one_of(*MISTAKES))
def mistake(world: World, box: str, who: str, mistake: str) -> None:
    """Send a request that is always refused."""
    wanted = payment(0, "RELOAD", "0000001", "5")
    asked = Asked(box, who, "POST", "/v2/topup", msgspec.json.encode(wanted), expects=(401, 503))
    match mistake:
        case "key":
            asked.key = "key-of-nobody"
        case "json":
            asked.body, asked.expects = b'{"refid": ', (400, 401, 503)
        case "empty":
            asked.body, asked.expects = b"{}", (400, 401, 503)
        case "path":
            asked.target, asked.expects = "/v2/nothing", (404,)
        case "method":
            asked.method, asked.body, asked.expects = "DELETE", b"", (405,)
    headers = world.clients.sign(asked, damaged=mistake == "signature", skew_s=-400 if mistake == "late" else 0)
    world.clients.send(asked, headers)


@step(4, box=BOX, place=number(1, 40), skew_s=one_of(0, 0, -30))
def reuse_nonce(world: World, box: str, place: int, skew_s: int) -> None:
    """Send an accepted nonce again with a new signature."""
    life = world.life(box)
    if life is None or not life.nonces:
        return
    keys = list(life.nonces)
    key, nonce = keys[-1 - (place - 1) % len(keys)]
    if not key.startswith("key-"):
        return
    asked = Asked(box, key.removeprefix("key-"), "GET", "/v2/balance", nonce=nonce, is_reused=True)
    world.clients.send(asked, world.clients.sign(asked, skew_s=skew_s))
