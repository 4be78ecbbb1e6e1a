"""One of several servers, whose neighbours lie, hang and are gone: what it says of them, and within which bounds."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from simulator.control import health, sharding
from simulator.shards.asking import ASKED_BY, HEAD_BYTES_MAX
from simulator.shards.servers import Server
from simulator.shards.shards import Shards
from tests.support.client import Client, running
from tests.support.processes import free_port

HUGE = 10**9


def answer(body: bytes, status: str = "200 OK", length: int | None = None) -> bytes:
    said = len(body) if length is None else length
    return b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        status.encode(),
        said,
        body,
    )


ROW: dict[str, Any] = {
    "scenario": "default",
    "origin": None,
    "seed": 1,
    "url": "http://127.0.0.1:8080/s/x",
    "clock": {"mode": "manual", "now": "2026-11-21T04:00:00.000000Z", "rate": 1, "signature": "wall"},
    "audit": True,
    "resellers": [],
}


def listing(*ids: str) -> bytes:
    return answer(json.dumps({"sandboxes": [{"id": one, **ROW} for one in ids]}).encode())


class Neighbour:
    """A server of a list that answers each connection with `answer`, or never when that is empty."""

    def __init__(self, says: bytes | None) -> None:
        self.requests: list[bytes] = []
        self._says = says
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._listening.getsockname()[1])

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(connection)
            request = connection.recv(65536)
            head, _, body = request.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            while len(body) < length:
                body += connection.recv(65536)
            self.requests.append(head + b"\r\n\r\n" + body)
            if self._says is not None:
                connection.sendall(self._says)
                connection.close()

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for one in self._open:
            one.close()


@contextmanager
def beside(*says: bytes | None) -> Iterator[tuple[Client, list[Neighbour]]]:
    """The server `a`, beside `b`, `c` and so on that answer like this."""
    with ExitStack() as stack:
        neighbours = [Neighbour(one) for one in says]
        for one in neighbours:
            stack.callback(one.close)
        servers = [Server("a", "127.0.0.1", 1)]
        servers += [Server("bcdefgh"[n], "127.0.0.1", one.port) for n, one in enumerate(neighbours)]
        yield stack.enter_context(running(shards=Shards(servers, "a"))), neighbours


def ids_of(shards: Shards, name: str, count: int) -> list[str]:
    found = (f"sandbox-{n}" for n in range(10_000))
    return [one for one, _ in zip((i for i in found if shards.owner(i).name == name), range(count), strict=False)]


def shards_of(client: Client) -> Shards:
    shards = client.app.options.shards
    assert shards is not None
    return shards


def told(client: Client) -> Any:
    found = client.sim("GET", "/sandboxes")
    assert found.status == 200, found
    return found.json


def test_a_list_has_what_each_server_owns_and_names_what_is_elsewhere() -> None:
    two = Shards([Server("a", "h", 1), Server("b", "h", 2)], "a")
    own, theirs = ids_of(two, "a", 3), ids_of(two, "b", 3)
    with beside(listing("default", *theirs, own[0])) as (client, (neighbour,)):
        assert client.sim("POST", "/sandboxes", {"id": own[1]}).status == 201
        found = told(client)
        assert [one["id"] for one in found["sandboxes"] if one["id"] != "default"] == [own[1], *theirs]
        assert [one["id"] for one in found["sandboxes"]].count("default") == 1
        a, b = found["servers"]
        assert (a["name"], a["answered"], a["reason"], a["misplaced"]) == ("a", True, None, [])
        assert (b["name"], b["answered"], b["reason"], b["misplaced"]) == ("b", True, None, [own[0]])
        assert a["sandboxes"] + b["sandboxes"] == len(found["sandboxes"])
    head = neighbour.requests[0].decode()
    assert head.startswith("GET /_sim/sandboxes HTTP/1.1\r\n")
    assert f"{ASKED_BY}: a" in head
    assert "host: 127.0.0.1:8080" in head
    assert "x-forwarded-proto: http\r\n" in head


def test_misplaced_requests_are_counted_beyond_the_first_hundred() -> None:
    two = Shards([Server("a", "h", 1), Server("b", "h", 2)], "a")
    with beside(listing(*ids_of(two, "a", 130))) as (client, _):
        b = told(client)["servers"][1]
        assert (b["sandboxes"], len(b["misplaced"]), b["left_out"]) == (0, 100, 30)


LIES = [
    (b"", "b cannot be asked: it closes the connection early"),
    (b"SSH-2.0-x\r\n\r\n", "b gave an answer that is not HTTP"),
    (b"HTTP/1.1 abc\r\n\r\n", "b gave an answer that is not HTTP"),
    (b"HTTP/1.1 200 OK\r\n\r\n{}", "b gave an answer that is no list of sandboxes"),
    (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", "b gave an answer that is not HTTP"),
    (answer(b"{}", length=HUGE), "b cannot be asked: it closes the connection early"),
    (answer(b"{", length=100), "b cannot be asked: it closes the connection early"),
    (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 3 * HEAD_BYTES_MAX, "b gave an answer that has a head over 65536 bytes"),
    (answer(b"{"), "b gave an answer that is no list of sandboxes"),
    (answer(b'{"sandboxes": [{}]}'), "b gave an answer that is no list of sandboxes"),
    (answer(b'{"sandboxes": 1}'), "b gave an answer that is no list of sandboxes"),
    (answer(b'{"sandboxes": [{"id": "\xff"}]}'), "b gave an answer that is no list of sandboxes"),
    (answer(b"{}", "401 Unauthorized"), "b answered 401; all servers need the same control token and host names"),
]


@pytest.mark.parametrize(("says", "reason"), LIES)
def test_a_neighbour_that_lies_is_said_to_be_missing(says: bytes, reason: str) -> None:
    with beside(says, listing()) as (client, _):
        a, b, c = told(client)["servers"]
        assert (a["answered"], b["answered"], c["answered"]) == (True, False, True)
        assert b["reason"].startswith(reason)
        assert b["sandboxes"] == 0


def test_a_neighbour_that_hangs_is_waited_for_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "LIST_TIMEOUT_S", 0.05)
    with beside(None, listing()) as (client, _):
        assert told(client)["servers"][1]["reason"] == "b did not answer within 0.05 s"


def test_all_neighbours_are_waited_for_so_long_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "LISTS_TIMEOUT_S", 0.05)
    monkeypatch.setattr(sharding, "ASKED_AT_ONCE", 1)
    with beside(None, None) as (client, _):
        reasons = [one["reason"] for one in told(client)["servers"]]
        assert reasons == [None, *(f"{name} had not answered when the list had taken 0.05 s" for name in "bc")]


def test_all_answers_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharding, "LISTS_BYTES_MAX", 1000)
    monkeypatch.setattr(sharding, "ASKED_AT_ONCE", 1)
    long = listing(*(f"sandbox-{n}" for n in range(4)))
    with beside(long, long) as (client, _):
        reasons = [one["reason"] for one in told(client)["servers"]]
        assert reasons == [None, None, "c gave an answer of more than 0 MiB"]


def test_a_few_lists_are_made_at_once() -> None:
    with beside(listing()) as (client, _):
        sharding.Lists.running = sharding.LISTS_AT_ONCE
        try:
            refused = client.sim("GET", "/sandboxes")
        finally:
            sharding.Lists.running = 0
        assert (refused.status, refused.json["error"], refused.headers["retry-after"]) == (429, "too_busy", "1")
        assert told(client)["servers"][1]["answered"]
        assert sharding.Lists.running == 0


def test_a_server_that_another_server_asks_answers_for_itself() -> None:
    with beside(listing("x")) as (client, (neighbour,)):
        found = client.sim("GET", "/sandboxes", **{ASKED_BY: "b"}).json
        assert list(found) == ["sandboxes"]
        assert neighbour.requests == []
        theirs = ids_of(shards_of(client), "b", 1)[0]
        refused = client.sim("POST", "/sandboxes", {"id": theirs}, **{ASKED_BY: "b"})
        assert (refused.status, refused.json["error"], refused.json["path"]) == (409, "belongs_elsewhere", "id")
        assert neighbour.requests == []


def made(client: Client) -> Any:
    theirs = ids_of(shards_of(client), "b", 1)[0]
    return client.sim("POST", "/sandboxes", {"id": theirs}, authorization="Bearer secret")


def test_a_sandbox_of_another_server_is_created_there_and_its_answer_is_passed_on() -> None:
    said = answer(b'{"error": "sandbox_exists", "message": "m", "path": "id"}', "409 Conflict")
    with beside(said) as (client, (neighbour,)):
        passed_on = made(client)
        assert (passed_on.status, passed_on.json["error"]) == (409, "sandbox_exists")
        head, _, body = neighbour.requests[0].decode().partition("\r\n\r\n")
        assert head.startswith("POST /_sim/sandboxes HTTP/1.1\r\n")
        assert "authorization: Bearer secret" in head
        assert json.loads(body) == {"id": ids_of(shards_of(client), "b", 1)[0]}
        assert len(list(client.app.sandboxes)) == 1


@pytest.mark.parametrize(("said", "told"), [("7", "7"), ("soon", None), ("1\nx-more: 1", "1")])
def test_when_to_ask_an_owner_again_is_passed_on(said: str, told: str | None) -> None:
    busy = answer(b'{"error": "too_busy", "message": "m", "path": ""}', f"429 Busy\r\nretry-after: {said}")
    with beside(busy) as (client, _):
        passed_on = made(client)
        assert (passed_on.status, passed_on.headers.get("retry-after")) == (429, told)
        assert "x-more" not in passed_on.headers


@pytest.mark.parametrize("says", [b"", b"SSH\r\n\r\n", answer(b"", length=HUGE)])
def test_a_sandbox_of_an_unreachable_server_is_not_created(says: bytes) -> None:
    with beside(says) as (client, _):
        refused = made(client)
        assert (refused.status, refused.json["error"], refused.headers["retry-after"]) == (
            503,
            "shard_unreachable",
            "1",
        )
        assert refused.json["message"].startswith("this belongs to the server b, which ")
        assert len(list(client.app.sandboxes)) == 1


def test_a_server_that_is_gone_is_said_with_the_reason() -> None:
    servers = [Server("a", "127.0.0.1", 1), Server("b", "127.0.0.1", free_port())]
    with running(shards=Shards(servers, "a")) as client:
        assert told(client)["servers"][1]["reason"] == "b cannot be asked: Connection refused"
        assert made(client).json["message"] == "this belongs to the server b, which cannot be asked: Connection refused"


def test_ids_that_are_drawn_belong_to_the_server_that_draws_them() -> None:
    servers = [Server(f"s{n}", "127.0.0.1", n + 1) for n in range(20)]
    shards = Shards(servers, "s7")
    with running(shards=shards) as client:
        drawn = [client.sim("POST", "/sandboxes").json["id"] for _ in range(3)]
        forked = client.sim("POST", "/sandboxes", {"fork": {"of": drawn[0]}}).json["id"]
        assert all(map(shards.is_ours, [*drawn, forked]))


def test_one_server_alone_lists_no_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    unasked: Callable[..., None] = never
    monkeypatch.setattr(sharding, "ask", unasked)
    with running() as client:
        assert list(told(client)) == ["sandboxes"]


def test_a_server_says_of_a_sandbox_that_it_has_not_whose_it_would_be_and_of_a_proxy_what_differs(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "_said", set())
    two = Shards([Server("a", "h", 1), Server("b", "h", 2)], "a")

    def ready(name: str, names: str) -> tuple[int, list[str]]:
        caplog.clear()
        headers = {"host": "x", "x-sim-shard": name, "x-sim-shards": names}
        return client.send("GET", "/_sim/ready", "", b"", headers).status, caplog.messages

    with running(shards=two) as client:
        (own,), (theirs,) = ids_of(two, "a", 1), ids_of(two, "b", 1)
        missing = [client.sim("GET", f"/sandboxes/{one}").json["message"] for one in (own, theirs)]
        assert [one.endswith("By the list of --shards it would be another server's") for one in missing] == [
            False,
            True,
        ]
        assert ready("a", two.digest) == (200, [])
        status, (line,) = ready("a", "00000000")
        assert (status, line[:35]) == (200, "the list of the proxy has other ser")
        assert ready("a", "11111111") == (200, [])  # once
        status, (line,) = ready("b", two.digest)
        assert (status, line[:50]) == (503, "the proxy takes this server for 'b', and it was st")
        for n in range(2 * health.SAID_MAX):
            ready(f"other-{n}", two.digest)
        assert len(health._said) == health.SAID_MAX
