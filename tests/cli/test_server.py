"""A server from its flags: where callbacks may go, its banner, and when it is ready."""

import json
import signal
import socket
import threading
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.cli import banner
from simulator.cli import server as server_module
from simulator.cli.banner import page
from simulator.cli.server import BoundServer, prepare
from simulator.cli.server_flags import ServerFlags, of_one_command, options_of
from simulator.cli.usage import CannotStart
from simulator.cli.values import TokenFile
from simulator.persistence.restoration import CannotResume, Restorer
from simulator.server import serve
from tests.support.certificates import Pair, pair
from tests.support.client import running
from tests.support.processes import DEADLINE_S, ask, run, serving
from tests.support.runner import invoke

HTTPS: Any = SimpleNamespace(url="https://127.0.0.1:8443")


def test_verbs_and_curl_trust_the_certificate_and_have_the_token() -> None:
    with running(control_token="t0ken") as client:
        lines = page(BoundServer(HTTPS, client.app, certificate="my cert.pem")).splitlines()
    verbs = [line for line in lines if " --url " in line]
    assert len(verbs) == 3
    assert all("RESELLER_SIM_CA='my cert.pem' " in line for line in verbs)
    assert [line for line in verbs if "advance" in line or "inbox" in line] == [
        line for line in verbs if "--token t0ken" in line
    ]
    assert any(line.startswith("curl --cacert 'my cert.pem' ") for line in lines)


def test_without_tls_no_certificate_is_trusted_and_the_clock_has_its_offset() -> None:
    with running() as client:
        text = page(BoundServer(SimpleNamespace(url="http://127.0.0.1:8080"), client.app))  # type: ignore[arg-type]
    assert "RESELLER_SIM_CA" not in text
    assert "--cacert" not in text
    assert "manual, 2026-11-21 12:00:00.000+08:00" in text


@pytest.mark.parametrize("host", ["[::1]", "::1"])
def test_an_address_of_ipv6_may_have_its_brackets(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[ServerFlags] = []

    def prepare(flags: ServerFlags, *_: Any) -> None:
        seen.append(flags)
        raise CannotStart("seen")

    monkeypatch.setattr(server_module, "prepare", prepare)
    assert invoke("serve", "--host", host).stderr == "reseller-sim serve: seen\n"
    assert seen[0].host == "::1"


FILE = TokenFile("token", "let-me-in")
LIST = Path("tokens")

TABLE: tuple[tuple[dict[str, Any], str, str], ...] = (  # flags, what a server may call, what one of a command may call
    ({}, "any", "any"),
    ({"host": "localhost"}, "any", "any"),
    ({"host": "127.0.0.2"}, "any", "any"),
    ({"host": "::1"}, "any", "any"),
    ({"host": "0.0.0.0"}, "public", "public"),
    ({"host": "::"}, "public", "public"),
    ({"host": "192.168.1.20"}, "public", "public"),
    ({"host": "sim.example"}, "public", "public"),
    ({"control_token": "let-me-in"}, "public", "any"),
    ({"control_token_file": FILE}, "public", "any"),
    ({"control_tokens": LIST}, "public", "any"),
    ({"host": "0.0.0.0", "control_token": "let-me-in"}, "public", "public"),
    ({"callbacks": "public"}, "public", "public"),
    ({"callbacks": "any"}, "any", "any"),
    ({"callbacks": "any", "host": "0.0.0.0"}, "any", "any"),
    ({"callbacks": "any", "control_token": "let-me-in"}, "any", "any"),
)


def flags(**given: Any) -> ServerFlags:
    usual: dict[str, Any] = dict.fromkeys(ServerFlags._fields) | {"scenario": "default", "host": "127.0.0.1", "port": 0}
    return ServerFlags(**usual | {"allow_host": ()} | given)


@pytest.mark.parametrize(("given", "of_server", "of_command"), TABLE)
def test_a_server_with_a_token_or_for_other_machines_calls_public_addresses_only(
    given: dict[str, Any], of_server: str, of_command: str
) -> None:
    assert options_of(flags(**given)).public_callbacks_only is (of_server == "public")
    assert options_of(of_one_command(flags(**given))).public_callbacks_only is (of_command == "public")


def test_the_file_of_authorities_reaches_the_application() -> None:
    assert options_of(flags(callbacks_ca=Path("ca.pem"))).callbacks_ca == Path("ca.pem")


@pytest.mark.parametrize(
    ("given", "has_risk"),
    [
        ({}, False),
        ({"control_token": "let-me-in"}, False),
        ({"callbacks": "any"}, False),
        ({"callbacks": "any", "control_token": "let-me-in"}, True),
        ({"callbacks": "public", "control_token": "let-me-in"}, False),
    ],
)
def test_the_banner_names_the_risk_of_private_callbacks_from_a_shared_server(
    given: dict[str, Any], has_risk: bool
) -> None:
    printed: list[str] = []

    def on_ready(running: BoundServer) -> None:
        printed.append(banner.page(running))
        running.server.should_exit = True

    prepare(flags(**given), on_ready).server.run()
    assert ("--callbacks any: a reseller's key is enough to" in printed[0]) is has_risk


def test_the_banner_of_a_file_has_a_short_command_and_names_resellers_that_cannot_call(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("extends: default\nresellers: [{ code: MINE, balance: 20 }]\n")
    printed: list[str] = []

    def on_ready(running: BoundServer) -> None:
        printed.append(banner.page(running))
        running.server.should_exit = True

    prepare(flags(scenario=str(file)), on_ready).server.run()
    assert "--key" not in printed[0]
    assert "\n  warning     no client can call as MINE: add api_keys or users to the scenario\n" in printed[0]


def flags_of_folder(folder: Path, tls: Pair | None = None) -> ServerFlags:
    return ServerFlags(
        tls_cert=tls and tls.certificate, tls_key=tls and tls.key,
        scenario="default", host="127.0.0.1", port=0, clock=None, start=None, seed=None, control_token=None,
        control_token_file=None, allow_host=(), callbacks="any", trust_forwarded=False, sandbox_ttl=None,
        scenarios=None, callback=None, data_dir=folder / "data",
    )  # fmt: skip


class Starting:
    """A server that is being started in a thread, on a folder that has a sandbox already."""

    def __init__(self, folder: Path, tls: Pair | None = None) -> None:
        self._tls = tls
        self.is_rebuilding, self.may_go_on = threading.Event(), threading.Event()
        self.is_ready = threading.Event()
        self.server: Any = None
        self.failure: Exception | None = None
        self._folder = folder
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self, monkeypatch: pytest.MonkeyPatch, fails: str = "") -> str:
        """Start it, and return its address when it rebuilds."""
        real, bind = Restorer.restore, threading.Event()

        def restore(restorer: Restorer, kept: Any) -> Any:
            self.is_rebuilding.set()
            assert self.may_go_on.wait(DEADLINE_S)
            if fails:
                raise CannotResume(fails)
            return real(restorer, kept)

        make = serve.make_server

        def make_server(*arguments: Any, **named: Any) -> Any:
            self.server = make(*arguments, **named)
            bind.set()
            return self.server

        monkeypatch.setattr(Restorer, "restore", restore)
        monkeypatch.setattr("simulator.cli.server.make_server", make_server)
        self._thread.start()
        assert bind.wait(DEADLINE_S)
        assert self.is_rebuilding.wait(DEADLINE_S)
        url: str = self.server.url
        return url

    def _run(self) -> None:
        try:
            running: BoundServer = prepare(flags_of_folder(self._folder, self._tls), lambda _: self.is_ready.set())
            running.server.run()
        except Exception as failure:
            self.failure = failure

    def end(self) -> None:
        self.server.should_exit = True
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One with a data folder that a server has written."""
    with serving("--port", "0", "--json", "--data-dir", str(tmp_path / "data")) as server:
        assert server.stop(signal.SIGTERM)[0] == 0
    return tmp_path


def test_while_a_folder_is_rebuilt_probes_are_answered_and_requests_wait(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = Starting(folder)
    url = starting.begin(monkeypatch)
    host = url.removeprefix("http://")
    early = HTTPConnection(host, timeout=DEADLINE_S)
    early.request("GET", "/v2/balance")
    refused = ask(f"{url}/_sim/ready")
    assert (refused.status, refused.json["error"]) == (503, "rebuilding")
    assert ask(f"{url}/_sim/health").json["status"] == "ok"
    done = run("health", "--ready", "--url", url)
    assert (done.status, "are being rebuilt" in done.only_error_line) == (1, True)
    assert run("health", "--url", url).status == 0
    starting.may_go_on.set()
    answer = early.getresponse()
    assert (answer.status, b"X-Api-Key" in answer.read()) == (401, True)
    early.close()
    assert starting.is_ready.wait(DEADLINE_S)
    assert ask(f"{url}/_sim/ready").json["status"] == "ready"
    starting.end()


def test_within_tls_everybody_waits_while_a_folder_is_rebuilt(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tls = pair("first")
    starting = Starting(folder, tls)
    url = starting.begin(monkeypatch)
    with socket.create_connection(("127.0.0.1", starting.server.port), DEADLINE_S) as early:
        starting.may_go_on.set()
        with tls.client.wrap_socket(early, server_hostname="localhost") as inside:
            inside.sendall(b"GET /_sim/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert inside.recv(100).startswith(b"HTTP/1.1 200")
    assert starting.is_ready.wait(DEADLINE_S)
    assert url.startswith("https://")
    starting.end()


def test_a_folder_that_cannot_be_rebuilt_leaves_no_client_waiting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = Starting(folder)
    url = starting.begin(monkeypatch, fails="it is broken")
    early = HTTPConnection(url.removeprefix("http://"), timeout=DEADLINE_S)
    early.request("GET", "/v2/balance")
    assert ask(f"{url}/_sim/ready").status == 503
    starting.may_go_on.set()
    with pytest.raises((ConnectionError, OSError)):
        early.getresponse()
    early.close()
    starting.end()
    assert "it is broken" in str(starting.failure)


def test_a_draining_server_answers_but_is_not_ready_until_its_time_ends_or_a_second_signal_comes() -> None:
    with serving("--port", "0", "--json", "--drain", "1h") as server:
        url = server.ready["url"]
        server.process.send_signal(signal.SIGTERM)
        while (answer := ask(f"{url}/_sim/ready")).status == 200:
            """The signal has not come yet."""
        assert (answer.status, answer.json["error"]) == (503, "draining")
        assert ask(f"{url}/v2/balance").status == 401
        assert ask(f"{url}/_sim/health").status == 200
        assert server.stop(signal.SIGTERM) == (0, "", "")
    with serving("--port", "0", "--json", "--drain", "0.1s") as server:
        assert server.stop(signal.SIGTERM) == (0, "", "")


def test_health_may_ask_whether_a_server_is_ready() -> None:
    with serving("--port", "0", "--json") as server:
        done = run("health", "--ready", "--url", server.ready["url"], "--wait", "30", "--json")
        assert (done.status, json.loads(done.out)["status"]) == (0, "ready")


@pytest.mark.parametrize("span", ["-1", "2h", "soon", ""])
def test_no_other_time_to_drain_is_taken(span: str) -> None:
    done = invoke("serve", "--drain", span)
    assert done.exit_code == 2
    assert "--drain" in done.stderr


def test_a_run_whose_data_folder_fails_does_not_end_well(monkeypatch: pytest.MonkeyPatch) -> None:
    def prepare_with_failure(flags: ServerFlags, on_ready: Any, **more: Any) -> BoundServer:
        def fail(running: BoundServer) -> None:
            on_ready(running)
            running.fail("data: the disk is full")

        return prepare(flags, fail, **more)

    monkeypatch.setattr(server_module, "prepare", prepare_with_failure)
    done = invoke("exec", "--", "true")
    assert (done.exit_code, done.stderr) == (3, "reseller-sim: data: the disk is full\n")
