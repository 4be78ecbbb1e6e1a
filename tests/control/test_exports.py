"""The journal as HAR, and a request as a command that sends the same bytes."""

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from datetime import datetime
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, unquote

import pytest

from simulator.control.curl import call_command, exact_curl_command, read_command
from simulator.runtime.journal import Exchange
from tests.support.client import running
from tests.support.processes import DEADLINE_S, ask, serving

ONE = "/sandboxes/default"
HOSTILE = [
    b'it\'s "quoted" \\ $(touch pwned) `id` ${HOME} !! %s %b \\n',
    b"line one\nline two\r\n\n",
    b"\xff\xfe\x00 not UTF-8, and NUL",
    b"@/etc/passwd",
    b"-d @-",
    "ünïcödé ✓\u202e".encode(),
    b"\n# not a comment",
    b"x" * 5000,
    b"'",
]


def received(command: str) -> bytes:
    """The request that a command sends to a port that answers 204 to anything; `PORT` in it is that port."""
    parts: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(DEADLINE_S)

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.settimeout(DEADLINE_S)
                text = b""
                while b"\r\n\r\n" not in text:
                    text += connection.recv(65536)
                head, _, body = text.partition(b"\r\n\r\n")
                length = next(
                    (int(line[15:]) for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), 0
                )
                while len(body) < length:
                    body += connection.recv(65536)
                parts.extend((head, body))
                connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        command = command.replace("PORT", str(server.getsockname()[1]))
        done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=DEADLINE_S, check=False)
        thread.join()
    assert done.returncode == 0, done.stderr
    return b"\r\n\r\n".join(parts)


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")


@needs_curl
@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_the_command_sends_the_same_bytes_in_path_headers_and_body(hostile: bytes) -> None:
    value = hostile.replace(b"\r", b"").replace(b"\n", b" ").replace(b"\0", b"").strip()
    headers = [(b"x-odd", value), (b"x-empty", b""), (b"accept", b"a/b"), (b"content-type", b"text/odd")]
    target = b"/v2/../{a}/[1-3]?q=$(id)&r='%00'&s=`x`"
    command = exact_curl_command("POST", b"http://127.0.0.1:PORT" + target, headers, hostile)
    head, _, body = received(command).partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    sent = dict(line.split(b":", 1) for line in lines)
    assert first == b"POST " + target + b" HTTP/1.1"
    assert {name: sent[name].strip() for name, _ in headers} == dict(headers)
    assert {name.lower() for name in sent} == {b"host", b"content-length", *(name for name, _ in headers)}
    assert body == hostile


@pytest.mark.parametrize("body", [b"", b"it's $(id) `x`", b"\n# not a comment", b"x" * 5000])
@pytest.mark.parametrize("target", [b"", b"/v2/catalog?a=b c"])
def test_the_command_is_read_unchanged(body: bytes, target: bytes) -> None:
    value = body.replace(b"\n", b" ").strip()
    headers = [(b"x-odd", value), (b"x-empty", b""), (b"accept", b"a/b")]
    url = b"http://127.0.0.1:80/v2/../{a}/[1-3]?q=$(id)&r='%00'&s=`x`"
    read = read_command(exact_curl_command("POST", url, headers, body, target))
    assert (read.method, read.body, read.target) == ("POST", body, (target or url).decode())
    lines = [line.encode() for line in read.headers]
    assert lines == [b"x-odd: " + value if value else b"x-odd:", b"x-empty:", b"accept: a/b"]


@needs_curl
@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PROPFIND"])
def test_the_command_sends_no_header_and_no_body_that_was_not_there(method: str) -> None:
    head = received(exact_curl_command(method, b"http://127.0.0.1:PORT/v2/balance", [], b""))
    assert head.split(b"\r\n")[0] == method.encode() + b" /v2/balance HTTP/1.1"
    assert [line.split(b":")[0].lower() for line in head.strip().split(b"\r\n")[1:]] == [b"host"]


@needs_curl
def test_the_length_of_a_body_is_sent_once() -> None:
    headers = [(b"Content-Length", b"0"), (b"Content-Length", b"3")]
    sent = received(exact_curl_command("POST", b"http://127.0.0.1:PORT/v2/topup", headers, b"abc"))
    assert sent.lower().count(b"content-length: ") == sent.count(b"Content-Length: 3") == 1


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_the_signing_command_passes_the_body_to_the_program_in_a_single_line(hostile: bytes) -> None:
    command = call_command("POST", b"http://h/'s", b"/v2/topup?a=$(id)", hostile)
    assert "\n" not in command
    script = 'reseller-sim() { printf "%s\\0" "$@"; [ "${!#}" = - ] && cat; true; }\n'
    done = subprocess.run(["bash", "-c", script + command], capture_output=True, timeout=DEADLINE_S, check=True)
    *words, rest = done.stdout.split(b"\0", 7)
    assert words == [b"call", b"POST", b"/v2/topup?a=$(id)", b"--url", b"http://h/'s", b"-d", words[-1]]
    assert (rest if words[-1] == b"-" else words[-1]) == hostile


def test_a_request_is_shown_with_its_sent_bytes_and_a_command_that_signs_it_again() -> None:
    with running() as client:
        client.pay("it's")
        shown = client.sim("GET", f"{ONE}/requests/1.curl")
        assert shown.headers["content-type"].startswith("text/plain")
        text = shown.body.decode()
        sent = client.sim("GET", f"{ONE}/requests/1").json["request"]
    first, *comments, command = text.splitlines()
    assert first == "# Request 1 as it was sent: answered 200."
    assert all(line.startswith("#") for line in comments)
    assert comments[-1].startswith("#   reseller-sim call POST /v2/topup --url http://127.0.0.1:8080 -d ")
    assert command.startswith("curl -X POST http://127.0.0.1:8080/v2/topup -H ")
    assert "ref" in sent["body"]
    for name, value in sent["headers"]:
        assert name in ("host", "content-length") or f"{name}: {value}" in command


def test_a_body_of_several_lines_cannot_leave_its_comment() -> None:
    with running() as client:
        client.call("POST", "/v2/topup", b"{}\ntouch pwned\n\xff")
        lines = client.sim("GET", f"{ONE}/requests/1.curl").body.decode().splitlines()
    assert [line[:1] for line in lines] == ["#", "#", "#", "#", "p"]
    assert "touch" in lines[-1]


def test_secrets_are_masked_and_named() -> None:
    with running() as client:
        login = {"username": "someone", "password": "hunter2hunter2"}
        client.send("POST", "/v2/token", "token=hunter2hunter2", client.encoded(login), {"authorization": "Bearer abc"})
        text = client.sim("GET", f"{ONE}/requests/1.curl").body.decode()
    assert "hunter2" not in text
    assert "abc" not in text
    assert "# Fill in the secrets, which are shown as (not shown)." in text.splitlines()


def test_the_command_of_another_sandbox_has_its_address_and_an_unknown_request_is_404() -> None:
    with running() as client:
        client.sim("POST", "/sandboxes", {"id": "mine"})
        client.call("GET", "/v2/balance", sandbox="mine")
        text = client.sim("GET", "/sandboxes/mine/requests/1.curl").body.decode()
        unknown = [client.sim("GET", f"{ONE}/requests/{n}.curl").status for n in ("1", "x", "")]
    assert " http://127.0.0.1:8080/s/mine/v2/balance " in text
    assert unknown == [404, 404, 404]


def har(client: Any, query: str = "") -> dict[str, Any]:
    log: dict[str, Any] = client.sim("GET", f"{ONE}/requests.har?{query}").json["log"]
    return log


def test_the_journal_is_har_1_2_oldest_first_with_the_filters_of_the_list() -> None:
    with running() as client:
        client.pay("a")
        client.advance(5)
        client.call("GET", "/v2/options?product=RELOAD&product=%20x")
        client.pay("b", product="NOWHERE")
        whole = har(client)
        refused = har(client, "status_min=400&path=/v2/topup")
        impossible = client.sim("GET", f"{ONE}/requests.har?status=4xx")
    assert (whole["version"], whole["creator"]["name"], "comment" in whole) == ("1.2", "reseller-sim", False)
    entries = whole["entries"]
    assert [one["_n"] for one in entries] == [1, 2, 3]
    times = [datetime.fromisoformat(one["startedDateTime"]) for one in entries]
    assert times == sorted(times)
    assert all(one.utcoffset() is not None for one in times)
    for one in entries:
        assert one["time"] == sum(one["timings"].values())
        assert one["request"]["httpVersion"] == one["response"]["httpVersion"] == "HTTP/1.1"
        assert one["response"]["content"]["size"] == len(one["response"]["content"]["text"].encode())
        assert one["request"]["url"].startswith("http://127.0.0.1:8080/v2/")
    pairs = [{"name": "product", "value": "RELOAD"}, {"name": "product", "value": " x"}]
    assert entries[1]["request"]["queryString"] == pairs
    assert entries[0]["request"]["postData"]["mimeType"] == ""
    assert [one["_n"] for one in refused["entries"]] == [3]
    assert refused["entries"][0]["_error"] == "Invalid_Product"
    assert impossible.status == 400
    assert "use status_min and status_max" in impossible.json["message"]


def test_a_har_is_bounded_and_says_where_the_earlier_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as client:
        for number in range(5):
            client.pay(f"ref-{number}")
        latest = har(client, "limit=2")
        assert [one["_n"] for one in latest["entries"]] == [4, 5]
        assert latest["comment"] == "Earlier requests are left out; the next page has cursor=4."
        assert [one["_n"] for one in har(client, "cursor=4")["entries"]] == [1, 2, 3]
        monkeypatch.setattr("simulator.control.journal_endpoints.HAR_BYTES_MAX", 1)
        assert [one["_n"] for one in har(client)["entries"]] == [5]


def test_a_har_has_no_secrets() -> None:
    with running() as client:
        login = {"username": "someone", "password": "hunter2hunter2"}
        client.send("POST", "/v2/token", "", client.encoded(login), {})
        client.send("GET", "/v2/balance", f"note={client.secret}", b"", {"x-note": client.secret})
        answer = client.sim("GET", f"{ONE}/requests.har")
    text = answer.body.decode()
    urls = [entry["request"]["url"] for entry in answer.json["log"]["entries"]]
    assert urls[-1].endswith("/v2/balance?note=(not%20shown)"), "a URL has no blanks"
    assert "hunter2" not in text
    assert client.secret not in text


ODD_TARGETS = [
    "/v2/a%20b", "/v2/x%3Fa=b", "/v2/a%23b", "/v2/a%2Fb", "/v2/100%25", "/v2/%2e%2e/x", "/v2/%0a", "/v2/x%00y",
    "/v2/%C3%A9?q=%41", "/v2/balance?", "/v2/balance?a=?", "//evil.example/v2", "/v2/{a}/../[1-3]",
    "http://abs.example/v2/balance?a=b", "/s/default/v2/%62alance?x=1", "/v2/a%23b#c?d",
]  # fmt: skip


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A simulator as a process: what it is sent is bytes, and not what ASGI has decoded."""
    with serving("--port", "0", "--json") as server:
        yield server.ready["url"]


def journaled(url: str, target: str, body: bytes = b"") -> tuple[str, dict[str, Any]]:
    """Send a request with this target as it stands; the command that is shown for it, and its entry in the HAR."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=DEADLINE_S)
    connection.putrequest("POST" if body else "GET", target, skip_accept_encoding=True)
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    number = connection.getresponse().headers["x-sim-request-id"]
    connection.close()
    base = f"{url}/_sim/sandboxes/default/requests"
    return ask(f"{base}/{number}.curl").body.decode(), ask(f"{base}.har?limit=1").json["log"]["entries"][0]


@needs_curl
def test_the_command_and_the_har_have_the_target_that_was_sent(url: str) -> None:
    for target in ODD_TARGETS:
        text, entry = journaled(url, target)
        command = text.splitlines()[-1].replace(url, "http://127.0.0.1:PORT")
        assert received(command).split(b"\r\n")[0].decode() == f"GET {target} HTTP/1.1"
        path, *query = target.removeprefix("http://abs.example").split("?", 1)
        assert entry["request"]["url"] == url + "?".join([quote(path, safe="/:%="), *query])


def test_an_unread_body_is_reported_as_missing(url: str) -> None:
    text, entry = journaled(url, "/v2/topup", b'{"a":1}')
    assert "# Its body of 7 bytes was not read. Both commands are without it." in text.splitlines()
    assert entry["request"]["bodySize"] == -1
    assert entry["request"]["comment"] == "Its body of 7 bytes was not read."
    text, entry = journaled(url, "/v2/balance")
    assert "not read" not in text
    assert "comment" not in entry["request"]


def test_a_secret_in_an_encoded_path_is_masked() -> None:
    with running() as client:
        encoded = "".join(f"%{byte:02X}" for byte in client.secret.encode())
        shown = client.sim("GET", f"{ONE}/requests.har").body.decode()
        for target in (f"/v2/{encoded}", f"http://{client.secret}.example/v2/%20"):
            exchange = Exchange(
                at=client.live.clock.now(), method="GET", path="/v2/" + unquote(target.rpartition("/")[2]), query=b"",
                packed_headers=b"", client="", target=target.encode(),
            )  # fmt: skip
            client.live.journal.add(exchange)
        shown += client.sim("GET", f"{ONE}/requests.har").body.decode()
        shown += client.sim("GET", f"{ONE}/requests/1.curl").body.decode()
        shown += client.sim("GET", f"{ONE}/requests/2.curl").body.decode()
    assert encoded not in shown
    assert client.secret not in shown
    assert "# Fill in the secrets, which are shown as (not shown)." in shown
