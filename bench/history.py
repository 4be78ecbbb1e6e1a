"""`python -m bench.history`: what a page of history and statement costs beside few transactions and beside many.

The payments are made by the core itself, spread over thirty days; a search is timed from its decoded query to the bytes
of its answer. Beside it stands what keeping the indexes adds to one payment.
"""

import argparse
import gc
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle
from time import process_time
from typing import Any

from bench.servers import BenchError
from simulator.api import history
from simulator.api.call import Call, Reply
from simulator.app import build_app
from simulator.domain.commands import CreatePayment
from simulator.domain.model.answers import PaymentAnswer
from simulator.domain.model.history import History
from simulator.options import Options
from simulator.runtime.journal import Exchange
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.sandboxes import DEFAULT
from simulator.scenario.library import scenario_from_object
from simulator.wire.money import encode

START = datetime(2026, 11, 1, tzinfo=UTC)
DAYS = 30
RESELLER = "RS001"
SCENARIO: dict[str, Any] = {
    "scenario": "history",
    "extends": "default",
    "clock": {"mode": "manual", "start": START.isoformat()},
    "resellers": [{"code": RESELLER, "balance": "100000000000"}],
    "payments": [
        {"when": {"account": {"suffix": "8"}}, "then": [{"status": "Failed"}]},
        {"when": {"account": {"suffix": "9"}}, "then": [{"status": "Processing"}]},
        {"then": [{"status": "Succesful"}]},
    ],
}
MONTH = "2026-11-01 - 2026-11-30"
SEARCHES: Mapping[str, tuple[Any, dict[str, Any]]] = {
    "history, newest page": (history.transactions, {"date": MONTH, "limit": "100"}),
    "history, a page in the middle": (history.transactions, {"date": MONTH, "limit": "100", "offset": "HALF"}),
    "history, ten days": (history.transactions, {"date": "2026-11-05 - 2026-11-14", "limit": "100"}),
    "history, failed and pending": (
        history.transactions,
        {"date": MONTH, "limit": "100", "status": ["FAILED", "PENDING"]},
    ),
    "history, one product": (history.transactions, {"date": MONTH, "limit": "100", "product": "WATER"}),
    "history, one account": (history.transactions, {"date": MONTH, "limit": "100", "account": "0000000042"}),
    "statement, newest page": (history.balance_statement, {"date": MONTH, "limit": "100"}),
    # A thousand payments have not many more, and the last page has no link to a next one.
    "statement, refunds": (history.balance_statement, {"date": MONTH, "limit": "50", "type": "REFUND"}),
}


def filled(count: int) -> LiveSandbox:
    """A sandbox whose reseller has made `count` payments. Raises `BenchError` when one is refused."""
    live = build_app(Options(), lambda: START, scenario=scenario_from_object(SCENARIO)).sandboxes.get(DEFAULT)
    step = timedelta(days=DAYS) / count
    for number, product in zip(range(count), cycle(("ELECTRIC", "WATER", "WATER"))):
        width = 12 if product == "ELECTRIC" else 10
        account = f"{number % max(50, count // 4):0{width}d}"
        order = CreatePayment(RESELLER, f"ref-{number}", product, account, f"{1 + number % 500}.50")
        if not isinstance(answer := live.apply(order, START + step * number), PaymentAnswer):
            raise BenchError(f"payment {number} was refused: {answer.reason}")
    return live


def search_us(live: LiveSandbox, handle: Any, fields: dict[str, Any], runs: int = 100) -> float:
    """The best of many times of one search in µs, encoding included: what is more is the machine's other work."""
    reseller = live.core.state.resellers[RESELLER]
    half = str(len(reseller.refids) // 2)
    fields = {name: half if value == "HALF" else value for name, value in fields.items()}
    exchange = Exchange(at=START, method="GET", path="", query=b"", packed_headers=b"", client="")
    call = Call(sandbox=live, now=START, wall=START, exchange=exchange, headers={}, fields=fields, reseller=reseller)
    times = []
    for _ in range(runs + 1):
        began = process_time()
        reply: Reply = handle(call)
        encode(reply.body)
        times.append((process_time() - began) * 1e6)
        if reply.status != 200:
            raise BenchError(f"{fields}: {reply.body}")
    return min(times[1:])


def indexing_us(live: LiveSandbox) -> float:
    """What the history adds to one payment, in µs: all payments are added anew, as they came."""
    reseller = live.core.state.resellers[RESELLER]
    anew, found = History(), reseller.history.transactions
    began = process_time()
    for transaction in found:
        anew.add(transaction)
    return (process_time() - began) * 1e6 / len(reseller.refids)


def column(count: int) -> list[float]:
    """Every search beside `count` transactions, and what indexing them took."""
    live = filled(count)
    return [*(search_us(live, *search) for search in SEARCHES.values()), indexing_us(live)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table: one row a search, one column a number of transactions."""
    parser = argparse.ArgumentParser(prog="python -m bench.history", description=__doc__)
    parser.add_argument("counts", nargs="*", type=int, default=[1_000, 1_000_000], help="how many transactions")
    counts: list[int] = parser.parse_args(arguments).counts
    if min(counts) < 1:
        parser.error("a count is at least 1")
    gc.disable()  # a million payments are walked through by every collection
    try:
        columns = [column(count) for count in counts]
    finally:
        gc.enable()
    names = [*SEARCHES, "(indexing, per payment)"]
    print(f"{'µs of CPU, best':32}" + "".join(f"{count:>12,}" for count in counts))
    for name, *row in zip(names, *columns, strict=True):
        print(f"{name:32}" + "".join(f"{us:12,.1f}" for us in row))


if __name__ == "__main__":
    main()
