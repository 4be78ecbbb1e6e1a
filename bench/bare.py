"""The yardstick: an ASGI app that answers the same bytes to everything, on the same uvicorn as the simulator."""

import argparse
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

import uvicorn

Message = MutableMapping[str, Any]

SIZE_BYTES = 300
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def answering(size_bytes: int) -> Callable[[Message, Receive, Send], Awaitable[None]]:
    """An app that answers any request with the same JSON of so many bytes, 11 at least, and reads nothing of it."""
    body = b'{"data":"' + b"x" * (size_bytes - 11) + b'"}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    start: Message = {"type": "http.response.start", "status": 200, "headers": headers}
    end: Message = {"type": "http.response.body", "body": body}

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await send(start)
        await send(end)

    return app


def main(argv: Sequence[str] | None = None) -> None:
    """`python -m bench.bare --port N --bytes SIZE`; port 0 is a free one. Serves until SIGTERM. The first line that it
    prints is `{"url": …}`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--bytes", type=int, default=SIZE_BYTES, help="the size of the answer's body")
    options = parser.parse_args(argv)
    listening = socket.create_server(("127.0.0.1", options.port), backlog=2048)
    print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
    config = uvicorn.Config(
        answering(options.bytes),
        loop="uvloop",
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="error",
    )
    uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
