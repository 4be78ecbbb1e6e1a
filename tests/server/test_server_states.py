"""The table of what may come in each state, and the part that reads, without a socket or a clock."""

from typing import Any

import pytest

from simulator.server.http_limits import HttpLimits, HttpRefusal
from simulator.server.request_reader import (
    CLOSED,
    DRAINING,
    EOF,
    IDLE,
    LATE_HEAD,
    LINGERING,
    LOST,
    OPENED,
    READING,
    Reading,
    RequestReader,
)
from tests.support.echo_server import request


def reachable(start: Reading) -> set[Reading]:
    seen: set[Reading] = set()
    ahead = [start]
    while ahead:
        state = ahead.pop()
        if state not in seen:
            seen.add(state)
            ahead += READING[state].values()
    return seen


def test_every_state_has_a_row_and_can_be_reached() -> None:
    assert set(READING) == reachable(OPENED) == set(Reading)


@pytest.mark.parametrize("state", [state for state in Reading if state is not CLOSED])
def test_a_connection_can_be_lost_in_every_state_and_then_nothing_comes(state: Reading) -> None:
    assert READING[state][LOST] is CLOSED
    assert READING[CLOSED] == {}


@pytest.mark.parametrize("state", [DRAINING, LINGERING])
def test_a_connection_that_stopped_reading_never_reads_again(state: Reading) -> None:
    assert reachable(state) <= {DRAINING, LINGERING, CLOSED}


@pytest.mark.parametrize("state", [state for state in Reading if state <= DRAINING])
def test_no_bytes_are_read_after_the_client_has_closed_its_side(state: Reading) -> None:
    assert READING[state][EOF] is DRAINING


def read(*packets: bytes, limits: HttpLimits | None = None) -> RequestReader:
    reader = RequestReader(limits or HttpLimits())
    for packet in packets:
        reader.feed(packet)
    return reader


@pytest.mark.parametrize(
    ("packets", "state", "targets"),
    [
        ([], OPENED, []),
        ([b"\r\n"], OPENED, []),
        ([b"G"], LATE_HEAD, []),
        ([request("GET", "/a")], IDLE, [b"/a"]),
        ([request("GET", "/a") + request("GET", "/b")], IDLE, [b"/a", b"/b"]),
        ([request("GET", "/a") + b"GE"], LATE_HEAD, [b"/a"]),
        ([request("POST", "/a", body=b"abc")[:-1]], Reading.BODY, [b"/a"]),
        ([request("GET", "/a", "Connection: close")], DRAINING, [b"/a"]),
        ([request("GET", "/a", "Connection: close") + request("GET", "/b")], DRAINING, [b"/a"]),
        ([b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + request("GET", "/b")], DRAINING, [b"/a"]),
        ([request("GET", "/a", "Upgrade: h2c", "Connection: upgrade", body=b"abc")], IDLE, [b"/a"]),
    ],
)  # fmt: skip
def test_bytes_become_requests_and_a_state(packets: list[bytes], state: Reading, targets: list[bytes]) -> None:
    reader = read(*packets)
    assert (reader.state, [one.target for one in reader.requests]) == (state, targets)


def test_a_body_in_pieces_is_taken_as_it_comes() -> None:
    reader = read(request("POST", "/a", body=b"abcdef")[:-4])
    (one,) = reader.requests
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
