"""A table of answers over real sockets that are broken, odd or hostile, and how an attempt ends with each."""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import pytest

from simulator.domain.model.delivery_attempts import AttemptEnd, AttemptResult, OutgoingRequest
from simulator.http_client.attempts import BODY_BYTES, BOUNDS
from tests.support.broken_receivers import OK, RUNNERS, Answer, Exchange, Receiver, Run, post, proof, sender

each_loop = pytest.mark.parametrize("run", RUNNERS)


class Step(Enum):
    """Actions of a receiver between the bytes that it sends."""

    CLOSE = "close"
    RESET = "reset"
    END = "end_at_once"  # its sending side alone; within TLS without a farewell
    PAUSE = "pause"


CLOSE, RESET, END, PAUSE = Step
Steps = Sequence[bytes | Step]

HEAD = b"HTTP/1.1 200 OK\r\n"
EARLY = b"HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
SIZED = HEAD + b"Content-Length: 4\r\n\r\n"
FULL = "x" * BODY_BYTES
BROKE_OFF = "status 200 came, then the answer broke off"
PERHAPS_TLS = "; if the receiver speaks TLS, use https:// in its URL"
CLOSED = "the connection was closed before an answer came"
WAS_RESET = "the connection was reset before an answer came"
BEHIND = "status 200 came with more bytes than the answer has; the status counts"
TOO_SLOW = "status 200 came, but not its whole answer within 0.3 s"
SILENT = "connected, but no answer within 0.3 s"
NOT_HTTP = "the answer is not HTTP: "
BUT = "status 200 came, but the answer is not HTTP: "
BAD_LINE = NOT_HTTP + "bad status line"
NO_ANSWER = "the answer has "
BUT_HAS = "status 200 came, but the answer has "
BAD_STATUS = NO_ANSWER + "the status {}, which HTTP does not have"
TOO_MANY_FIELDS = f"more than {BOUNDS.fields} fields"
LONG_HEAD = f"a head over {BOUNDS.head_bytes} bytes"
LONG_PART = f"over {BOUNDS.head_bytes} bytes of trailers or of a chunk's extensions"


def plays(steps: Steps) -> Answer:
    """Answers with these steps, one after the other."""

    async def answer(exchange: Exchange) -> None:
        for step in steps:
            if isinstance(step, bytes):
                exchange.write(step)
                await exchange.writer.drain()
            elif step is PAUSE:
                await exchange.arrived()
            else:
                getattr(exchange, step.value)()

    return answer


def outcomes(
    run: Run, answer: Answer, request: OutgoingRequest, timeout_s: float, times: int = 2
) -> list[AttemptResult]:
    """The ends of several attempts, one after the other."""
    ends: list[AttemptResult] = []

    async def main() -> None:
        async with sender() as http, Receiver(answer) as receiver:
            outgoing = OutgoingRequest(request.method, receiver.url, request.headers, request.body)
            ends.extend([await http.send(outgoing, timeout_s) for _ in range(times)])
            assert len(receiver.requests) == times, "each is sent once"

    run(main())
    return ends


WHOLE: dict[str, tuple[Steps, str]] = {  # what comes, and the body of a whole answer of status 200 without complaint
    "in one piece": ([OK], "ok"),
    "byte by byte": ([OK[at : at + 1] for at in range(len(OK))], "ok"),
    "empty lines first": ([b"\r\n\r\n" + OK], "ok"),
    "without a reason": ([b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"], "ok"),
    "an empty reason": ([b"HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok"], "ok"),
    "lines that end in LF": ([b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"], "ok"),
    "a folded field": ([HEAD + b"X: a\r\n b\r\nContent-Length: 2\r\n\r\nok"], "ok"),
    "a control character": ([HEAD + b"X: a\x01\r\nContent-Length: 2\r\n\r\nok"], "ok"),
    "HTTP/1.0": ([b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"], "ok"),
    "until the end": ([HEAD + b"\r\nok", CLOSE], "ok"),
    "chunks in chunks": ([HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"], "ok"),
    "another coding until the end": ([HEAD + b"Transfer-Encoding: gzip\r\n\r\nok", CLOSE], "ok"),
    "no coding that is known until the end": ([HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\nok", CLOSE], "ok"),
    "a tab after a coding until the end": ([HEAD + b"Transfer-Encoding: chunked\t\r\n\r\nok", CLOSE], "ok"),
    "blanks behind a size": ([CHUNKED + b"2  \r\nok\r\n0\r\n\r\n"], "ok"),
    "extensions": ([CHUNKED + b'2;a=b;c="d e"\r\nok\r\n0\r\n\r\n'], "ok"),
    "trailers": ([CHUNKED + b"2\r\nok\r\n0\r\nX: y\r\nTransfer-Encoding: gzip\r\n\r\n"], "ok"),
    "an offer": ([HEAD + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok"], "ok"),
    "interim answers": ([EARLY * 100 + OK], "ok"),
    "interim answers, slowly": ([EARLY, PAUSE, EARLY, PAUSE, OK], "ok"),
    "an interim answer and empty lines": ([EARLY + b"\r\n\n" + EARLY + b"\r\n" + OK], "ok"),
    "an interim answer that says close": ([b"HTTP/1.1 103 E\r\nConnection: close\r\n\r\n" + OK], "ok"),
    "an interim answer of HTTP/1.0": ([b"HTTP/1.0 100 C\r\n\r\n" + OK], "ok"),
    "an interim answer with a length": ([b"HTTP/1.1 100 C\r\nContent-Length: 2\r\n\r\n" + OK], "ok"),
    "a second answer": ([OK + OK], "ok"),
    "many answers": ([OK * 1000], "ok"),
    "an answer and a half": ([OK + b"HTTP/1.1 2"], "ok"),
    "an empty line after it": ([OK + b"\r\n"], "ok"),
    "fields up to the bound": ([HEAD + b"X: y\r\n" * (BOUNDS.fields - 1) + b"Content-Length: 2\r\n\r\nok"], "ok"),
    "a long field": ([HEAD + b"X: " + b"y" * 60_000 + b"\r\nContent-Length: 2\r\n\r\nok"], "ok"),
    "a long reason": ([b"HTTP/1.1 200 " + b"x" * 60_000 + b"\r\nContent-Length: 2\r\n\r\nok"], "ok"),
    "a body up to the bound": ([CHUNKED + b"4000\r\n" + b"x" * BODY_BYTES + b"\r\n", PAUSE, b"0\r\n\r\n"], FULL),
    "a body above the bound": ([HEAD + b"Content-Length: 99999\r\n\r\n" + b"x" * 99999], FULL),
    "a body of single bytes": ([CHUNKED + b"1\r\nx\r\n" * 40_000], FULL),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "body"), WHOLE.values(), ids=WHOLE)
@each_loop
def test_an_odd_answer_is_an_answer(run: Run, steps: Steps, body: str) -> None:
    for end in outcomes(run, plays(steps), post(""), 10):
        assert (end.kind, end.status, end.body, end.error) == (AttemptEnd.ANSWERED, 200, body, "")


BROKEN: dict[str, tuple[Steps, str, str]] = {  # what comes, the body that is kept of it, what is said
    "no colon": ([HEAD + b"no colon\r\n\r\n"], "", BUT + "Invalid header token"),
    "no name": ([HEAD + b": y\r\n\r\n"], "", BUT + "Invalid header token"),
    "a blank before the colon": ([HEAD + b"X : y\r\n\r\n"], "", BUT + "Invalid header token"),
    "a lonely CR": ([HEAD + b"X: a\rb\r\n\r\n"], "", BUT + "Missing expected LF after header value"),
    "NUL": ([HEAD + b"X: a\0b\r\n\r\n"], "", BUT + "a field with a NUL"),
    "two lengths": ([HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok"], "", BUT + "Duplicate Content-Length"),
    "the same length twice": ([HEAD + b"Content-Length: 2\r\n" * 2 + b"\r\nok"], "", BUT + "Duplicate Content-Length"),
    "length and chunks": ([HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"], "",
        BUT + "Transfer-Encoding can't be present with Content-Length"),
    "chunks and length": ([HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n"], "",
        BUT + "Content-Length can't be present with Transfer-Encoding"),
    "a signed length": ([HEAD + b"Content-Length: +2\r\n\r\nok"], "", BUT + "Invalid character in Content-Length"),
    "a list of lengths": ([HEAD + b"Content-Length: 2, 2\r\n\r\nok"], "", BUT + "Invalid character in Content-Length"),
    "a huge length": ([HEAD + b"Content-Length: " + b"9" * 30 + b"\r\n\r\nok"], "", BUT + "Content-Length overflow"),
    "an invalid size": ([CHUNKED + b"zz\r\nok"], "", BUT + "Invalid character in chunk size"),
    "a size with a sign": ([CHUNKED + b"-2\r\nok"], "", BUT + "Invalid character in chunk size"),
    "a size in C": ([CHUNKED + b"0x2\r\nok"], "", BUT + "Invalid character in chunk size"),
    "no size": ([CHUNKED + b"\r\nok"], "", BUT + "Invalid character in chunk size"),
    "a huge size": ([CHUNKED + b"f" * 17 + b"\r\nok"], "", BUT + "Chunk size overflow"),
    "a size too small": ([CHUNKED + b"2\r\nokay\r\n0\r\n\r\n"], "ok", BUT + "Expected LF after chunk data"),
    "LF in chunks": ([CHUNKED + b"2\nok\n0\n\n"], "", BUT + "Expected LF after chunk size"),
    "a bad trailer": ([CHUNKED + b"2\r\nok\r\n0\r\nno colon\r\n\r\n"], "ok", BUT + "Invalid header token"),
    "bytes behind it": ([OK + b"more"], "ok", BEHIND),
    "many bytes behind it": ([OK + b"x" * 1_000_000], "ok", BEHIND),
    "bytes behind chunks": ([CHUNKED + b"2\r\nok\r\n0\r\n\r\nmore"], "ok", BEHIND),
    "bytes after a last answer": ([HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\nokmore"], "ok", BEHIND),
    "too many fields": ([HEAD + b"X: y\r\n" * (BOUNDS.fields + 1) + b"\r\n"], "", BUT_HAS + TOO_MANY_FIELDS),
    "endless fields": ([HEAD + b"X: y\r\n" * 100_000], "", BUT_HAS + TOO_MANY_FIELDS),
    "an endless field": ([HEAD + b"X: " + b"y" * 1_000_000], "", BUT_HAS + LONG_HEAD),
    "an endless fold": ([HEAD + b"X: a" + b"\r\n y" * 100_000], "", BUT_HAS + LONG_HEAD),
    "an endless name": ([HEAD + b"y" * 1_000_000], "", BUT_HAS + LONG_HEAD),
    "long fields": ([HEAD + (b"X: " + b"y" * 10_000 + b"\r\n") * 100], "", BUT_HAS + LONG_HEAD),
    "an endless reason": ([b"HTTP/1.1 200 " + b"x" * 1_000_000], "", BUT_HAS + LONG_HEAD),
    "too many trailers": ([CHUNKED + b"2\r\nok\r\n0\r\n" + b"X: y\r\n" * 5000], "ok", BUT_HAS + TOO_MANY_FIELDS),
    "an endless trailer": ([CHUNKED + b"2\r\nok\r\n0\r\nX: " + b"y" * 1_000_000], "ok", BUT_HAS + LONG_PART),
    "an endless extension": ([CHUNKED + b"2\r\nok\r\n2;" + b"y" * 1_000_000], "ok", BUT_HAS + LONG_PART),
    "no end of a head": ([HEAD + b"X: "], "", TOO_SLOW),
    "half a body": ([SIZED + b"ok"], "ok", TOO_SLOW),
    "no last chunk": ([CHUNKED + b"2\r\nok\r\n"], "ok", TOO_SLOW),
    "a size that never comes": ([CHUNKED + b"ffffffffffffffff\r\nok"], "ok", TOO_SLOW),
    "no end": ([HEAD + b"\r\nok"], "ok", TOO_SLOW),
    "one byte at times": ([SIZED + b"o", PAUSE, b"k", *[PAUSE] * 100], "ok", TOO_SLOW),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("steps", "body", "error"), BROKEN.values(), ids=BROKEN)
@each_loop
def test_the_status_of_a_broken_answer_counts(run: Run, steps: Steps, body: str, error: str) -> None:
    for end in outcomes(run, plays(steps), post(""), 0.3 if error == TOO_SLOW else 10):
        assert (end.kind, end.status, end.body, end.error) == (AttemptEnd.ANSWERED, 200, body, error)


NONE: dict[str, tuple[Steps, str]] = {  # what comes, and what is said of an attempt without an answer
    "nothing": ([], SILENT),
    "interim answers alone": ([EARLY, PAUSE, EARLY], SILENT),
    "endless interim answers": ([EARLY * 50_000], NO_ANSWER + LONG_HEAD),
    "endless empty lines": ([b"\r\n" * 500_000], NO_ANSWER + LONG_HEAD),
    "HTTP/2.0": ([b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"], BAD_LINE),
    "HTTP/1.2": ([b"HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n"], BAD_LINE),
    "a broken interim answer": ([b"HTTP/1.1 103 E\r\nno colon\r\n\r\n" + OK], NOT_HTTP + "Invalid header token"),
    "a broken answer after it": ([EARLY + b"HTTP/1.1 103 E\r\nX: \0\r\n\r\n" + OK], NOT_HTTP + "a field with a NUL"),
    "status 0": ([b"HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n"], BAD_STATUS.format(0)),
    "status 99": ([b"HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n"], BAD_STATUS.format(99)),
    "status 1000": ([b"HTTP/1.1 1000 OK\r\nContent-Length: 0\r\n\r\n"], BAD_LINE),
    "two blanks": ([b"HTTP/1.1  200 OK\r\nContent-Length: 0\r\n\r\n"], BAD_LINE),
    "a page": ([b"<html></html>"], BAD_LINE),
    "HTTP/2": ([b"\0\0\x12\4\0\0\0\0\0"], BAD_LINE),
    "TLS": ([b"\x15\x03\x01\x00\x02\x02\x46"], "the answer is TLS; use https:// instead of http:// in its URL"),
}  # fmt: skip


@pytest.mark.parametrize(("steps", "error"), NONE.values(), ids=NONE)
@each_loop
def test_a_reply_that_is_no_answer_is_explained(run: Run, steps: Steps, error: str) -> None:
    kind = AttemptEnd.TIMEOUT if error == SILENT else AttemptEnd.CONNECTION
    for end in outcomes(run, plays(steps), post(""), 0.3 if error == SILENT else 10):
        assert end == AttemptResult(kind, error=error)


POINTS: dict[str, tuple[bytes, int | None, str]] = {  # where an answer ends, the status by then, the body by then
    "before it": (b"", None, ""),
    "in the status line": (b"HTTP/1.1 20", None, ""),
    "behind an interim answer": (EARLY, None, ""),
    "in another status line": (EARLY + b"HTTP/1.1 2", None, ""),
    "behind the status line": (HEAD, 200, ""),
    "in a name": (HEAD + b"Content-Le", 200, ""),
    "in a value": (HEAD + b"Content-Length: ", 200, ""),
    "behind a field": (HEAD + b"Content-Length: 4\r\n", 200, ""),
    "behind the head": (SIZED, 200, ""),
    "in the body, with a blank after the name": (HEAD + b"Content-Length : 4\r\n\r\nok", 200, "ok"),
    "in the body": (SIZED + b"ok", 200, "ok"),
    "in a size": (CHUNKED + b"2", 200, ""),
    "in a chunk": (CHUNKED + b"5\r\nok", 200, "ok"),
    "behind a chunk": (CHUNKED + b"2\r\nok\r\n", 200, "ok"),
    "in trailers": (CHUNKED + b"2\r\nok\r\n0\r\nTransfer-Encoding: gzip\r\n", 200, "ok"),
}  # fmt: skip


@pytest.mark.parametrize(("start", "status", "body"), POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("how", [CLOSE, RESET, END])
@each_loop
def test_an_answer_may_break_off_anywhere(run: Run, how: Step, start: bytes, status: int | None, body: str) -> None:
    for end in outcomes(run, plays([start, PAUSE, how]), post(""), 10):
        if status is None:
            error = (WAS_RESET if how is RESET else CLOSED) + ("" if start else PERHAPS_TLS)
            assert end == AttemptResult(AttemptEnd.CONNECTION, error=error)
        else:
            assert (end.kind, end.status, end.body, end.error) == (AttemptEnd.ANSWERED, status, body, BROKE_OFF)


@each_loop
def test_a_reset_is_no_end_of_a_body(run: Run) -> None:
    for end in outcomes(run, plays([HEAD + b"\r\nok", PAUSE, RESET]), post(""), 10):
        assert (end.status, end.body, end.error) == (200, "ok", BROKE_OFF)


@each_loop
@pytest.mark.parametrize("upgrade", [b"", b"Connection: upgrade\r\nUpgrade: websocket\r\n"])
def test_another_protocol_is_an_answer_and_ends_the_connection(run: Run, upgrade: bytes) -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\n" + upgrade + b"\r\n"
    for end in outcomes(run, plays([head + b"\x81\x05hello"]), post(""), 10):
        assert (end.kind, end.status, end.body, end.error) == (AttemptEnd.ANSWERED, 101, "", "")


@each_loop
@pytest.mark.parametrize("framing", [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b""])
@pytest.mark.parametrize("body", [b"", b"5\r\nhello\r\n0\r\n\r\n"])
def test_an_answer_to_head_has_no_body(run: Run, framing: bytes, body: bytes) -> None:
    steps = [HEAD + framing + b"\r\n" + body]
    for end in outcomes(run, plays(steps), OutgoingRequest("HEAD", ""), 10):
        assert (end.kind, end.status, end.body) == (AttemptEnd.ANSWERED, 200, "")
        assert end.error == (BEHIND if body else "")


@pytest.mark.parametrize("how", [CLOSE, END])
@pytest.mark.parametrize(("start", "error"), [(HEAD + b"\r\nok", ""), (SIZED + b"ok", BROKE_OFF), (b"", CLOSED)])
@each_loop
def test_tls_may_end_without_close_notify(run: Run, tmp_path: Path, how: Step, start: bytes, error: str) -> None:
    context = proof(tmp_path)

    async def main() -> None:
        async with (
            Receiver(plays([start, PAUSE, how]), tls=context) as receiver,
            sender(ca_file=tmp_path / "receiver.pem") as http,
        ):
            for _ in range(2):
                end = await http.send(post(receiver.url.replace("http:", "https:")), 10)
                assert (end.status, end.body, end.error) == ((200, "ok", error) if start else (None, "", error))

    run(main())
