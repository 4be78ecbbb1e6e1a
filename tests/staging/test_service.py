"""The client of a deployment over real sockets: what it sends, which answers it takes, and what it never does."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

import pytest

from simulator.staging import service
from simulator.staging.service import Answer, HttpService, NoAnswer, Request, unix_seconds

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Some: thing\r\n\r\n{}"
GET = Request("GET", "/v2/options?product_code=A%20B&field_id=x%2Fy", {"X-API-Key": "mine"})


class Deployment:
    """A server that gives each request the next answer, the last one again and again; None is never answered. A
    connection is closed after an answer other than `OK`."""

    def __init__(self, answers: Sequence[bytes | None]) -> None:
        self.requests: list[bytes] = []
        self.connections = 0
        self._answers = list(answers)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                taken, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(taken)
            threading.Thread(target=self._serve, args=(taken,), daemon=True).start()

    def _serve(self, taken: socket.socket) -> None:
        with taken, suppress(OSError):  # the test may have ended
            while request := taken.recv(65536):
                self.requests.append(request)
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                if answer is not None:
                    taken.sendall(answer)
                    if answer != OK:
                        return

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for each in self._open:
            each.close()


@contextmanager
def deployed(*answers: bytes | None, path: str = "", timeout_s: float = 10) -> Iterator[tuple[HttpService, Deployment]]:
    with (
        closing(Deployment(answers)) as deployment,
        closing(HttpService(deployment.url + path, timeout_s)) as client,
    ):
        yield client, deployment


def test_a_request_is_sent_unchanged_below_the_path_of_the_address() -> None:
    with deployed(OK, path="/s/mine/") as (client, deployment):
        answer = client.send(GET)
        assert (answer.status, answer.body, answer.headers["x-some"]) == (200, b"{}", "thing")
        host = deployment.url.removeprefix("http://")
        assert deployment.requests == [
            b"GET /s/mine%b HTTP/1.1\r\nHost: %b\r\nX-API-Key: mine\r\n\r\n" % (GET.target.encode(), host.encode())
        ]


def test_requests_share_a_connection_and_no_cookie_and_follow_no_redirect() -> None:
    redirect = OK.replace(b"200 OK", b"302 Found").replace(
        b"X-Some: thing", b"Connection: close\r\nLocation: /x\r\nSet-Cookie: a=b"
    )
    with deployed(OK, OK, redirect, OK) as (client, deployment):
        assert [client.send(GET).status for _ in range(4)] == [200, 200, 302, 200]
        assert deployment.connections == 2
        assert len(set(deployment.requests)) == 1


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n{", b"hello\r\n\r\n"])
def test_a_truncated_answer_counts_as_missing_and_the_request_is_not_repeated(answer: bytes) -> None:
    with deployed(answer, OK) as (client, deployment):
        with pytest.raises(NoAnswer, match="no complete answer"):
            client.send(GET)
        assert len(deployment.requests) == 1
        assert client.send(GET).status == 200


def test_an_answer_that_does_not_come_is_given_up() -> None:
    with deployed(None, timeout_s=0.05) as (client, _), pytest.raises(NoAnswer, match=r"within 0\.05 seconds"):
        client.send(GET)


def test_a_body_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "BODY_BYTES_MAX", 2)
    with deployed(OK, OK.replace(b"2\r\n", b"3\r\n") + b" ") as (client, _):
        assert client.send(GET).body == b"{}"
        with pytest.raises(NoAnswer, match="more than 2 bytes"):
            client.send(GET)


def test_an_address_without_a_server_gives_no_answer() -> None:
    with closing(Deployment([OK])) as deployment:
        url = deployment.url
    with closing(HttpService(url, 10)) as client, pytest.raises(NoAnswer, match="Connection refused"):
        client.send(GET)


def test_a_header_that_http_does_not_allow_is_not_sent() -> None:
    with deployed(OK) as (client, deployment):
        with pytest.raises(NoAnswer, match="not allowed in HTTP"):
            client.send(Request("GET", "/", {"X-API-Key": "hunter2\r\nX: y"}))
        assert deployment.requests == []


def test_an_answer_shows_no_header() -> None:
    assert "hush" not in repr(Answer(GET, 200, {"x-secret": "hush"}, b"{}"))


def test_an_answer_says_where_a_redirect_leads() -> None:
    redirect = Answer(GET, 301, {"location": "https://staging.example.com/v2/options"}, b"")
    assert str(redirect) == "301 of GET /v2/options: a redirect to https://staging.example.com/v2/options"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Thu, 01 Jan 1970 00:01:00 GMT", 60.0),
        ("Sun, 01 Jan 20255 00:00:00 GMT", None),
        ("Sun, 01 Jan 20255202552025520255 00:00:00 GMT", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_date_is_unix_seconds(text: str, seconds: float | None) -> None:
    assert unix_seconds(text) == seconds
