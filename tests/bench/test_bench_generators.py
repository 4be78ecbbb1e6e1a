"""Both generators count alike: what was answered, what was refused, and the longest gap between answers."""

from collections.abc import Callable, Iterator

import pytest

from bench import generators
from bench.generators import Asked
from bench.load import Load
from bench.servers import BARE, Cores, Server, running

pytestmark = pytest.mark.slow

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
Send = Callable[..., Load]


@pytest.fixture(scope="module")
def bare() -> Iterator[Server]:
    with running((*BARE, "--bytes", "1234"), Cores(None, None)) as server:
        yield server


@pytest.fixture(params=[True, False], ids=["wrk", "ours"])
def send(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Send:
    if request.param and not generators.has_wrk():
        pytest.skip("wrk is not installed")
    monkeypatch.setattr(generators, "has_wrk", lambda: bool(request.param))
    return generators.send


def test_so_many_answers_are_counted_and_their_longest_gap(send: Send, bare: Server) -> None:
    requests = [GET] * generators.needed(1000, 4)
    result = send(bare, requests, Asked(connections=4, seconds=60, count=1000))
    assert (result.requests, result.errors) == (1000, 0)
    assert 0 < result.p50_ms <= result.p99_ms <= result.p999_ms <= result.max_ms
    assert 0 < result.gap_s <= result.wall_s


def test_a_round_ends_with_its_time_and_restarts_its_requests(send: Send, bare: Server) -> None:
    result = send(bare, [GET] * 10, Asked(connections=2, seconds=0.2, is_cycled=True))
    assert result.requests > 10
    assert result.errors == 0
    assert result.per_second > 0


def test_a_round_ends_when_all_is_sent(send: Send, bare: Server) -> None:
    result = send(bare, [GET] * 500, Asked(connections=2, seconds=60))
    assert 400 < result.requests <= 500
    assert result.errors == 0


@pytest.mark.parametrize("count", [0, 100])
def test_another_status_than_the_wanted_one_is_an_error(send: Send, bare: Server, count: int) -> None:
    result = send(bare, [GET] * 200, Asked(connections=2, seconds=60, count=count, status=401))
    assert result.errors >= min(result.requests, 100) > 0
