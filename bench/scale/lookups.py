"""What is looked up beside many transactions, and a late page of many options."""

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from itertools import cycle
from typing import Any

from bench.scale.row import Row
from bench.scale.world import START, UNLIMITED, WALLET, World
from bench.servers import BenchError
from simulator.api.call import Call
from simulator.api.options import OptionsEndpoint
from simulator.domain.commands import CreatePayment, Credit
from simulator.domain.model.transactions import PaymentAnswer
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox

TRANSACTIONS = 1_000_000
OPTIONS = 25_000
PER_PAGE = 100
PAGE_RATIO_MAX = 1.15
LOOK_UP_MS_MAX = 5.0
RUNS = 20
OK = 200
RESELLER = "RS001"
SCENARIO: Mapping[str, Any] = {
    **UNLIMITED,
    "payments": [
        {"when": {"account": {"suffix": "8"}}, "then": [{"status": "Failed"}]},
        {"then": [{"status": "Succesful"}]},
    ],
    "expect": [
        {"payments": {"status": "Succesful", "product": "RELOAD"}, "count": {"min": 1}},
        {"payments": {"status": "Failed"}, "count": {"max": 1_000_000}},
        {"calls": {"path": "/v2/topup"}, "count": {"max": 5}},
        {"outcome": "payment-failed-at-once", "count": {"min": 1}},
    ],
}
OF_SANDBOX = "/_sim/sandboxes/default"
LOOK_UPS = {
    "coverage": f"{OF_SANDBOX}/coverage",
    "expectations": f"{OF_SANDBOX}/expectations",
    "a payment by its refid": f"{OF_SANDBOX}/transactions?refid=ref-4242",
    "the latest payments": f"{OF_SANDBOX}/transactions?limit=100",
    "the resellers": f"{OF_SANDBOX}/resellers",
}


def fill(live: LiveSandbox, count: int) -> None:
    """Let the core make so many payments. Raises `BenchError` when one is refused."""
    now, step = live.core.state.now, timedelta(days=30) / count
    assert WALLET is not None
    live.apply(Credit(RESELLER, WALLET))
    for number, product in zip(range(count), cycle(("RELOAD", "RELOAD", "ELECTRIC"))):
        payer = 11_111_111 + number % (count // 4)  # no magic account
        account = f"2100{payer:08}" if product == "ELECTRIC" else f"01{payer:08}"
        order = CreatePayment(RESELLER, f"ref-{number}", product, account, "10")
        if not isinstance(answer := live.apply(order, now + step * number), PaymentAnswer):
            raise BenchError(f"payment {number} was refused: {answer.reason}")


def transactions(count: int = TRANSACTIONS) -> list[Row]:
    """Look-ups of the control API and of bills beside so many transactions."""
    world = World(SCENARIO)
    fill(world.live, count)
    rows = [
        Row(f"{name}, beside {count:,} payments", best_ms(partial(_asked, world, path)), "ms")
        for name, path in LOOK_UPS.items()
    ]

    def bill() -> None:
        query = "product=ELECTRIC&account=210012345648"
        world.run(world.answer(world.request("GET", "/v2/bill-presentment", query)))

    rows.append(Row(f"a bill, beside {count:,} payments", best_ms(bill), "ms"))
    world.close()
    return [Row(row.title, row.measured, row.unit, LOOK_UP_MS_MAX) for row in rows]


def best_ms(work: Callable[[], object]) -> float:
    """The least CPU time of several runs: what is more is the machine's other work."""
    work()
    took = []
    for _ in range(RUNS):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took) * 1e3


def _asked(world: World, path: str) -> None:
    """A GET of the control API. Raises `BenchError` when it is refused."""
    world.run(_control(world, path))


async def _control(world: World, path: str) -> None:
    target, _, query = path.partition("?")
    status, answer = 0, b""
    scope = {"type": "http", "method": "GET", "path": target, "raw_path": path.encode(), "scheme": "http"}
    scope |= {"query_string": query.encode(), "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}
    sent = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Mapping[str, Any]:
        found = next(sent, None)
        if found is None:
            await asyncio.Event().wait()  # the client stays
        assert found is not None
        return found

    async def send(message: Mapping[str, Any]) -> None:
        nonlocal status, answer
        status, answer = message.get("status", status), message.get("body", b"")

    await world.app(
        scope | {"headers": [(b"host", b"127.0.0.1")], "http_version": "1.1", "root_path": ""}, receive, send
    )
    if status != OK:
        raise BenchError(f"GET {path} answered {status}: {answer[:300]!r}")


def options(count: int = OPTIONS) -> list[Row]:
    """The last page of many options as an early one, which is as long, neither kept from an earlier answer."""
    field = {"id": "biller", "options": [], "generate": {"count": count}}
    world = World({**UNLIMITED, "catalog": {"products": [{"code": "INTERBANK", "fields": [field]}]}})
    last_page = count // PER_PAGE
    first, last = (best_ms(partial(_page, world, page)) for page in (2, last_page))
    world.close()
    return [
        Row(f"page 2 of {count:,} options", first, "ms"),
        Row(f"page {last_page} of {count:,} options", last, "ms"),
        Row(f"page {last_page} to page 2", last / first, "times", PAGE_RATIO_MAX),
    ]


def _page(world: World, page: int) -> None:
    """One page from its decoded query to the bytes of its answer."""
    live = world.live
    reseller = next(iter(live.core.state.resellers.values()))
    exchange = Exchange(at=START, method="GET", path="", query=b"", packed_headers=b"", client="")
    fields = {"product_code": "INTERBANK", "field_id": "biller", "limit": str(PER_PAGE), "page": str(page)}
    call = Call(sandbox=live, now=START, wall=START, exchange=exchange, headers={}, fields=fields, reseller=reseller)
    reply = OptionsEndpoint()(call)
    if reply.status != OK:
        raise BenchError(f"page {page} was answered {reply.status}: {reply.body!r}")
