"""`call` and `sign` against a real server."""

import json
import os
import pty
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.connections import closed_port
from tests.support.processes import (
    DEADLINE_S,
    PROGRAM,
    Done,
    Serving,
    ask,
    environment,
    run,
)
from tests.support.shell import parse_curl, paste

pytestmark = pytest.mark.slow

PAYMENT = {"product": "RELOAD", "account": "0123456789", "amount": 10}


def call(server: Serving, *arguments: str, body: bytes = b"") -> Done:
    return run("call", *arguments, "--url", server.ready["url"], body=body)


def payment(refid: str) -> str:
    return json.dumps({"refid": refid} | PAYMENT)


def test_the_answer_goes_to_stdout_as_it_came_and_the_rest_to_stderr(server: Serving) -> None:
    done = call(server, "GET", "/v2/balance")
    assert done.status == 0
    assert set(json.loads(done.out)["data"]) == {"balance", "currency"}
    assert done.out.endswith("}\n")
    first, *headers = done.err.lower().splitlines()
    assert first == "200 ok"
    assert "x-sim-sandbox: default" in headers
    assert all(line.startswith("x-sim-") for line in headers)


@pytest.mark.parametrize("given", ["argument", "stdin", "file"])
def test_a_payment_is_made_from_any_source_of_a_body(server: Serving, given: str, tmp_path: object) -> None:
    body = payment(f"call-{given}")
    path = f"{tmp_path}/body.json"
    with open(path, "w") as file:
        file.write(body)
    data = {"argument": body, "stdin": "-", "file": f"@{path}"}[given]
    done = call(server, "POST", "/v2/topup", "-d", data, body=body.encode())
    assert done.status == 0, done.err
    assert json.loads(done.out)["data"]["refid"] == f"call-{given}"


def test_a_bearer_token_takes_the_place_of_the_signature(server: Serving) -> None:
    credentials = b'{"username": "test_user_RS001", "password": "test_password_RS001"}'
    tokens = ask(server.ready["url"] + "/v2/token", "POST", credentials).json
    done = call(server, "GET", "/v2/balance", "--bearer", tokens["AccessToken"])
    assert (done.status, json.loads(done.out)["error"]) == (1, "invalid_token")
    assert "send the IdToken" in done.err


def test_an_error_is_exit_1_with_the_diagnosis_on_stderr(server: Serving) -> None:
    done = call(server, "GET", "/v2/balance", "--key", "nobody", "--secret", "c2VjcmV0")
    assert done.status == 1
    assert json.loads(done.out)["error"] == "invalid_api_key"
    assert "x-sim-diagnosis: " in done.err.lower()


def test_a_header_of_the_user_replaces_ours(server: Serving) -> None:
    done = call(server, "GET", "/v2/balance", "-H", "x-nonce: short", "-H", "X-More:  1 ")
    assert json.loads(done.out)["error"] == "invalid_nonce_format"
    shown = ask(f"{server.ready['url']}/_sim/sandboxes/default/requests?limit=1").json["requests"][0]["n"]
    sent = ask(f"{server.ready['url']}/_sim/sandboxes/default/requests/{shown}").json["request"]["headers"]
    names = {name.lower(): value for name, value in sent}
    assert (names["x-nonce"], names["x-more"]) == ("short", "1")


def test_headers_come_from_a_variable_one_a_line(server: Serving) -> None:
    variables = {"RESELLER_SIM_HEADER": "X-Nonce: short\nX-More: a b", "RESELLER_SIM_URL": server.ready["url"]}
    done = run("call", "GET", "/v2/balance", **variables)
    assert json.loads(done.out)["error"] == "invalid_nonce_format"


def test_a_sandbox_under_its_own_address_is_reached(server: Serving) -> None:
    url = server.ready["url"]
    ask(f"{url}/_sim/sandboxes", "POST", b'{"id": "mine"}', {"Content-Type": "application/json"})
    done = run("call", "GET", "/v2/catalog?is_active=true", "--url", f"{url}/s/mine/")
    assert done.status == 0, done.out
    assert "x-sim-sandbox: mine" in done.err.lower()


def test_the_curl_command_of_sign_is_equivalent_to_call(server: Serving) -> None:
    url = server.ready["url"]
    signed = run("sign", "POST", "/v2/topup", "-d", payment("it's signed"), "--url", url).out
    command = signed.splitlines()[-1]
    pasted = paste(command)
    request = parse_curl(command)
    answer = ask(request.url, request.method, request.body, request.headers)
    body = json.loads(pasted) if pasted is not None else answer.json
    assert body["data"]["refid"] == "it's signed"


def test_a_terminal_is_shown_indented_json(server: Serving) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        command = [*PROGRAM, "call", "GET", "/v2/balance", "--url", server.ready["url"]]
        subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, check=True, env=environment())
        shown = terminal.read(4096).replace(b"\r\n", b"\n")
        os.close(theirs)
    assert shown.startswith(b'{\n  "data": {\n    "balance": ')
    assert shown.endswith(b"}\n")


def test_an_unreachable_server_is_exit_3_with_advice() -> None:
    with closed_port() as port:
        done = run("call", "GET", "/v2/balance", "--url", f"http://127.0.0.1:{port}")
    assert done.status == 3
    assert "reseller-sim serve" in done.only_error_line
    assert f"127.0.0.1:{port}" in done.only_error_line


def test_an_address_that_does_not_exist_is_exit_3() -> None:
    done = run("call", "GET", "/v2/balance", "--url", "http://no-such-host.invalid")
    assert (done.status, "no-such-host.invalid" in done.only_error_line) == (3, True)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", b"SSH-2.0-server\r\n"])
def test_no_whole_answer_is_exit_3(said: bytes) -> None:
    with answering_once(said) as url:
        done = run("call", "GET", "/v2/balance", "--url", url)
    assert done.status == 3
    assert "before a complete response" in done.only_error_line


@contextmanager
def answering_once(said: bytes) -> Iterator[str]:
    """A server that reads one request, says this, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE_S)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(DEADLINE_S)
                connection.recv(65536)
                connection.sendall(said)
                connection.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            thread.join()
