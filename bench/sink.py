"""A receiver of callbacks that costs next to nothing: reads a request by its Content-Length and answers 200."""

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import cast

import uvloop

from bench.load import content_length

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"


class Sink(asyncio.Protocol):
    """One connection. Keeps what has arrived until it is a whole request."""

    def __init__(self) -> None:
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        data = self.buffer + data if self.buffer else data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            whole = end + 4 + max(content_length(data, end), 0)
            if len(data) < whole:
                break
            self.transport.write(ANSWER)
            data = data[whole:]
        self.buffer = data


async def serve(port: int) -> None:
    """Serve until killed. The first line on stdout is `{"url": …}`."""
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", port)
    print(json.dumps({"url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"}), flush=True)
    await server.serve_forever()


def main(argv: Sequence[str] | None = None) -> None:
    """`python -m bench.sink --port N`; 0 takes a free port."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    uvloop.run(serve(parser.parse_args(argv).port))


if __name__ == "__main__":
    main()
