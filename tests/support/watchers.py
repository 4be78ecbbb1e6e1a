"""Programs that watch a server, `tail` and `listen` as real processes, with a target for their messages."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.support.processes import DEADLINE_S, PROGRAM, environment


class Message(NamedTuple):
    """A request that a target got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Target:
    """A receiver on a real socket in its own thread. It answers `statuses` in order, the last repeatedly. It waits
    while `may_answer` is not set."""

    def __init__(self, *statuses: int) -> None:
        self.got: list[Message] = []
        self.statuses = list(statuses) or [200]
        self.may_answer = threading.Event()
        self.may_answer.set()
        target = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                target.got.append(Message(self.command, self.path, headers, body))
                target.may_answer.wait(DEADLINE_S)
                self.send_response(target.statuses.pop(0) if len(target.statuses) > 1 else target.statuses[0])
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST = answer

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def target(*statuses: int) -> Iterator[Target]:
    """A target that listens."""
    made = Target(*statuses)
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.may_answer.set()
        made.server.shutdown()
        made.server.server_close()
        thread.join(DEADLINE_S)


@contextmanager
def watching(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A verb that runs until it is ended, or ends by itself; killed on the way out."""
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    killer = threading.Timer(4 * DEADLINE_S, process.kill)
    killer.start()
    try:
        yield process
    finally:
        killer.cancel()
        process.kill()
        process.communicate()
