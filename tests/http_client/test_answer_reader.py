"""The reader of answers, without sockets: the result does not depend on how an answer is split."""

import gc
import tracemalloc
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.http_client.answers import AnswerReader
from simulator.http_client.attempts import BODY_BYTES, BOUNDS
from tests.support.tiers import examples

Read = tuple[bool, int | None, bytes, tuple[tuple[str, str], ...] | None, str, bool]
HEAD_BYTES = BOUNDS.head_bytes

TOKEN = st.text("abcXYZ019-_", min_size=1, max_size=12).filter(
    lambda name: name.lower() not in ("content-length", "transfer-encoding", "connection", "upgrade", "set-cookie")
)
VALUE = st.text("abc XYZ:;=,\"'0\t", max_size=30).map(str.strip)
FIELDS = st.lists(st.tuples(TOKEN, VALUE), max_size=5)
INTERIM = st.lists(st.sampled_from([100, 102, 103, 199]), max_size=3)
BODY = st.binary(max_size=200)


def head(status: int, fields: list[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in fields)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@st.composite
def answers(draw: st.DrawFn) -> tuple[bytes, int, bytes, tuple[tuple[str, str], ...], bool]:
    """A valid answer in its bytes, and what it says: status, body, headers; and whether the connection ends with it."""
    status = draw(st.sampled_from([200, 201, 302, 404, 500, 599]))
    fields, body = draw(FIELDS), draw(BODY)
    before = b"".join(head(early, draw(FIELDS)) for early in draw(INTERIM))
    framing = draw(st.sampled_from(["length", "chunks", "end"]))
    if framing == "length":
        fields = [*fields, ("Content-Length", str(len(body)))]
        sent = body
    elif framing == "chunks":
        fields = [*fields, ("Transfer-Encoding", "chunked")]
        size = draw(st.integers(1, 50))
        pieces = [body[at : at + size] for at in range(0, len(body), size)]
        sent = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    else:
        sent = body
    return before + head(status, fields) + sent, status, body, tuple(fields), framing == "end"


def read(pieces: list[bytes], *, ends: bool, method: str = "POST") -> Read:
    reader = AnswerReader(method, BOUNDS)
    for piece in pieces:
        reader.feed(piece)
    if ends:
        reader.end(was_reset=False)
    reader.release()
    head = reader.head
    fields = head and tuple((name.decode(), value.decode().rstrip()) for name, value in head.fields)
    error = reader.problem or reader.broke_off
    return reader.is_over, reader.status, reader.take(), fields, error, reader.may_stay_open


@given(answers(), st.data())
def test_a_valid_answer_is_the_same_in_any_pieces(
    answer: tuple[bytes, int, bytes, tuple[tuple[str, str], ...], bool], data: st.DataObject
) -> None:
    whole, status, body, headers, ends = answer
    cuts = sorted(data.draw(st.sets(st.integers(1, len(whole) - 1), max_size=20)))
    pieces = [whole[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    expected = (True, status, body, headers, "", not ends)
    assert read([whole], ends=ends) == expected
    assert read([whole], ends=ends) == expected  # with the head known
    assert read(pieces, ends=ends) == expected
    assert read([whole[at : at + 1] for at in range(len(whole))], ends=ends) == expected


@given(answers(), st.data())
def test_an_answer_that_is_cut_off_is_never_taken_for_a_whole_one(
    answer: tuple[bytes, int, bytes, tuple[tuple[str, str], ...], bool], data: st.DataObject
) -> None:
    whole, status, body, _, ends = answer
    kept = whole[: data.draw(st.integers(0, len(whole) - 1))]
    is_over, said, part, headers, error, may_stay_open = read([kept], ends=True)
    assert is_over
    assert not may_stay_open
    assert body.startswith(part)
    assert said in (None, status)
    if not (ends and headers is not None):  # without a length, an end is the end
        assert error


@settings(max_examples=examples(300))
@given(st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([b"HTTP/1.1 200 OK\r\n", b"\r\n", b"2\r\nok\r\n"]))))
def test_any_bytes_are_read_to_an_end(pieces: list[bytes]) -> None:
    is_over, status, body, headers, error, may_stay_open = read(pieces, ends=True)
    assert is_over
    assert status is not None or error
    assert len(body) <= BODY_BYTES
    assert headers is None or sum(len(name) + len(value) for name, value in headers) <= HEAD_BYTES
    assert not (may_stay_open and error)


ODD = st.sampled_from(
    [
        *(b"HTTP/1.1 %d X\r\n" % status for status in (100, 101, 103, 200, 204, 304, 404)),
        *(b"HTTP/1.0 200 OK\r\n", b"HTTP/1.0 100 C\r\n", b"HTTP/1.1 103 E\r\n\r\n", b"RTSP/1.0 200 OK\r\n"),
        *(b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"X:\r\n", b"X: y\n", b"no colon\r\n", b" fold\r\n", b"X: \0\r\n"),
        *(b"Content-Length: %d\r\n" % length for length in (0, 2, 5)),
        *(b"Transfer-Encoding: " + name + b"\r\n" for name in (b"chunked", b"gzip", b"gzip, chunked", b"identity")),
        *(b"Connection: " + name + b"\r\n" for name in (b"close", b"keep-alive", b"upgrade\r\nUpgrade: h2c")),
        *(b"ok", b"2\r\nok\r\n", b"2;a=b\nok\n", b"0\r\n\r\n", b"0\r\n"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ]
)


@settings(max_examples=examples(300))
@given(st.lists(ODD, min_size=1, max_size=8).map(b"".join), st.sampled_from(["GET", "HEAD"]))
def test_the_reading_of_an_odd_answer_does_not_depend_on_where_it_is_cut(answer: bytes, method: str) -> None:
    """Except the explanation: bytes after the end of an answer are not always seen."""

    def meant(pieces: list[bytes]) -> object:
        is_over, status, body, headers, _, may_stay_open = read(pieces, ends=True, method=method)
        return is_over, status, body, headers, may_stay_open

    assert meant([answer]) == meant([answer[at : at + 1] for at in range(len(answer))])


ENDLESS = {
    "fields": (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "long fields": (b"HTTP/1.1 200 OK\r\n", b"X: " + b"y" * 16_000 + b"\r\n"),
    "a field": (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
    "folds": (b"HTTP/1.1 200 OK\r\nX: a", b"\r\n y"),
    "a name": (b"HTTP/1.1 200 OK\r\n", b"y"),
    "a reason": (b"HTTP/1.1 200 ", b"y"),
    "empty lines": (b"", b"\r\n"),
    "interim answers": (b"", b"HTTP/1.1 100 C\r\n\r\n"),
    "a chunk's extension": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;", b"y"),
    "a size": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
    "a trailer": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"y"),
    "a body": (b"HTTP/1.1 200 OK\r\n\r\n", b"y"),
    "small chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
}


def test_a_head_that_has_arrived_in_part_is_not_taken_for_an_earlier_answer_with_these_fields() -> None:
    start = b"HTTP/1.1 200 OK\r\nX-Size: 1\r\nContent-Length: 0"
    whole, longer = start + b"\r\n\r\n", b"2\r\nConnection: close\r\n\r\nok"
    first = read([whole], ends=False)
    assert read([whole], ends=False) == read([start, b"\r\n\r\n"], ends=False) == first
    assert not AnswerReader("POST", BOUNDS).feed(start)
    assert read([start, longer], ends=False) == read([start + longer], ends=False)
    assert read([start, longer], ends=False)[2] == b"ok"


@pytest.mark.parametrize("packet", [4096, 262_144])
@pytest.mark.parametrize(("start", "more"), ENDLESS.values(), ids=ENDLESS)
def test_an_endless_answer_is_given_up_and_takes_little_memory(start: bytes, more: bytes, packet: int) -> None:
    data = more * max(1, packet // len(more))
    tracemalloc.start()
    try:
        reader = AnswerReader("POST", BOUNDS)
        reader.feed(start)
        packets = 0
        while not reader.feed(data):
            packets += 1
            assert packets * packet <= 2 * HEAD_BYTES
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * HEAD_BYTES
    assert not reader.may_stay_open
    reader.release()


def test_a_reader_creates_no_reference_cycles() -> None:
    gc.disable()
    try:
        reader = AnswerReader("POST", BOUNDS)
        reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        reader.release()
        seen = weakref.ref(reader)
        del reader
        assert seen() is None
    finally:
        gc.enable()
