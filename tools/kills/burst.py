"""A burst: 200 callbacks are due at one instant, their receiver hangs, and servers are killed while they send.

No callback may end without its request having arrived, and an attempt is on record only when its request could leave.
"""

import asyncio
import json
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from simulator.http_client.slots import PER_RECEIVER
from tests.support.processes import ask
from tests.support.receivers import Answer, Got, Receiver
from tools.kills.books import SANDBOX, Attempt, read_books
from tools.kills.connection import Connection
from tools.kills.frequent_snapshots import SERVER
from tools.kills.idle_server import advance_until_idle, complaints_on_disk, save_tape
from tools.kills.server import Died, Server, begin, is_ready

CALLBACKS = 200
SCENARIO = Path(__file__).with_name("burst.yaml")


@dataclass
class Burst:
    """The folder and the receiver of a burst. `arrivals` counts requests by refid. The first entry of `complaints` ends
    the burst."""

    seed: int
    folder: Path
    program: Sequence[str] = tuple(SERVER)
    durability: str = "process"
    counts: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    arrivals: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)  # noqa: S311  # dice
        self.is_answering = False
        self.on_arrival: Callable[[], object] = lambda: None
        self.receiver = Receiver(judge=self._judge)

    async def run(self, kills: int) -> None:
        """Kill `kills` servers while the receiver hangs, then let it answer. Findings are in `complaints`."""
        await self.receiver.start()
        (self.folder / "market.yaml").write_text(SCENARIO.read_text().replace('"URL"', f'"{self.receiver.url}"'))
        try:
            for _ in range(kills):
                if not self.complaints:
                    await self._killed()
            if not self.complaints:
                await self._answered()
        except Died as died:
            self.complaints.append(str(died))
        finally:
            await self.receiver.stop()

    def _judge(self, got: Got) -> Answer:
        self.arrivals[got.data["refid"]] += 1
        self.on_arrival()
        return 200 if self.is_answering else None

    async def _killed(self) -> None:
        """Kill a server when some of the requests that it may send side by side have arrived."""
        sent = self.arrivals.total() + self.draw.randint(1, PER_RECEIVER)
        server = await begin(self.folder, self.program, self.durability)

        def on_arrival() -> None:
            if self.arrivals.total() >= sent:
                self.on_arrival = lambda: None  # a second kill would take the exit status of the first
                server.kill()

        try:
            await self._begun(server)
            if not self.counts["kills"]:
                await _pay(server)
                await asyncio.to_thread(_let_callbacks_be_due, server)
            self.counts["kills"] += 1
            self.on_arrival = on_arrival
            on_arrival()
            await server.ended()
        finally:
            server.kill()
            await server.process.wait()

    async def _begun(self, server: Server) -> None:
        before = self.arrivals.copy()  # requests that arrive from now on may be this server's
        if not await is_ready(server):
            await server.ended()
        books = await asyncio.to_thread(read_books, server.url)
        self.complaints += [
            *books.violations,
            *_sent(before, books.attempts, PER_RECEIVER * self.counts["kills"]),
            *([] if self.is_answering else _hanging(books.attempts)),
        ]

    async def _answered(self) -> None:
        """Let the receiver answer, run a server until it is idle, and judge its records."""
        self.on_arrival, self.is_answering = lambda: None, True
        server = await begin(self.folder, self.program, self.durability)
        try:
            await self._begun(server)
            await advance_until_idle(server)
            books = await asyncio.to_thread(read_books, server.url)
            self.complaints += [*books.violations, *_afterwards(self.arrivals, books.attempts)]
            await save_tape(server, self.folder / "end.tape")
            server.stop()
            await server.ended(signal.SIGTERM)
        finally:
            server.kill()
            await server.process.wait()
        self.counts["callbacks"] += CALLBACKS
        self.counts["attempts"] += len(books.attempts)
        self.counts["attempts cut short"] += sum(one.ending == "interrupted" for one in books.attempts)
        self.counts["received"] += self.arrivals.total()
        problems, _ = await asyncio.to_thread(complaints_on_disk, self.folder / "end.tape", self.folder / "data")
        self.complaints += problems


async def _pay(server: Server) -> None:
    host, port = server.key.host.rsplit(":", 1)
    connection = Connection(host, int(port))
    for number in range(CALLBACKS):
        order = {"refid": f"burst-{number}", "product": "RELOAD", "account": "0137654321", "amount": 5}
        answer = await connection.ask(server.key.request("POST", "/v2/topup", order))
        assert answer.status == 200, answer
    connection.close()


def _let_callbacks_be_due(server: Server) -> None:
    """Let the clock run from an hour later on, so that every callback is due at once."""
    url = f"{server.url}{SANDBOX}/clock"
    now = datetime.fromisoformat(ask(url).json["now"]) + timedelta(hours=1)
    body = json.dumps({"mode": "real", "now": now.isoformat()}).encode()
    answer = ask(url, "PUT", body, {"content-type": "application/json"})
    assert answer.status == 200, answer


def _hanging(attempts: list[Attempt]) -> Iterator[str]:
    """Yield complaints about attempts that ended though their receiver answers nothing."""
    ends = {one.ending for one in attempts} - {None, "interrupted"}
    yield from (f"the receiver answered nothing, and an attempt ended by {ending}" for ending in ends)


def _sent(arrivals: Counter[str], attempts: list[Attempt], attempts_max: int) -> Iterator[str]:
    """Yield complaints about a server whose predecessors, which were killed, can have sent `attempts_max` requests."""
    ends = Counter(one.ending for one in attempts)
    if ends["interrupted"] > attempts_max:
        yield f"{ends['interrupted']} attempts are on record, and {attempts_max} requests at most can have left"
    if ends[None] > PER_RECEIVER:
        yield f"{ends[None]} attempts are in flight, and {PER_RECEIVER} requests at most can have left"
    of_refid = Counter(one.refid for one in attempts)
    for refid, count in arrivals.items():
        if count > of_refid[refid]:
            yield f"{count} callbacks of {refid} arrived, of which the server knows {of_refid[refid]}"


def _afterwards(arrivals: Counter[str], attempts: list[Attempt]) -> Iterator[str]:
    """Yield complaints about an idle server whose receiver answered in the end."""
    latest = {one.refid: one for one in sorted(attempts, key=lambda one: one.number)}
    for number in range(CALLBACKS):
        refid = f"burst-{number}"
        if not arrivals[refid]:
            yield f"the callback of {refid} never arrived"
        if refid not in latest or latest[refid].status != 200:
            yield f"the callback of {refid} was not delivered: {latest.get(refid)}"
