"""The yardstick: an ASGI app that answers 300 fixed bytes to everything, on the same uvicorn as the simulator."""

import argparse
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

import uvicorn

Message = MutableMapping[str, Any]

BODY = b'{"data":"' + b"x" * 289 + b'"}'
START: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())],
}
END: Message = {"type": "http.response.body", "body": BODY}


async def app(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    """Answers any request with the same bytes and reads nothing of it."""
    await send(START)
    await send(END)


class BareServer(uvicorn.Server):
    """Prints `{"url": …}` as its first line on stdout once connections are accepted."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """`python -m bench.bare --port N`; 0 takes a free port. Serves until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    config = uvicorn.Config(
        app,
        port=parser.parse_args(argv).port,
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="error",
    )
    BareServer(config).run()


if __name__ == "__main__":
    main()
