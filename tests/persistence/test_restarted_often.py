"""A server that is stopped and killed again and again answers as one that never is, with parts so small that there are
several of everything."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simulator.domain.model import request_limits
from simulator.persistence import snapshot_schedule
from simulator.persistence.snapshot import document
from simulator.persistence.snapshot.capture import parts_of
from simulator.persistence.snapshot.document import snapshot_of
from simulator.scenario.library import scenario_from_object
from tests.support.client import Client, Response, running
from tests.support.data_folders import UNTOLD, folder_of, saving_of, serving, told
from tests.support.snapshots import differing
from tests.support.stores import as_killed
from tests.support.wall import Wall

SECRET = "c2VjcmV0LW9mLWEtcmVzZWxsZXItd2l0aC1lbm91Z2g="
KEYS = [f"key-{code}-{number}" for code in ("RA", "RB") for number in (1, 2)]
SMALL: list[tuple[Any, str, float]] = [
    (document, "SIZE", 4), (request_limits, "EXPIRED_AT_ONCE", 5), (snapshot_schedule, "LOOK_S", 1_000.0),
]  # fmt: skip


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)


def scenario(count_max: int, window_s: int, tolerance_s: int, scope: str) -> dict[str, Any]:
    resellers = [
        {"code": code, "email": f"{code}@example.com", "balance": 100_000,
         "api_keys": [{"key": key, "secret": SECRET} for key in KEYS if code in key]}
        for code in ("RA", "RB")
    ]  # fmt: skip
    request_limits = {"nonces": count_max, "nonce_window": f"{window_s}s", "timestamp_tolerance": f"{tolerance_s}s"}
    return {
        "extends": "default",
        "clock": {"mode": "manual", "start": "2026-11-21T04:00:00Z"},
        "resellers": resellers,
        "limits": request_limits | {"requests_per_interval": None},
        "assume": {"nonce-scope": scope},
    }


class Both:
    """A continuous server and a restarted server that get the same requests."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._folder, self._random, self._stack = folder, random, ExitStack()
        self._first = scenario(1_000, 60, 300, "key")
        self._served = 0
        self._steady = self._stack.enter_context(running(self._first, Wall()))
        self._serving = serving(folder, self._first, Wall())
        self._often = self._serving.__enter__()

    def end(self) -> None:
        self._serving.__exit__(None, None, None)
        self._stack.close()

    def do(self, ask: Callable[[Client], Response]) -> Response:
        one, other = ask(self._steady), ask(self._often)
        assert (one.status, UNTOLD.sub(b"", one.body)) == (other.status, UNTOLD.sub(b"", other.body))
        return one

    def pass_time(self, seconds: int) -> None:
        self.do(lambda client: client.sim("POST", "/sandboxes/default/clock/advance", {"seconds": seconds}))
        if self._random.random() < 0.7:  # the clock that timestamps are compared with
            for client in (self._steady, self._often):
                client.pass_time(seconds)

    def load(self, document: dict[str, Any]) -> None:
        for client in (self._steady, self._often):
            client.run(client.app.load(scenario_from_object(document)))

    def save(self) -> None:
        """A store written by differences equals a store written whole."""
        client = self._often
        assert client.run(saving_of(client).save(client.live))
        client.run(folder_of(client).gate.until_durable())
        reading = folder_of(client)._store.reader
        found = snapshot_of(reading.parts(reading.life("default").snapshots[-1]))
        assert not differing(found, snapshot_of(parts_of(client.live, found.n)))

    def restart(self) -> None:
        wall = self._often.wall
        assert isinstance(wall, Wall)
        if self._random.random() < 0.5:
            self._served += 1
            self._often.run(folder_of(self._often).gate.until_durable())
            killed = as_killed(self._folder, self._folder.with_name(f"killed-{self._served}"))
            self._serving.__exit__(None, None, None)
            self._folder = killed
        else:
            self._serving.__exit__(None, None, None)
        self._serving = serving(self._folder, self._first, wall)
        self._often = self._serving.__enter__()

    def compare(self) -> None:
        assert told(self._steady) == told(self._often)
        one, other = (client.live.core.state.nonces for client in (self._steady, self._often))
        known = list(one)
        assert known == list(other)
        assert len(known) == len(one) == len(other)


def pay(both: Both, random: Random, serials: Iterator[int]) -> None:
    """With a nonce or a refid that was there before, or neither; early, in time or late."""
    serial = next(serials)
    nonce, refid = (
        random.randrange(max(0, serial - 40), serial + 1) if random.random() < 0.4 else serial for _ in "ab"
    )
    key, later_s = random.choice(KEYS), random.choice([0, 0, 0, 1, -1, 50, -200, 299])
    both.do(
        lambda client: client.pay(
            f"ref-{refid}", key=key, secret=SECRET, nonce=f"the-nonce-{nonce:08}",
            timestamp=int(client.wall().timestamp()) + later_s,
        )
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_restarted_server_equals_a_continuous_server(tmp_path: Path, seed: int) -> None:
    random, serials = Random(seed), iter(range(10_000))  # noqa: S311
    both = Both(tmp_path / "data", random)
    odds = {"pay": 60, "save": 8, "restart": 8, "time": 6, "load": 3, "mark": 2, "rewind": 2, "compare": 4}
    try:
        for step in random.choices(list(odds), list(odds.values()), k=200):
            match step:
                case "pay":
                    pay(both, random, serials)
                case "time":
                    both.pass_time(random.choice([1, 30, 60, 600]))
                case "load":
                    sizes = random.choice([3, 20, 1_000]), random.choice([1, 60, 600]), random.choice([1, 60, 300])
                    both.load(scenario(*sizes, random.choice(["key", "reseller"])))
                case "mark":
                    both.do(lambda client: client.sim("POST", "/sandboxes/default/marks", {"name": "here"}))
                case "rewind":
                    both.do(lambda client: client.sim("POST", "/sandboxes/default/rewind", {"mark": "here"}))
                case other:
                    getattr(both, other)()
        both.compare()
    finally:
        both.end()
