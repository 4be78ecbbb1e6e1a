"""`serve` as a real process: what it prints, that what it prints can be pasted, how it ends."""

import json
import os
import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from simulator.scenario.library import load_scenario
from tests.support.processes import (
    DEADLINE_S,
    PROGRAM,
    ROOT,
    Serving,
    ask,
    environment,
    run,
    serving,
)
from tests.support.shell import parse_curl, paste


@pytest.fixture(scope="module")
def page() -> Iterator[list[str]]:
    """The banner of a server that runs, line by line."""
    with serving("--port", "0") as server:
        lines = [server.first_line.rstrip("\n")]
        while " call " not in lines[-1]:
            line = server.out.readline()
            assert line, lines
            lines.append(line.rstrip("\n"))
        yield lines


def fact(page: list[str], name: str) -> str:
    """Return the line of the banner about a subject."""
    return next(line.removeprefix(f"  {name}").strip() for line in page if line.startswith(f"  {name}"))


def test_the_json_line_is_the_only_output_and_has_everything_a_program_needs() -> None:
    with serving("--port", "0", "--json", "--seed", "7") as server:
        ready = server.ready
        assert list(ready) == ["url", "sandbox", "control_token", "resellers"]
        assert (ready["sandbox"], ready["control_token"]) == ("default", None)
        sandbox = ask(f"{ready['url']}/_sim/sandboxes/default").json
        assert sandbox["resellers"] == ready["resellers"]
        assert sandbox["seed"] == 7
        assert server.stop(signal.SIGTERM) == (0, "", "")


@pytest.mark.slow
def test_a_signal_ends_it_quietly_in_every_state_of_its_connections(tmp_path: Path) -> None:
    scenario = tmp_path / "slow.yaml"
    scenario.write_text("scenario: slow\nextends: default\nfaults:\n  - { then: { delay: 1h } }\n")
    head = b"GET /v2/balance HTTP/1.1\r\nHost: x\r\n"
    begun = [
        b"",
        b"GET /v2",
        head + b"\r\n",
        head + b"\r\n" + head,
        b"POST /_sim/sandboxes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    ]
    malformed = "This is not a valid HTTP/1.1 request: Invalid header token."  # of a second request line for headers
    with serving(str(scenario), "--port", "0", "--json") as server, ExitStack() as clients:
        port = urlsplit(server.ready["url"]).port
        assert port is not None
        for content in begun:
            clients.enter_context(socket.create_connection(("127.0.0.1", port))).sendall(content)
        assert ask(f"{server.ready['url']}/_sim/health").status == 200  # those before it have been read
        line = f"a request was refused with 400 before it reached a sandbox: {malformed}\n"
        code, printed, errors = server.stop(signal.SIGTERM)
        assert (code, printed) == (0, "")
        assert errors in ("", line), "the malformed request may come after the signal"


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A receiver that lets clients connect and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE_S)
        yield listener


@pytest.mark.slow
def test_a_stopping_server_answers_long_polls_and_ends_an_advance(silent: socket.socket) -> None:
    with serving("--clock", "manual", "--port", "0", "--json") as server, ExitStack() as clients:
        url = server.ready["url"]
        address = urlsplit(url)

        def sent(method: str, path: str, body: bytes | None = None) -> HTTPConnection:
            client = HTTPConnection(address.hostname or "", address.port, timeout=DEADLINE_S)
            clients.enter_context(closing(client))
            client.request(method, f"/_sim/sandboxes/default{path}", body)
            return client

        assert ask(f"{url}/_sim/inbox/default/callbacks", "POST", b"{}").status == 200
        receiver = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        topup = '{"refid":"order-1","product":"ELECTRIC","account":"210012345648","amount":"100.00"}'
        for call in (("POST", f"/v2/callback-url?url={receiver}&method=POST"), ("POST", "/v2/topup", "-d", topup)):
            assert run("call", "--url", url, *call).status == 0
        advance = sent("POST", "/clock/advance", b'{"until": "idle"}')
        clients.enter_context(silent.accept()[0])  # the advance waits for this connection
        lists = ("requests", "callbacks", "deliveries", "notifications", "inbox/callbacks")
        polls = [sent("GET", f"/{each}?wait_for=99&timeout=300") for each in lists]
        assert ask(f"{url}/_sim/health").status == 200  # those before it have been read
        assert server.stop(signal.SIGTERM) == (0, "", "")
        answers = [poll.getresponse() for poll in polls]
        found = [json.load(answer) for answer in answers]
        assert [(answer.status, one["complete"]) for answer, one in zip(answers, found, strict=True)] == [
            (200, False)
        ] * 5
        assert found[0]["requests"], "what there is"
        assert found[4]["items"], "what there is"
        ended = advance.getresponse()
        assert (ended.status, json.load(ended)["error"]) == (409, "server_stopping")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_exit_code_0_though_clients_are_connected(number: int) -> None:
    with serving("--port", "0", "--json") as server:
        address = urlsplit(server.ready["url"])
        with closing(HTTPConnection(address.hostname or "", address.port, timeout=DEADLINE_S)) as connection:
            connection.request("GET", "/_sim/health")
            connection.getresponse().read()
            # In time: the server waits for a bounded while, the connection would for ever.
            assert server.stop(number) == (0, "", "")


@pytest.mark.slow
def test_a_signal_during_start_up_ends_it_with_exit_code_0() -> None:
    script = (
        "import os, signal, sys\n"
        "from simulator.cli import banner, server\n"
        "prepare = server.prepare\n"
        "def late(*arguments):\n    os.kill(os.getpid(), signal.SIGTERM)\n    return prepare(*arguments)\n"
        "server.prepare = late\n"
        "from simulator.cli.main import cli\n"
        "cli.main(['serve', '--port', '0'])\n"
    )
    done = subprocess.run([PROGRAM[0], "-c", script], capture_output=True, timeout=DEADLINE_S, env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_banner_has_addresses_sandbox_clock_credentials_and_callbacks(page: list[str]) -> None:
    url = page[0].rpartition(" ")[2]
    sandbox = ask(f"{url}/_sim/sandboxes/default").json
    reseller = sandbox["resellers"][0]
    assert fact(page, "control API") == f"{url}/_sim"
    assert fact(page, "API docs") == f"{url}/_sim/docs"
    assert ask(fact(page, "API docs")).status == 200
    assert fact(page, "sandbox").startswith("default")
    assert fact(page, "clock").startswith("real")
    assert fact(page, "API key") == reseller["api_key"]
    assert fact(page, "secret") == reseller["api_secret"]
    assert reseller["username"] in fact(page, "user")
    assert reseller["password"] in fact(page, "user")
    assert fact(page, "callbacks") == "POST inbox:callbacks"
    inbox = next(shlex.split(line) for line in page if line.startswith(" ") and " inbox " in line)
    assert json.loads(run(*inbox[inbox.index("inbox") :], "--json").out)["name"] == "callbacks"


@pytest.mark.slow
def test_the_server_s_own_address_leads_a_browser_to_the_page_and_a_program_to_a_404(page: list[str]) -> None:
    [host] = {urlsplit(word).netloc for word in page[0].split() if word.startswith("http://")}
    for accept, status, location in (("text/html,*/*;q=0.8", 303, "_sim/"), ("*/*", 404, None)):
        with closing(HTTPConnection(host, timeout=DEADLINE_S)) as connection:
            connection.request("GET", "/", headers={"Accept": accept})
            answer = connection.getresponse()
            assert (answer.status, answer.getheader("location")) == (status, location)
            assert (b"/_sim/" in answer.read()) == (status == 404)


@pytest.mark.slow
def test_the_banner_shows_no_page_without_its_extra(tmp_path: Path) -> None:
    (tmp_path / "swagger_ui.py").touch()  # a module without the files
    with serving("--port", "0", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}") as server:
        facts = server.out.readline() + "".join(iter(server.out.readline, "\n"))
    assert "control API" in facts
    assert "/_sim/docs" not in facts


def test_the_request_of_the_banner_pays_when_it_is_pasted_and_only_once(page: list[str]) -> None:
    command = next(line for line in page if line.startswith("curl "))
    request = parse_curl(command)
    pasted = paste(command)
    if pasted is not None:
        assert json.loads(pasted)["data"]["status"] == "Accepted"
    answer = ask(request.url, request.method, request.body, request.headers)
    if pasted is None:
        assert answer.json["data"]["status"] == "Accepted"
    else:
        assert (answer.status, answer.json["error"]) == (401, "nonce_reused")


def test_the_call_of_the_banner_sends_the_next_one(page: list[str]) -> None:
    words = shlex.split(page[-1])
    done = run(*words[words.index("call") :])
    assert (done.status, json.loads(done.out)["data"]["status"]) == (0, "Accepted")


@pytest.mark.slow
def test_a_scenario_without_keys_has_no_request_to_paste(tmp_path: Path) -> None:
    scenario = tmp_path / "empty.yaml"
    scenario.write_text("clock: manual\n")
    with serving(str(scenario), "--port", "0") as server:
        lines = [server.first_line]
        while "no active API key" not in lines[-1]:
            lines.append(server.out.readline())
            assert lines[-1], lines
        hint = next(line.split("it moves with ")[1] for line in lines if "manual" in line)
        words = shlex.split(hint)
        assert json.loads(run(*words[words.index("advance") :], "--json").out)["idle"]


@pytest.mark.slow
def test_the_banner_signs_for_a_scenario_whose_time_is_not_ours(tmp_path: Path) -> None:
    scenario = tmp_path / "future.yaml"
    scenario.write_text(
        'extends: default\nclock: { mode: manual, signature: sandbox, start: "2027-01-10T23:59:00Z" }\n'
    )
    with serving(str(scenario), "--port", "0") as server:
        line = server.first_line
        while not line.startswith("curl "):
            line = server.out.readline()
            assert line
    assert parse_curl(line.rstrip("\n")).headers["X-Timestamp"] == "1799625540"


def test_the_flags_set_the_clock_and_the_other_options() -> None:
    flags = ("--clock", "x60", "--start", "2027-01-10T23:59:00+08:00", "--port", "0", "--json", "--control-token", "t")
    with serving("provider-failures", *flags) as server:
        url = server.ready["url"]
        assert server.ready["control_token"] == "t"
        assert ask(f"{url}/_sim/sandboxes/default").status == 401
        sandbox = ask(f"{url}/_sim/sandboxes/default", headers={"Authorization": "Bearer t"}).json
    assert sandbox["scenario"] == load_scenario("provider-failures").name
    assert (sandbox["clock"]["mode"], sandbox["clock"]["rate"]) == ("xN", 60)
    passed = datetime.fromisoformat(sandbox["clock"]["now"]) - datetime(2027, 1, 10, 15, 59, tzinfo=UTC)
    assert timedelta() <= passed < timedelta(days=1)  # 24 minutes for us


def test_every_flag_can_be_a_variable() -> None:
    variables: dict[str, Any] = {
        "RESELLER_SIM_SCENARIO": "slow-provider",
        "RESELLER_SIM_PORT": "0",
        "RESELLER_SIM_JSON": "1",
        "RESELLER_SIM_CLOCK": "manual",
        "RESELLER_SIM_SEED": "99",
        "RESELLER_SIM_ALLOW_HOST": "one two",
    }
    with serving(**variables) as server:
        url = server.ready["url"]
        sandbox = ask(f"{url}/_sim/sandboxes/default", headers={"Host": "two"}).json
        assert ask(f"{url}/_sim/sandboxes/default", headers={"Host": "three"}).status == 403
    assert sandbox["scenario"] == load_scenario("slow-provider").name
    assert (sandbox["seed"], sandbox["clock"]["mode"]) == (99, "manual")


def test_bound_to_every_address_it_wants_a_token_that_it_made_up() -> None:
    with serving("--host", "0.0.0.0", "--port", "0", "--json") as server:
        ready = server.ready
        assert ready["url"].startswith("http://127.0.0.1:")
        assert len(ready["control_token"]) >= 24
        sandbox = f"{ready['url']}/_sim/sandboxes/default"
        assert ask(sandbox).status == 401
        assert ask(sandbox, headers={"Authorization": f"Bearer {ready['control_token']}"}).status == 200


@pytest.mark.slow
def test_the_token_of_a_file_is_in_force_and_in_no_list_of_processes(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("let-me-in\n")
    with serving("--port", "0", "--json", "--control-token-file", str(file), RESELLER_SIM_CONTROL_TOKEN="x") as server:
        assert server.ready["control_token"] == "let-me-in"
        sandbox = f"{server.ready['url']}/_sim/sandboxes/default"
        assert ask(sandbox, headers={"Authorization": "Bearer x"}).status == 401
        assert ask(sandbox, headers={"Authorization": "Bearer let-me-in"}).status == 200
        assert "let-me-in" not in " ".join(map(str, server.process.args))  # type: ignore[arg-type]


@pytest.fixture
def taken() -> Iterator[int]:
    """A port with a listener."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("verb", ["serve", "exec"])
def test_a_taken_port_is_reported_on_one_line(taken: int, verb: str) -> None:
    if verb == "serve":
        done = run("serve", RESELLER_SIM_PORT=str(taken))
    else:
        done = run("exec", "--port", str(taken), "--", "true", RESELLER_SIM_PORT="1")
    assert done.status == 3
    assert str(taken) in done.only_error_line
    assert "--port" in done.only_error_line


@pytest.mark.slow
def test_an_address_of_another_machine_is_reported_on_one_line() -> None:
    done = run("serve", "--host", "192.0.2.1")
    assert (done.status, "--host" in done.only_error_line) == (3, True)


def test_an_unknown_scenario_is_reported_with_the_nearest_name() -> None:
    done = run("exec", "defualt", "--", "true")
    assert done.status == 3
    assert "did you mean 'default'" in done.only_error_line


def test_a_bad_scenario_is_reported_problem_by_problem(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("extends: default\npaymnts: []\nseed: many\n")
    done = run("serve", str(bad))
    assert (done.status, done.out) == (3, "")
    lines = done.err.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"{bad}:2:1", f"{bad}:3:7"]


def test_it_serves_a_file_of_the_user(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text("scenario: mine\nextends: default\nresellers: [{ code: RS001, balance: '12.50' }]\n")
    with serving(str(mine), "--port", "0", "--json") as server:
        assert balance_of(server) == 12.5


def balance_of(server: Serving) -> float:
    """Return the first reseller's balance from the ready line."""
    return float(server.ready["resellers"][0]["balance"])


@pytest.mark.slow
def test_a_closed_stdout_is_reported_on_one_line() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*PROGRAM, "serve", "--port", "0", "--json"]
    with os.fdopen(writer, "wb") as out:
        done = subprocess.run(
            command,
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=DEADLINE_S,
            env=environment(PYTHONUNBUFFERED=""),
            check=False,
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (3, 1)
    assert b"stdout cannot be written" in done.stderr


# The streams that the shell closes; the arguments; the exit code.
CLOSED = [
    (">&-", "serve --port 0 --until-stdin-ends", 0),
    ("2>&-", "serve --port 0 --until-stdin-ends --json", 0),
    (">&- 2>&-", "exec -- echo hello", 0),
    (">&- <&-", "exec -- echo hello", 0),
    (">&-", "tail --url http://127.0.0.1:1", 3),
    (">&-", "call GET /v2/balance --url http://127.0.0.1:1", 3),
]


@pytest.mark.slow
@pytest.mark.parametrize(("closed", "words", "status"), CLOSED)
def test_a_stream_that_the_shell_closed_is_ignored(closed: str, words: str, status: int) -> None:
    """A socket would have its number otherwise, and what `exec` starts would print into that."""
    line = f'exec "$@" {words} {closed}'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *PROGRAM],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        env=environment(),
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done


@pytest.mark.slow
def test_as_many_connections_may_be_open_as_the_system_grants() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))  # what the server inherits
    try:
        with serving("--port", "0", "--json") as server, ExitStack() as connections:
            port = urlsplit(server.ready["url"]).port
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            for _ in range(300):
                connections.enter_context(socket.create_connection(("127.0.0.1", port or 0), DEADLINE_S))
            assert ask(server.ready["url"] + "/_sim/health").status == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.slow
@pytest.mark.parametrize("verb", [["assumptions"], ["openapi"], ["scenarios", "show", "default"], ["--help"]])
def test_a_full_disk_is_reported_on_one_line(verb: list[str]) -> None:
    if not Path("/dev/full").exists():  # a device of Linux alone
        return
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PROGRAM, *verb], stdout=full, stderr=subprocess.PIPE, timeout=DEADLINE_S, env=environment(), check=False
        )
    assert done.returncode == 3
    assert done.stderr.decode().splitlines() == ["reseller-sim: stdout cannot be written: No space left on device"]


@pytest.mark.slow
@pytest.mark.parametrize("verb", [["assumptions"], ["openapi"]])
def test_a_reader_that_has_enough_ends_a_verb_quietly(verb: list[str]) -> None:
    with subprocess.Popen(
        [*PROGRAM, *verb], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(DEADLINE_S) == 1


@pytest.mark.slow
def test_it_ends_with_its_stdin_when_it_is_asked_to() -> None:
    """As a test runner does that was killed."""
    command = [*PROGRAM, "serve", "--port", "0", "--json", "--until-stdin-ends"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment()) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        process.stdin.write("what is written is ignored\n")
        process.stdin.flush()
        assert ask(f"{url}/_sim/health").status == 200
        assert process.communicate(timeout=DEADLINE_S) == ("", "")
    assert process.returncode == 0


@pytest.mark.slow
def test_its_stdin_may_end_otherwise() -> None:
    command = [*PROGRAM, "serve", "--port", "0", "--json"]
    pipe = subprocess.PIPE
    null = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=null, stdout=pipe, stderr=pipe, text=True, env=environment()) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        assert ask(f"{url}/_sim/health").status == 200
        process.terminate()
        assert process.wait(DEADLINE_S) == 0
