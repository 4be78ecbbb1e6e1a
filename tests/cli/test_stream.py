"""What reads a stream of events: it goes on where it was interrupted, and says when the server is gone."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from simulator.cli import stream as stream_module
from simulator.cli.flags import CannotStart
from simulator.cli.lines import Lines
from simulator.cli.listen import _forwarded, target_of
from simulator.cli.stream import Stream
from tests.support.receivers import refused_url
from tests.support.runner import invoke, refusal
from tests.support.watchers import target

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: hello\n\n"


@contextmanager
def server(*answers: bytes) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these answers, one to each connection, and then is gone; and the requests that it got."""
    got: list[str] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listener:
            for answer in answers:
                connection, _ = listener.accept()
                with connection:
                    got.append(connection.recv(65536).decode())
                    connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", got
    thread.join(10)


def event(n: int, **fields: object) -> bytes:
    data = json.dumps({"id": f"x.{n}", "kind": "status", **fields})
    return f"id: x.{n}\nevent: status\ndata: {data}\n\n".encode()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "PATIENCE_S", 0.0)
    monkeypatch.setattr(stream_module, "PAUSE_S", 0.0)


def test_an_interrupted_stream_goes_on_behind_the_last_event_that_came_whole() -> None:
    cut = HEAD + event(1) + b": still here\nid: x.7\n\n" + b"id: x.8\ndata: {"
    with server(cut, HEAD + event(9)) as (url, got):
        events = Stream("tail", url, "secret", None, {"only": "status"}).events()
        assert [next(events)["id"], next(events)["id"]] == ["x.1", "x.9"]
        with pytest.raises(CannotStart, match="has ended, or does not answer any more"):
            next(events)
    assert got[0].startswith("GET /_sim/events?only=status HTTP/1.1\r\n")
    assert "last-event-id" not in got[0].lower()
    assert "Last-Event-ID: x.7\r\n" in got[1]
    assert "Authorization: Bearer secret\r\n" in got[0]


def test_the_stream_of_a_sandbox_ends_when_it_is_deleted_and_that_of_all_goes_on() -> None:
    answer = HEAD + event(1, action="deleted")
    with server(answer) as (url, got):
        assert len(list(Stream("tail", f"{url}/_sim", None, "a b", {}).events())) == 1
    assert got[0].startswith("GET /_sim/sandboxes/a%20b/events HTTP/1.1\r\n")
    with server(answer) as (url, _), pytest.raises(CannotStart):
        list(Stream("tail", url, None, None, {}).events())


def test_what_a_server_refuses_is_said() -> None:
    refused = b'HTTP/1.1 404 X\r\ncontent-length: 30\r\n\r\n{"message": "no such sandbox"} '
    with server(refused) as (url, _):
        said = refusal(invoke("tail", "--url", url, "--sandbox", "none"), 3)
    assert said == f"reseller-sim tail: {url} answered 404: no such sandbox"


def test_what_is_no_stream_is_said() -> None:
    with server(HEAD + b"data: hello\n\n") as (url, _):
        said = refusal(invoke("tail", "--url", url), 3)
    assert said == f"reseller-sim tail: {url} sent something that is no event: is it a simulator?"


@pytest.mark.parametrize("flags", [["--only", "nothing"], ["--url", "ftp://x"], ["--sandbox"]])
def test_tail_refuses_what_it_cannot_use(flags: list[str]) -> None:
    refusal(invoke("tail", *flags), 2)


@pytest.mark.parametrize("flags", [[], ["--forward-to", "localhost:3000"], ["--forward-to", "http://x", "--only", "x"]])
def test_listen_refuses_what_it_cannot_use(flags: list[str]) -> None:
    refusal(invoke("listen", *flags), 2)


@pytest.mark.parametrize(
    ("to", "sent", "expected"),
    [
        ("http://me", "inbox:callbacks", "/"),
        ("http://me/", "inbox:callbacks?refid=1", "/?refid=1"),
        ("http://me/here", "https://shop.example/there?a=1&refid=2", "/here?a=1&refid=2"),
        ("http://me/here?b=2", "https://shop.example/there?a=1", "/here?b=2&a=1"),
        ("http://me", "https://shop.example/there?a=1", "/there?a=1"),
        ("http://me/", "https://shop.example", "/"),
    ],
)
def test_a_message_goes_to_the_path_of_the_target_or_to_its_own(to: str, sent: str, expected: str) -> None:
    assert target_of(to, sent) == expected


def test_a_message_that_is_not_answered_in_time_is_given_up() -> None:
    sent = {"method": "POST", "url": "inbox:x", "headers": [["Content-Length", "9"], ["A", "b"]], "body": "{}"}
    with target() as mine:
        mine.may_answer.clear()
        assert _forwarded(mine.url, sent, 0.2).startswith(f"POST {mine.url}/ no answer (")
        assert (mine.got[0].headers["content-length"], mine.got[0].headers["a"]) == ("2", "b")
    with refused_url() as url:
        assert " no answer (Connection refused) in " in _forwarded(url, sent, 1)


def test_lines_are_coloured_only_when_asked_for_and_never_by_what_came() -> None:
    came = {"kind": "status", "at": "2026-11-21T12:00:00.123456Z", "sandbox": "s", "refid": "\x1b[31mred\n"}
    whole = came | {"status": "Succesful", "rule": "r"}
    assert Lines(coloured=False).line(whole) == r"12:00:00.123 s status  \x1b[31mred\x0a Succesful rule=r"
    assert "\x1b[32mSuccesful\x1b[0m" in Lines(coloured=True).line(whole)
    assert Lines(coloured=False).line(came) == "12:00:00.123 s status "
    assert Lines(coloured=False).line({"kind": "later", "sandbox": "s"}) == " s later  "
    assert Lines(coloured=False).line({"kind": "gap", "missing": 3}).startswith("... 3 events are missing here")
