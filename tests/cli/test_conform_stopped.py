"""`conform` that is ended by a signal puts back what it has changed."""

import json
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.processes import DEADLINE_S, PROGRAM, environment


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_when_the_callback_url_is_as_before(number: int) -> None:
    methods = ["POST"]
    started = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown = {"CallbackUrl": "https://own.example/callback", "Method": methods[-1]}
            self._answer({"data": shown | {"balance": 5000}})

        def do_POST(self) -> None:
            methods.append(parse_qs(urlsplit(self.path).query)["method"][0])
            if len(methods) == 2:
                assert started.wait(DEADLINE_S)
                process.send_signal(number)
            self._answer({"data": {}})

        def _answer(self, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    arguments = ["conform", "--base-url", address, "--allow-configuration", "--rate", "100"]
    process = subprocess.Popen([*PROGRAM, *arguments, "--only", "callback-url-set"], env=environment())
    started.set()
    try:
        assert process.wait(DEADLINE_S) == 128 + number
    finally:
        process.kill()
        process.wait()
        server.shutdown()
        server.server_close()
        thread.join()
    assert methods == ["POST", "GET", "POST"]
