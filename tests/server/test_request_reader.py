"""The part that reads, without a socket or a clock: its states, and the requests that it makes of bytes."""

from typing import Any

import pytest

from simulator.server.message import HttpLimits, HttpRefusal, RequestMemoryBudget
from simulator.server.request_reader import BODY, ENDED, HEAD, IDLE, LATE_HEAD, ReadingState, RequestReader
from tests.support.echo_server import request


def read(*packets: bytes, limits: HttpLimits | None = None) -> RequestReader:
    reader = RequestReader(RequestMemoryBudget(limits or HttpLimits()))
    for packet in packets:
        reader.feed(packet)
    return reader


@pytest.mark.parametrize(
    ("packets", "state", "targets"),
    [
        ([], LATE_HEAD, []),
        ([b"\r\n"], LATE_HEAD, []),
        ([b"G"], LATE_HEAD, []),
        ([request("GET", "/a")], IDLE, [b"/a"]),
        ([request("GET", "/a") + request("GET", "/b")], IDLE, [b"/a", b"/b"]),
        ([request("GET", "/a") + b"GE"], HEAD, [b"/a"]),
        ([request("POST", "/a", body=b"abc")[:-1]], BODY, [b"/a"]),
        ([request("GET", "/a", "Connection: close")], ENDED, [b"/a"]),
        ([request("GET", "/a", "Connection: close") + request("GET", "/b")], ENDED, [b"/a"]),
        ([b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + request("GET", "/b")], ENDED, [b"/a"]),
        ([request("GET", "/a", "Upgrade: h2c", "Connection: upgrade", body=b"abc")], IDLE, [b"/a"]),
    ],
)  # fmt: skip
def test_bytes_become_requests_and_a_state(packets: list[bytes], state: ReadingState, targets: list[bytes]) -> None:
    reader = read(*packets)
    assert (reader.state, [one.target for one in reader.queue]) == (state, targets)


def test_a_body_in_pieces_is_taken_as_it_comes() -> None:
    reader = read(request("POST", "/a", body=b"abcdef")[:-4])
    (one,) = reader.queue
    assert (one.take(), one.is_whole) == (b"ab", False)
    for piece in (b"c", b"d", b"ef"):
        reader.feed(piece)
    assert (one.take(), one.is_whole, one.take()) == (b"cdef", True, b"")


@pytest.mark.parametrize(
    "packet", [b"GET / HTTP/2.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"]
)
def test_a_head_out_of_order_is_refused(packet: bytes) -> None:
    with pytest.raises(HttpRefusal):
        read(packet)


@pytest.mark.parametrize(
    ("target", "host"),
    [("/a", b"a"), ("http://b:1/c?d", b"b:1"), ("HTTP://u:p@B", b"B"), ("https://[::1]?x", b"[::1]")],
)
def test_the_host_of_an_absolute_url_overrides_the_header(target: str, host: bytes) -> None:
    (one,) = read(f"GET {target} HTTP/1.1\r\nX: 1\r\nHost: a\r\n\r\n".encode()).queue
    assert one.by_name == {b"x": b"1", b"host": host}
    assert sorted(one.headers) == [(b"host", host), (b"x", b"1")]


def test_an_error_of_ours_is_not_blamed_on_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("on purpose")

    monkeypatch.setattr("simulator.server.request_reader.check_head", broken)
    with pytest.raises(Exception, match="User callback error") as caught:
        read(b"GET / HTTP/1.1\r\n\r\n")
    assert not isinstance(caught.value, HttpRefusal)


def test_bytes_after_the_last_request_reach_none_of_our_callbacks(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[RequestReader] = []
    begin = RequestReader.on_message_begin

    def counted(reader: RequestReader) -> None:
        begun.append(reader)
        begin(reader)

    monkeypatch.setattr(RequestReader, "on_message_begin", counted)
    reader = read(b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + request("GET", "/b"))
    assert begun == [reader]
