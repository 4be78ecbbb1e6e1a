"""Header lines of an answer, and the answer as HTTP sends it."""

from simulator.domain.model.faults import WITHOUT_BODY


def as_sent(status: int, lines: bytes, body: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return the headers of these lines as pairs, and the body; 204 and 304 have none, and no length of it."""
    pairs = (line.partition(b": ") for line in lines.split(b"\r\n") if line)
    headers = [(name, value) for name, _, value in pairs if status not in WITHOUT_BODY or name != b"content-length"]
    return headers, b"" if status in WITHOUT_BODY else body
