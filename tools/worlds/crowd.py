"""A crowd of clients that share a data folder: they pay, rewind, fork, reset and delete sandboxes during snapshots.

A crowd runs in rounds of actions that begin at about the same virtual time, so each seed determines the order of the
actions. In every second crowd all actions use the same sandbox. After each round the process is killed. Its folder and
the tapes in memory must restore every sandbox, payment by payment. A copy from the middle of a round must be usable as
well.
"""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from simulator.app import build_app
from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.http_client.slots import Turn
from simulator.options import Options
from simulator.persistence import keeper, reader, rewinding, snapshot_schedule
from simulator.persistence.data_folder import DataFolder
from simulator.persistence.errors import StoreError
from simulator.persistence.maintenance import check
from simulator.persistence.restoration import CannotResume, Restorer
from simulator.persistence.snapshot import forked_writer
from simulator.persistence.snapshot.forked_writer import Parts
from simulator.persistence.store import Store
from simulator.runtime.live_sandbox import LiveSandbox
from simulator.runtime.lives import SandboxSpec
from tests.support.client import Client, Response, compiled
from tests.support.replaying import replayed
from tests.support.stores import as_killed
from tests.support.taped_plays import FIRST
from tests.support.wall import START
from tools.worlds.background import LoopWorker, beside_nothing
from tools.worlds.loop import Stalled, virtual_loop
from tools.worlds.randomness import drawn_for
from tools.worlds.sandbox_view import view_of

BOXES = ("default", "box-a", "box-b", "box-c")
MARKS = ("early", "late")
BOXES_AT_ONCE = 2
AT_ONCE_MAX = 8
PATIENCE_S = 3600.0
DELAYS_S = (0.0, 0.0, 0.0, 0.01, 0.3)
KILLED_EVERY = 40
"""The process is also killed at a commit with a probability of 1 in this number."""


class Silent:
    """A network whose attempts all fail."""

    def turn(self, url: str, owner: str) -> Turn:
        return nullcontext(lambda: False)

    async def send(self, outgoing: OutgoingRequest, timeout_s: float, owner: str) -> AttemptResult:
        """Fail."""
        return AttemptResult(AttemptEnd.CONNECTION, error="nobody is there")


class Crowd:
    """A crowd. `problems` are sentences about what was wrong; `counts` has the number of successful actions of each
    kind."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._draw = drawn_for("crowd", seed)
        self._is_of_travellers = seed % 2 == 1
        self._delays = drawn_for("delays of a crowd", seed)
        self._folder = folder
        self.loop = virtual_loop(seed)
        self.worker = LoopWorker(self.loop, self._delay_s)
        self.problems: list[str] = []
        self.counts: dict[str, int] = {}
        self._killed = count()
        self._kept = DataFolder(folder / "data", "process", self._failed, lambda line: None)
        self._store = self._kept._store
        self._request = self._store.request_commit
        self._store.request_commit = self._commit  # type: ignore[method-assign]
        scenario = compiled({"extends": "default"} | FIRST)
        self._app = build_app(Options(), self.wall, Silent(), scenario=scenario, wrap_sender=self._kept.gated)
        for box in BOXES[1 : 2 if self._is_of_travellers else None]:
            self._app.sandboxes.create(SandboxSpec(scenario, box))
        self._kept.keep(self._app)
        self.loop.call_soon(self._kept.start)
        self.loop.call_soon(self._app.sandboxes.start, self.loop.time)
        self.loop.settle()
        self._client = Client(self._app, self.wall, cast(asyncio.Runner, None))
        self._refids = count(1)
        self._boxes = list(BOXES)

    def wall(self) -> Any:
        """Return the wall-clock time."""
        return START + timedelta(microseconds=self.loop.now_us)

    def round(self) -> None:
        """Run some actions at once, then kill the process."""
        if not self.problems:
            self._boxes = self._draw.sample(BOXES, 1 if self._is_of_travellers else BOXES_AT_ONCE)
            possible = _TRAVELS if self._is_of_travellers else _ACTS
            chosen = [self._draw.choice(possible) for _ in range(self._draw.randint(2, AT_ONCE_MAX))]
            acts = [self._later(act, self._drawn_box()) for act in chosen]
            try:
                self.loop.run(self._all(acts), PATIENCE_S)
                self.loop.run(self._kept.gate.until_durable(), PATIENCE_S)
            except Stalled as stalled:  # as a gate that has closed lets nothing end
                self.problems.append(str(stalled))
            self.problems += self._differences()

    def close(self) -> None:
        """Stop the process as a server stops."""
        self.loop.run(self._app.sandboxes.close(), PATIENCE_S)
        self._kept.close()
        if not self.problems:
            self.problems += check(self._folder / "data").problems
        self.loop.bury()

    # Actions

    async def _all(self, acts: list[Any]) -> None:
        for error in await asyncio.gather(*acts, return_exceptions=True):
            if error is not None:
                self.problems.append(f"{type(error).__name__}: {error}")

    async def _later(self, act: "Act", box: str) -> None:
        await asyncio.sleep(self._delay_s())
        await act(self, box)

    def _delay_s(self) -> float:
        return self._delays.choice(DELAYS_S)

    def _drawn_box(self) -> str:
        return self._draw.choice(self._boxes)

    async def _asked(self, what: str, method: str, path: str, body: Any = None) -> Response:
        """Send a request to the control API; the client validates the answer."""
        answer = await self._client.asim(method, path, body)
        key = f"{what} {answer.status}"
        self.counts[key] = self.counts.get(key, 0) + 1
        return answer

    async def pay(self, box: str) -> None:
        """Pay at a sandbox."""
        body = {"refid": f"r{next(self._refids)}", "product": "RELOAD", "account": "0123456789", "amount": "10"}
        await self._client.acall("POST", "/v2/topup", body, sandbox=box)

    async def pay_often(self, box: str) -> None:
        """Pay several times at a sandbox."""
        for _ in range(5):
            await self.pay(box)
            await asyncio.sleep(self._delay_s())

    async def advance(self, box: str) -> None:
        """Advance its clock."""
        await self._asked("advance", "POST", f"/sandboxes/{box}/clock/advance", {"seconds": 20})

    async def create(self, box: str) -> None:
        """Create a sandbox."""
        await self._asked("create", "POST", "/sandboxes", {"id": box})

    async def fork(self, box: str) -> None:
        """Fork a sandbox, in most cases from its present."""
        moments: list[dict[str, Any]] = [{}, {}, {"n": 4}, {"mark": self._draw.choice(MARKS)}]
        wanted = {"id": self._draw.choice(BOXES), "fork": {"of": box, **self._draw.choice(moments)}}
        await self._asked("fork", "POST", "/sandboxes", wanted)

    async def rewind(self, box: str) -> None:
        """Rewind to an earlier place."""
        live = self._app.sandboxes.find(box) or self._app.sandboxes.get("default")
        last, started = len(live.tape), live.beginning.started
        to = started + (live.clock.now() - started) * self._draw.random()
        moments = [{"n": last}, {"n": max(0, last - 3)}, {"n": last // 2}, {"mark": self._draw.choice(MARKS)}]
        moment = self._draw.choice([*moments, *[{"to": to.isoformat()}] * 2])
        await self._asked("rewind", "POST", f"/sandboxes/{box}/rewind", moment)

    async def mark(self, box: str) -> None:
        """Mark the present."""
        await self._asked("mark", "POST", f"/sandboxes/{box}/marks", {"name": self._draw.choice(MARKS)})

    async def unmark(self, box: str) -> None:
        """Delete a mark."""
        await self._asked("unmark", "DELETE", f"/sandboxes/{box}/marks/{self._draw.choice(MARKS)}")

    async def reset(self, box: str) -> None:
        """Reset the sandbox."""
        await self._asked("reset", "POST", f"/sandboxes/{box}/reset")

    async def delete(self, box: str) -> None:
        """Delete the sandbox."""
        await self._asked("delete", "DELETE", f"/sandboxes/{box}")

    async def snapshot(self, box: str) -> None:
        """Write a snapshot."""
        live = self._app.sandboxes.find(box)
        if live is not None and not live.is_closed and self._kept._schedule is not None:
            is_taken = await self._kept._schedule.save(live)
            self.counts["snapshots"] = self.counts.get("snapshots", 0) + is_taken

    async def pieces(self, parts: Parts) -> AsyncIterator[tuple[str, bytes]]:
        """Yield the parts of a snapshot in sequence, all as of the same moment."""
        made = list(parts())
        for name, content in made:
            if self._delays.random() < 0.1:
                await asyncio.sleep(self._delay_s())
            if content:
                yield name, content

    # State after a kill

    def _commit(self, on_commit: Callable[[StoreError | None], object]) -> None:
        self._request(on_commit)
        if self._draw.random() < 1 / KILLED_EVERY:
            self._resumed()

    def _differences(self) -> list[str]:
        now = {live.id: _seen(live) for live in self._app.sandboxes}
        return [*_unlike(now, self._resumed(), "after a restart"), *_unlike(now, self._replayed(), "by its tape")]

    def _replayed(self) -> dict[str, dict[str, Any]]:
        """Rebuild the sandboxes from the tapes in memory, without snapshots."""
        found = {}
        for live in self._app.sandboxes:
            player, difference = replayed(self._app, live)
            self.problems += [] if difference is None else [f"{live.id}: {difference}"]
            found[live.id] = view_of(player.live) | {"marks": list(live.marks)}  # which no tape has
        return found

    def _resumed(self) -> dict[str, dict[str, Any]]:
        """Start on a copy of the folder and return its sandboxes."""
        copy = as_killed(self._folder / "data", self._folder / f"killed-{next(self._killed)}")
        found = {}
        try:
            with Store(copy, version="crowd") as store:
                resuming = Restorer(
                    store.reader, self._app.replayer, self._app.sandboxes.surroundings, self._app.scenario
                )
                for one in store.reader.lives():
                    resumed = resuming.restore(one)
                    resumed.player.end()
                    found[one.sandbox] = _seen(resumed.player.live)
                    self.problems += resumed.passed_over
        except (CannotResume, StoreError) as error:
            self.problems.append(str(error))
        shutil.rmtree(copy)
        return found

    def _failed(self, error: StoreError) -> None:
        self.problems.append(f"the gate closed: {error}")


Act = Callable[[Crowd, str], Any]
Seen = Mapping[str, Mapping[str, Any]]  # by sandbox, and by the name of what was seen

_ACTS: tuple[Act, ...] = (
    *[Crowd.pay] * 2, *[Crowd.pay_often] * 3, *[Crowd.fork] * 5, *[Crowd.rewind] * 5, *[Crowd.snapshot] * 4,
    *[Crowd.mark] * 3, *[Crowd.create] * 2, *[Crowd.advance] * 2, Crowd.reset, Crowd.delete, Crowd.unmark,
)  # fmt: skip
_TRAVELS: tuple[Act, ...] = (
    *[Crowd.pay_often] * 5, *[Crowd.rewind] * 5, *[Crowd.fork] * 3, *[Crowd.mark] * 2, Crowd.snapshot, Crowd.delete,
)  # fmt: skip


def _seen(live: LiveSandbox) -> dict[str, Any]:
    return view_of(live) | {"marks": list(live.marks)}


def _unlike(now: "Seen", other: "Seen", what: str) -> list[str]:
    """Return the differences between two states of the sandboxes."""
    return [
        f"{box}: {name}: {now.get(box, {}).get(name)} was {other.get(box, {}).get(name)} {what}"
        for box in sorted(now.keys() | other.keys())
        for name in now.get(box) or other[box]
        if now.get(box, {}).get(name) != other.get(box, {}).get(name)
    ]


@contextmanager
def crowd(seed: int) -> Iterator[Crowd]:
    """Run a crowd of this seed, and close it afterwards."""
    folder = Path(tempfile.mkdtemp())
    made = Crowd(seed, folder)
    try:
        with (
            beside_nothing(made.worker),
            patch.object(snapshot_schedule, "pieces_apart", made.pieces),
            patch.object(forked_writer, "CAN_FORK", new=False),
            patch.object(keeper, "WRITTEN_AT_ONCE", 4),
            patch.object(reader, "SLICE_ROWS", 4),
            patch.object(rewinding, "PLAYED_AT_ONCE", 2 if seed % 2 else 7),
        ):
            yield made
            made.close()
    finally:
        shutil.rmtree(folder)


def problems_of(seed: int, rounds: int) -> list[str]:
    """Return the problems of a seed after this many rounds."""
    with crowd(seed) as made:
        for _ in range(rounds):
            made.round()
    return made.problems
