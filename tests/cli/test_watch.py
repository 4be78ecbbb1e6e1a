"""`tail` and `listen`: a stream resumes where it was interrupted, and reports a stopped server."""

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from simulator.cli import control as control_module
from simulator.cli.control import Stream
from simulator.cli.event_writer import LineWriter
from simulator.cli.usage import CannotStart
from simulator.cli.watch import EventLines, _forwarded, target_of
from tests.support.certificates import Pair, pair
from tests.support.receivers import refused_url
from tests.support.runner import invoke, refusal
from tests.support.watchers import target

AT = "2026-11-21T12:00:00.000000Z"
ALWAYS = {"sandbox": "default", "number": 1, "at": AT, "wall": AT}
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
                    with suppress(OSError):  # it may be read in part
                        connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", got
    thread.join(10)


def event(n: int, **fields: object) -> bytes:
    whole = {"id": f"x.{n}", "kind": "action"} | ALWAYS | {"action": "created", "about": "default"} | fields
    return f"id: x.{n}\ndata: {json.dumps(whole)}\n\n".encode()


def attempt(n: int, **fields: object) -> bytes:
    ended = {"url": "http://x/y", "attempt": 1, "attempts_max": 4, "state": "delivered", "ending": "answered"}
    ended |= {
        "answered": 200,
        "error": "",
        "next_due": None,
        "status": "Succesful",
        "method": "POST",
        "duration_us": 1200,
    }
    return event(n, kind="callback", refid="r", trxid="t", reseller="RS001", callback="c1", **ended | fields)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_module, "PAUSES", 1)
    monkeypatch.setattr(control_module, "PAUSE_S", 0.0)


def test_an_interrupted_stream_resumes_after_the_last_whole_event() -> None:
    cut = HEAD + event(1) + b": still here\nid: x.7\n\n" + b"id: x.8\ndata: {"
    with server(cut, HEAD + event(9)) as (url, got):
        events = Stream({"only": "status"}, url, None, "secret").events()
        assert [next(events)["id"], next(events)["id"]] == ["x.1", "x.9"]
        with pytest.raises(CannotStart, match="has ended, or does not answer any more"):
            next(events)
    assert got[0].startswith("GET /_sim/events?only=status HTTP/1.1\r\n")
    assert "last-event-id" not in got[0].lower()
    assert "Last-Event-ID: x.7\r\n" in got[1]
    assert "Authorization: Bearer secret\r\n" in got[0]


def test_the_stream_of_a_deleted_sandbox_ends_and_the_stream_of_all_continues() -> None:
    answer = HEAD + event(1, action="deleted")
    with server(answer) as (url, got):
        assert len(list(Stream({}, f"{url}/_sim", "a b", None).events())) == 1
    assert got[0].startswith("GET /_sim/sandboxes/a%20b/events HTTP/1.1\r\n")
    with server(answer) as (url, _), pytest.raises(CannotStart):
        list(Stream({}, url, None, None).events())


def test_a_refusal_of_the_server_is_printed() -> None:
    refused = b'HTTP/1.1 404 X\r\ncontent-length: 30\r\n\r\n{"message": "no such sandbox"} '
    with server(refused) as (url, _):
        said = refusal(invoke("tail", "--url", url, "--sandbox", "none"), 3)
    assert said.startswith(f"reseller-sim tail: {url} answered with 404 ")
    assert said.endswith("no such sandbox\"}': is it a simulator?")
    body = b'{"error": "unknown_sandbox", "message": "GET /_sim/sandboxes lists them"}'
    with server(b"HTTP/1.1 404 X\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)) as (url, _):
        said = refusal(invoke("tail", "--url", url, "--sandbox", "none"), 3)
    assert said.endswith("404: there is no sandbox 'none': `reseller-sim sandbox list` lists them")


def test_an_answer_that_is_no_stream_is_reported() -> None:
    with server(HEAD + b"data: hello\n\n") as (url, _):
        said = refusal(invoke("tail", "--url", url), 3)
    assert said == f"reseller-sim tail: {url} sent something that is not an event: is it a simulator?"


@pytest.mark.parametrize(
    ("body", "said"),
    [(b"<html>", "answered with 200 '<html>': is it a simulator?"), (b"{}", "answered 200 instead of")],
)
def test_another_server_is_not_asked_again(body: bytes, said: str) -> None:
    page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n" + body
    with server(page, page) as (url, got):
        assert said in refusal(invoke("tail", "--url", url), 3)
        assert len(got) == 1
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))).close()  # so that the server ends


def raw(data: str) -> bytes:
    return HEAD + f"id: x.1\ndata: {data}\n\n".encode()


SENT = {"method": "POST", "url": "http://x/y", "headers": [["A", "b"]], "body": "x"}


@pytest.mark.parametrize(
    "answer",
    [
        raw("[" * 100_000),
        raw('{"id": "x", "kind": "request", "status": ' + "[" * 60_000 + "]" * 60_000 + "}"),
        raw("[]"),
        raw("{}"),
    ],
    ids=lambda answer: answer[len(HEAD) :][:60].decode(),
)
@pytest.mark.parametrize("verb", [["tail"], ["listen", "--forward-to", "http://127.0.0.1:9"]], ids=" ".join)
def test_an_event_without_the_shape_of_an_event_is_reported(verb: list[str], answer: bytes) -> None:
    with server(answer) as (url, _):
        done = invoke(*verb, "--url", url)
    assert (done.exit_code, done.stdout) == (3, "")
    said = f"reseller-sim {verb[0]}: {url} sent something that is not an event: is it a simulator?\n"
    assert done.stderr.endswith(said), "Python may report garbage of other tests before it, while the stack is deep"


def test_fields_that_no_event_has_are_not_kept() -> None:
    fields = b"".join(b"f%d: x\n" % n for n in range(1000))
    with server(HEAD + fields + b"event: later\n" + event(3)) as (url, _):
        assert next(Stream({}, url, None, None).events())["id"] == "x.3"


def test_a_message_that_cannot_be_sent_is_reported_and_the_next_is_sent() -> None:
    bad = [SENT | {"url": "http://[x"}, SENT | {"method": "GET / HTTP/1.1\r\nX: y"}, SENT | {"url": "http://x/a b"}]
    bad += [SENT | {"headers": [["X: 1\r\nY", "b"]]}, SENT | {"headers": [["X", "\u20ac"]]}]
    answer = HEAD + b"".join(attempt(n, sent=sent) for n, sent in enumerate([*bad, SENT]))
    with target() as mine, server(answer) as (url, _):
        done = invoke("listen", "--url", url, "--forward-to", mine.url)
        said = [line for line in done.output.splitlines() if line.startswith("  -> ")]
        assert [message.path for message in mine.got] == ["/y"]
        assert mine.got[0].headers["connection"] == "close"
    assert len(said) == len(bad) + 1
    assert said[0].startswith("  -> not forwarded: the URL that was called cannot be read (")
    assert all(" no answer (" in line for line in said[1:-1])
    assert " 200 in " in said[-1]


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        (["tail"], "/events HTTP/1.1"),
        (["tail", "--only", "statuses"], "/events?only=status HTTP/1.1"),
        (["listen", "--forward-to", "http://x"], "/events?only=callback%2Cwebhook&with=bodies HTTP/1.1"),
        (["listen", "--forward-to", "http://x", "--only", "webhooks"], "/events?only=webhook&with=bodies HTTP/1.1"),
        (["listen", "--forward-to", "http://x", "--only", "callbacks"], "/events?only=callback&with=bodies HTTP/1.1"),
    ],
)
def test_the_variable_selects_the_watched_sandbox(verb: list[str], asked: str) -> None:
    with server(HEAD) as (url, got):
        assert invoke(*verb, "--url", url, RESELLER_SIM_SANDBOX="mine").exit_code == 3
    assert got[0].splitlines()[0] == f"GET /_sim/sandboxes/mine{asked}"


def test_an_idle_reader_of_serve_does_not_keep_it_alive(tmp_path: Path) -> None:
    async def made() -> list[bool]:
        with (tmp_path / "lines").open("w") as stream:
            before = set(threading.enumerate())
            LineWriter(stream, lambda line: None)
            return [thread.daemon for thread in set(threading.enumerate()) - before]

    assert asyncio.run(made()) == [True]


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


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (OK + b"content-length: 2000000\r\n\r\n" + b"x" * 2_000_000, "200"),
        (OK + b"content-length: 5\r\n\r\nx", "no answer (4 bytes of the response are missing)"),
        (OK + b"transfer-encoding: chunked\r\n\r\nffffffff\r\nabc", "no answer ("),
        (b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n", "302"),
        (b"\x00\x1b[31m garbage\r\n\r\n", r"no answer (\x00\x1b[31m garbage)"),
        (OK + b"a: b\r\n" * 10_000 + b"\r\n", "no answer (got more than 100 headers)"),
        (b"", "no answer (Remote end closed connection without response)"),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else None,
)
def test_every_answer_of_a_target_is_a_single_line(answer: bytes, said: str) -> None:
    with server(answer) as (url, got):
        line = _forwarded(url, SENT | {"body": ""}, 5)  # in one packet
    assert line.startswith(f"POST {url}/y {said}")
    assert line.isprintable()
    assert len(got) == 1  # nothing is followed or sent again


def test_lines_are_coloured_only_on_request_and_never_by_their_content() -> None:
    came = {"kind": "status", "at": "2026-11-21T12:00:00.123456Z", "sandbox": "s", "refid": "\x1b[31mred\n"}
    whole = came | {"status": "Succesful", "rule": "r"}
    assert EventLines(coloured=False).line(whole) == r"20:00:00.123+08:00 s status  \x1b[31mred\n Succesful rule=r"
    assert "\x1b[32mSuccesful\x1b[0m" in EventLines(coloured=True).line(whole)
    assert EventLines(coloured=False).line(came) == "20:00:00.123+08:00 s status"
    assert EventLines(coloured=False).line({"kind": "later", "sandbox": "s"}) == " s later  "
    assert EventLines(coloured=False).line({"kind": "gap", "missing": 3}).startswith("... 3 events are missing here")


@pytest.fixture(scope="module")
def https_receiver() -> Iterator[tuple[str, Pair]]:
    """An address of https that answers 204, and its self-signed certificate."""

    class Answering(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # its name
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    own = pair("receiver")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*own)
    receiver = HTTPServer(("127.0.0.1", 0), Answering)
    receiver.socket = context.wrap_socket(receiver.socket, server_side=True)
    receiver.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that does not trust it leaves
    thread = threading.Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"https://localhost:{receiver.server_port}", own
    receiver.shutdown()
    thread.join()
    receiver.server_close()


@pytest.mark.parametrize(
    ("flags", "answer"),
    [
        ((), "its certificate is not trusted: self-signed certificate; name its file, or its authority's, "),
        (("--ca", "CERTIFICATE"), "/paid 204 in "),
        (("--insecure",), "/paid 204 in "),
    ],
)
def test_a_message_is_passed_on_by_https(https_receiver: tuple[str, Pair], flags: tuple[str, ...], answer: str) -> None:
    address, own = https_receiver
    flags = tuple(str(own.certificate) if flag == "CERTIFICATE" else flag for flag in flags)
    sent = {"method": "POST", "url": f"{address}/paid", "headers": [], "body": "{}"}
    with server(HEAD + attempt(1, sent=sent)) as (url, _):
        done = invoke("listen", "--url", url, "--forward-to", address, *flags)
    assert answer in done.stdout


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.pem"
    file.write_text("nothing")
    done = invoke("listen", "--forward-to", "https://localhost:3000", "--ca", str(file))
    assert (done.exit_code, f"{file} cannot be used: no certificate in PEM is in it" in done.stderr) == (2, True)
