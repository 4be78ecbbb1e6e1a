"""The wall clock is read once for each request that came whole."""

from datetime import datetime
from typing import Any

import pytest

from simulator.server.message import HttpRequest
from tests.support.client import running
from tests.support.wall import Wall

ORDER = {"refid": "r1", "product": "RELOAD", "account": "0123456789", "amount": "10"}


class CountedWall(Wall):
    """Counts how often it is read."""

    reads = 0

    def __call__(self) -> datetime:
        self.reads += 1
        return super().__call__()


@pytest.mark.parametrize("clock", ["real", "x60", "manual"])
@pytest.mark.parametrize(
    ("method", "target", "body"),
    [("POST", "/v2/topup", ORDER), ("GET", "/v2/balance", None), ("GET", "/v2/catalog", None)],
)
def test_a_request_reads_the_wall_once(clock: str, method: str, target: str, body: Any) -> None:
    wall = CountedWall()
    with running({"clock": clock}, wall) as client:
        content = client.encoded(body)
        headers = client.signature(method, "", content)
        pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        before = wall.reads
        making = client.app.answer_now(
            HttpRequest(method, target.encode(), pairs, dict(pairs), body=content), "127.0.0.1"
        )
        assert making is not None
        status = client.run(making)[0]
        assert (status, wall.reads - before) == (200, 1)


@pytest.mark.parametrize("clock", ["real", "x60", "manual"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/resellers/RS001/deposits", {"amount": 5}),
        ("POST", "/rules", {"section": "faults", "rule": {"when": {"path": "/v2/topup"}, "then": {"status": 500}}}),
        ("PUT", "/network/RELOAD", {"status": "Interruption"}),
        ("GET", "/transactions", None),
    ],
)
def test_a_control_request_reads_the_wall_once(clock: str, method: str, path: str, body: Any) -> None:
    wall = CountedWall()
    with running({"clock": clock}, wall) as client:
        before = wall.reads
        answer = client.sim(method, f"/sandboxes/default{path}", body)
        assert (answer.status < 300, wall.reads - before) == (True, 1), answer.body
