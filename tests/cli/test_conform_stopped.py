"""`conform` that is ended by a signal puts back what it has changed."""

import json
import signal
import subprocess
import threading
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.local_server import QuietHandler, local_server
from tests.support.processes import DEADLINE_S, PROGRAM, environment


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_when_the_callback_url_is_as_before(number: int) -> None:
    methods = ["POST"]
    started = threading.Event()

    class Handler(QuietHandler):
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
            self.respond(200, json.dumps(value).encode())

    with local_server(Handler) as address:
        arguments = ["conform", "--base-url", address, "--allow-configuration", "--rate", "100"]
        process = subprocess.Popen([*PROGRAM, *arguments, "--only", "callback-url-set"], env=environment())
        started.set()
        try:
            assert process.wait(DEADLINE_S) == 128 + number
        finally:
            process.kill()
            process.wait()
    assert methods == ["POST", "GET", "POST"]
