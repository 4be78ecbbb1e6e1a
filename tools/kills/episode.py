"""An episode: one folder, and several servers on it that are killed one after the other. The last server runs until
it is idle."""

import asyncio
import random
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.kills.books import Books, read_books
from tools.kills.client_record import ClientRecord
from tools.kills.clients import Client
from tools.kills.connection import Connection
from tools.kills.frequent_snapshots import SERVER
from tools.kills.idle_server import advance_until_idle, complaints_on_disk, save_tape
from tools.kills.judging import after_a_restart, at_the_end, nothing_untold
from tools.kills.receiver import Called, receiver
from tools.kills.server import Died, Server, begin, is_ready
from tools.kills.traveller import Traveller

CLIENTS = 4
LIFE_S = 0.4  # a server is killed after this time at the latest, counted from its readiness
START_S = 1.2  # and is killed at any moment of a start of this length, one in four times
ANSWERS_MAX = 120
CALLBACKS_MAX = 40
QUIET_CALLBACKS_MAX = 4
MOMENTS = ("moment", "answer", "callback", "quiet")
MARKET = Path(__file__).with_name("market.yaml")


@dataclass
class Episode:
    """The folder, clients and receiver of an episode. The first entry of `complaints` ends it."""

    seed: int
    folder: Path
    program: Sequence[str] = tuple(SERVER)
    durability: str = "process"
    moments: Sequence[str] = MOMENTS
    told: ClientRecord = field(default_factory=ClientRecord)
    counts: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    before: Books | None = None
    is_all_told: bool = False  # every server until now has ended by SIGTERM

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)  # noqa: S311  # dice
        self.receiver, self.called = receiver(random.Random(self.seed))  # noqa: S311
        self.clients: list[Client | Traveller] = [
            Client(f"{self.seed}-{name}", random.Random(f"{self.seed} {name}"), self.told)  # noqa: S311
            for name in "abcdefgh"[:CLIENTS]
        ]
        self.clients.append(Traveller(random.Random(f"{self.seed} traveller"), self.told))  # noqa: S311

    async def run(self, kills: int, stops: int = 0) -> None:
        """Kill `kills` servers, stop `stops` servers by SIGTERM, then run one until it is idle. Findings are in
        `complaints`."""
        await self.receiver.start()
        (self.folder / "market.yaml").write_text(MARKET.read_text().replace('"URL"', f'"{self.receiver.url}"'))
        try:
            for _ in range(kills):
                if not self.complaints:
                    await self._killed()
            for _ in range(stops):
                if not self.complaints:
                    await self._stopped()
            if not self.complaints:
                await self._rested()
        except Died as died:
            self.complaints.append(str(died))
        finally:
            await self.receiver.stop()

    async def _killed(self) -> None:
        server = await begin(self.folder, self.program, self.durability)
        try:
            self.counts["kills"] += 1
            if self.counts["kills"] > 1 and self.draw.random() < 0.25:
                await self._killed_while_it_starts(server)
            else:
                await self._judge(server)
                if not self.complaints:
                    await self._under_load(server, server.kill)
                    await server.ended()
        finally:
            server.kill()
            await server.process.wait()

    async def _killed_while_it_starts(self, server: Server) -> None:
        self.counts["kills while it starts"] += 1
        asyncio.get_running_loop().call_later(self.draw.uniform(0, START_S), server.kill)
        await server.ended()

    async def _stopped(self) -> None:
        """Stop a server by SIGTERM: everything that it did is acknowledged, and the next server has it."""
        server = await begin(self.folder, self.program, self.durability)
        try:
            await self._judge(server)
            cut_short = self.told.counts["answers cut short"]
            self.counts["stops"] += 1
            await self._under_load(server, server.stop)
            await server.ended(signal.SIGTERM)
            if self.told.counts["answers cut short"] > cut_short:
                self.complaints.append("an answer was cut short")
            self.is_all_told = not self.counts["kills"]
        finally:
            server.kill()
            await server.process.wait()

    async def _under_load(self, server: Server, end: Callable[[], object]) -> None:
        """Let all clients work until the server is gone: after a delay, at an answer or at a callback. In the quiet
        case the clients leave first, and the server ends while it only makes callbacks."""
        quiet, later = asyncio.Event(), asyncio.get_running_loop().call_later
        on_answer: Callable[[], object] = lambda: None  # noqa: E731
        kind = self.draw.choice(self.moments)
        if kind == "moment":
            later(self.draw.uniform(0, LIFE_S), end)
        elif kind == "callback":
            self.called.on_call = _at_last(self.draw.randrange(1, CALLBACKS_MAX), end)
        else:
            on_answer = _at_last(self.draw.randrange(1, ANSWERS_MAX), end if kind == "answer" else quiet.set)
        await self._worked(server, on_answer, quiet.is_set)
        if quiet.is_set():
            self.called.on_call = _at_last(self.draw.randrange(1, QUIET_CALLBACKS_MAX), end)
            later(2 * LIFE_S, end)
            await server.process.wait()
        self.called.on_call = lambda: None

    async def _worked(self, server: Server, on_answer: Callable[[], object], is_over: Callable[[], bool]) -> None:
        key = server.key
        host, port = key.host.rsplit(":", 1)
        connections = [Connection(host, int(port), on_answer) for _ in self.clients]
        pairs = zip(self.clients, connections, strict=True)
        try:
            await asyncio.gather(*(client.work(connection, key, is_over) for client, connection in pairs))
        finally:
            for connection in connections:
                connection.close()
        self.complaints += self.told.complaints

    async def _judge(self, server: Server) -> Books:
        if not await is_ready(server):
            await server.ended()
        return await self._looked_at(server)

    async def _looked_at(self, server: Server) -> Books:
        called = self.called.counted()  # later callbacks do not come from the killed server
        books = await asyncio.to_thread(read_books, server.url)
        self.complaints += after_a_restart(self.told, called, self.before, books)
        if self.is_all_told:
            self.complaints += nothing_untold(self.told, books)
        self.before = books
        return books

    async def _rested(self) -> None:
        """Run everything that is due, and check that the tape replays to the same state."""
        server = await begin(self.folder, self.program, self.durability)
        try:
            await self._judge(server)
            await advance_until_idle(server)
            books = await self._looked_at(server)
            self.complaints += at_the_end(self.told, self.called.seen, books)
            await save_tape(server, self.folder / "end.tape")
            server.stop()
            await server.ended(signal.SIGTERM)
        finally:
            server.kill()
            await server.process.wait()
        self._count(books, self.called)
        tape, data = self.folder / "end.tape", self.folder / "data"
        problems, snapshots = await asyncio.to_thread(complaints_on_disk, tape, data)
        self.counts["snapshots left"] += snapshots
        self.complaints += problems

    def _count(self, books: Books, called: Called) -> None:
        self.counts += self.told.counts
        self.counts["payments"] += len(books.payments)
        self.counts["callbacks"] += len({one.callback for one in books.attempts})
        self.counts["attempts"] += len(books.attempts)
        self.counts["attempts cut short"] += sum(one.ending == "interrupted" for one in books.attempts)
        self.counts["received"] += sum(called.counted().values())


def _at_last(count: int, act: Callable[[], object]) -> Callable[[], None]:
    """Return a function that runs `act` when it is called the `count`-th time."""
    left = count

    def counted() -> None:
        nonlocal left
        left -= 1
        if not left:
            act()

    return counted
