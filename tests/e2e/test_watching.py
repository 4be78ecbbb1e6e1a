"""Live output of a running simulator: the lines of `serve`, `tail` and `listen`, as real processes."""

import fcntl
import json
import re
import signal
import socket
from pathlib import Path
from typing import IO, Any

import pytest

from simulator import __version__
from tests.support.on_the_wire import WiredSandbox
from tests.support.pages import blocks, empty_folder, follow
from tests.support.processes import ROOT, Serving, ask, run, serving
from tests.support.watchers import target, watching

pytestmark = pytest.mark.slow

BODY = {"product": "RELOAD", "account": "0123456789", "amount": 10}


def sandbox(server: Serving, callback: dict[str, Any] | None = None, **more: Any) -> WiredSandbox:
    """A new sandbox under a manual clock."""
    reseller = {"code": "RS001", "balance_webhook": {"url": "inbox:hooks"}} | (
        {"callback": callback} if callback else {}
    )
    scenario = {"scenario": "watched", "extends": "default", "clock": "manual", "resellers": [reseller], **more}
    made = ask(f"{server.ready['url']}/_sim/sandboxes", "POST", json.dumps({"scenario": scenario}).encode())
    assert made.status == 201, made.body
    owner = made.json["resellers"][0]
    port = int(server.ready["url"].rpartition(":")[2])
    return WiredSandbox(port, made.json["id"], owner["api_key"], owner["api_secret"])


def post(server: Serving, box: WiredSandbox, path: str, body: dict[str, Any]) -> None:
    answer = ask(f"{server.ready['url']}/_sim/sandboxes/{box.id}{path}", "POST", json.dumps(body).encode())
    assert answer.status < 300, answer.body


def read_until(stream: IO[str], text: str) -> str:
    """The first line with this text in it."""
    while text not in (line := stream.readline()):
        assert line, f"the stream ended without {text!r}"
    return line


def test_serve_prints_a_line_for_each_request_status_callback_and_webhook() -> None:
    with serving("--port", "0", "--clock", "manual") as server:
        url = server.first_line.split()[-1]
        body = json.dumps({"refid": "order-1", **BODY})
        assert run("call", "POST", "/v2/topup", "-d", body, "--url", url).status == 0
        assert " default POST /v2/topup 200 #1 order-1 rule=ordinary " in read_until(server.out, "200 #1")
        assert " default status  order-1 Accepted rule=ordinary\n" in server.out.readline()
        ask(f"{url}/_sim/sandboxes/default/clock/advance", "POST", b'{"until": "idle"}')
        shown = [server.out.readline() for _ in range(4)]
        assert [line.split(" ", 2)[2].split()[:3] for line in shown] == [
            ["status", "order-1", "Processing"],
            ["callback", "order-1", "Processing"],
            ["status", "order-1", "Succesful"],
            ["callback", "order-1", "Succesful"],
        ]
        assert re.search(r" POST inbox:callbacks 200 delivered [0-9]+\.[0-9] ms\n$", shown[-1])
        assert ask(f"{url}/v2/balance").status == 401
        refused = server.out.readline()
        assert " default GET /v2/balance 401 " in refused
        assert "X-Api-Key" in refused
        assert "\x1b" not in refused
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 10) as stream:
            stream.sendall(b"GET /_sim/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert stream.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
            assert server.stop(signal.SIGTERM) == (0, "", "")


def test_the_lines_may_be_json_or_none_and_leave_the_line_of_json_alone() -> None:
    with serving("--port", "0", "--clock", "manual", "--json", "--log", "json") as server:
        assert ask(f"{server.ready['url']}/v2/balance").status == 401
        assert server.process.stderr is not None
        event = json.loads(server.process.stderr.readline())
        assert (event["kind"], event["path"], event["status"]) == ("request", "/v2/balance", 401)
        assert server.stop(signal.SIGTERM) == (0, "", "")
    with serving("--port", "0", RESELLER_SIM_QUIET="1") as server:
        assert ask(f"{server.first_line.split()[-1]}/v2/balance").status == 401
        _, out, err = server.stop(signal.SIGTERM)
    assert ("401" in out, err) == (False, "")


def test_every_line_of_a_log_is_json_and_none_has_a_secret_of_the_scenario(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-control-token-of-ours")
    token.chmod(0o600)
    with serving("--port", "0", "--log", "json", "--control-token-file", str(token)) as server:
        ready = json.loads(server.first_line)
        assert (ready.pop("url").rpartition(":")[0], ready.pop("version")) == ("http://127.0.0.1", __version__)
        assert ready == {"kind": "ready", "sandbox": "default"}
        assert ask(f"{json.loads(server.first_line)['url']}/v2/balance").status == 401
        assert json.loads(server.out.readline())["kind"] == "request"
        assert server.stop(signal.SIGTERM) == (0, "", "")
    with serving("--port", "0", "--host", "0.0.0.0", "--log", "json") as server:
        assert len(json.loads(server.first_line)["control_token"]) > 16


def test_a_reader_that_stops_reading_blocks_no_client_and_learns_how_many_events_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text("extends: default\nclock: manual\nlimits: { journal: 20 }\n")
    with serving(str(path), "--port", "0", "--log", "json") as server:
        url = json.loads(server.first_line)["url"]
        fcntl.fcntl(server.out.fileno(), fcntl.F_SETPIPE_SZ, 4096)
        port = int(url.rpartition(":")[2])
        answered = flooded(port, 300)
        assert answered == 300
        assert ask(f"{url}/_sim/health").status == 200
        gap = json.loads(read_until(server.out, '"gap"'))
        assert gap["missing"] > 0
        assert flooded(port, 300) == 300
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0


def flooded(port: int, count: int) -> int:
    """Return how many of the requests with long paths are answered while no process reads the lines."""
    request = b"GET /" + b"x" * 4000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        answers = b""
        for _ in range(count):
            connection.sendall(request)
            begun = len(answers)
            while answers.count(b"HTTP/1.1 404", begun) < 1:
                answers += connection.recv(65536)
    return answers.count(b"HTTP/1.1 404")


def test_tail_prints_what_happens_until_the_sandbox_is_deleted(server: Serving) -> None:
    box, url = sandbox(server), server.ready["url"]
    box.pay({"refid": "t1", **BODY})
    with watching("tail", "--url", url, "--sandbox", box.id, "--only", "statuses,entries", "--history") as tail:
        assert tail.stdout is not None
        assert f" {box.id} wallet  t1 TRANSACTION -9.75, balance " in tail.stdout.readline()
        assert " status  t1 Accepted " in tail.stdout.readline()
        post(server, box, "/clock/advance", {"until": "idle"})
        assert " status  t1 Processing " in tail.stdout.readline()
        ask(f"{url}/_sim/sandboxes/{box.id}", "DELETE")
        out = tail.stdout.read()
        assert tail.wait(15) == 0
    assert [line.split(box.id + " ")[1] for line in out.splitlines()] == [
        "status  t1 Succesful rule=ordinary",
        "sandbox deleted",
    ]


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_the_lines_of_serve_and_tail_hide_credentials(flags: tuple[str, ...]) -> None:
    path = "/v2/balance?sig=unseen-1&next=http://someone:unseen-2@host/&code=unseen-3&product_code=seen"
    with serving("--port", "0") as server:
        url = server.first_line.split()[-1]
        assert ask(url + path, headers={"X-Api-Key": "test_key_RS001"}).status == 401
        lines = [read_until(server.out, "/v2/balance")]
        with watching("tail", "--url", url, "--history", *flags) as tail:
            assert tail.stdout is not None
            lines.append(read_until(tail.stdout, "/v2/balance"))
    for line in lines:
        assert line.count("not shown") + line.count("not%20shown") == 3
        assert "product_code=seen" in line
        assert "unseen" not in line


def test_tail_ends_with_an_interrupt_and_prints_json_when_asked(server: Serving) -> None:
    box = sandbox(server)
    box.pay({"refid": "t2", **BODY})
    with watching("tail", "--url", server.ready["url"], "--refid", "t2", "--history", "--json") as tail:
        assert tail.stdout is not None
        told = (json.loads(line) for line in iter(tail.stdout.readline, ""))
        of_payment = (event for event in told if event["kind"] != "gap")  # other tests' sandboxes are gone
        assert [next(of_payment)["kind"] for _ in range(3)] == ["request", "entry", "status"]
        tail.send_signal(signal.SIGINT)
        assert tail.wait(15) == 130


def test_listen_passes_on_what_was_sent_and_prints_what_was_answered(server: Serving) -> None:
    box = sandbox(server, {"url": "http://127.0.0.1:9/paid?shop=1", "method": "GET"})
    with target(200, 500, 200) as mine, watching(
        "listen", "--url", server.ready["url"], "--sandbox", box.id, "--forward-to", mine.url
    ) as listen:  # fmt: skip
        assert listen.stdout is not None
        assert listen.stderr is not None
        assert listen.stderr.readline() == f"reseller-sim listen: forwarding to {mine.url}\n"
        post(server, box, "/resellers/RS001/deposits", {"amount": "5.00"})
        post(server, box, "/clock/advance", {"until": "idle"})
        assert " webhook balance.added POST inbox:hooks 200 success" in listen.stdout.readline()
        assert listen.stdout.readline().startswith(f"  -> POST {mine.url}/ 200 in ")
        box.pay({"refid": "l1", **BODY})
        post(server, box, "/clock/advance", {"seconds": 5})
        first = listen.stdout.readline()
        assert " callback l1 Processing GET http://127.0.0.1:9/paid?shop=1 " in first
        assert " attempt 1 of 4 next at " in first
        assert f"  -> GET {mine.url}/paid?shop=1&refid=l1&" in (said := listen.stdout.readline())
        assert " 500 in " in said
        hook, callback = mine.got[:2]
    inbox = ask(f"{server.ready['url']}/_sim/sandboxes/{box.id}/inbox/hooks").json["items"][0]
    received = {name.lower(): value for name, value in inbox["headers"]}
    assert hook.body.decode() == inbox["body"]
    assert received.items() <= hook.headers.items()
    assert (callback.method, callback.body) == ("GET", b"")
    assert callback.path.startswith("/paid?shop=1&refid=l1&status=2&price=9.75&message=")


def test_the_page_shows_what_its_commands_print(tmp_path: Path) -> None:
    page = [one for one in blocks((ROOT / "docs" / "watching.md").read_text()) if not one.text.startswith("$")]
    assert page[0].text == "reseller-sim serve --clock manual\n"
    folder = empty_folder(tmp_path)
    with serving("--clock", "manual", "--port", "0", "--json") as server:
        assert follow(page[1:], folder, server)


def test_a_watcher_without_a_simulator_says_so() -> None:
    for verb in (["tail"], ["listen", "--forward-to", "http://localhost:1"]):
        done = run(*verb, "--url", "http://127.0.0.1:9")
        assert done.status == 3
        assert "does not answer" in done.only_error_line
