"""Check streams of events: their numbers have no gaps except announced ones."""

import re
from collections.abc import Iterator

import msgspec

_EVENT = re.compile(rb"id: [0-9a-f]{8}\.([0-9]+)\.([0-9]+)\nevent: ([a-z_]+)\ndata: (.*)\n")


def gaps(stream: bytes, *, may_miss: bool) -> Iterator[str]:
    """Yield the gaps of a stream. The stream of all sandboxes has the server's numbers, the stream of a sandbox its
    own. With `may_miss`, events may be missing because logs have evicted their records."""
    last: int | None = None
    for serial, number, kind, data in _EVENT.findall(stream):
        n = int(number) or int(serial)
        if kind == b"gap":
            missing = msgspec.json.decode(data)["missing"]
            if not may_miss:
                yield f"{missing} are missing before {n + 1}, and nothing was evicted"
            if last is not None and missing is not None and n != last + missing:
                yield f"{missing} are said to be missing between {last} and {n + 1}"
        elif last is not None and n != last + 1:
            yield f"number {n} comes after {last}"
        last = n
