"""The journal: a sandbox's requests, their answers, and why. It is a bounded log that tasks can wait on."""

import codecs
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Generic, Protocol, TypeVar
from urllib.parse import quote, unquote

import msgspec

from simulator.persistence.tape.entries import RequestRecord
from simulator.runtime.traces import trace_of
from simulator.runtime.wait_limits import Notifier


class NumberedRecord(Protocol):
    """A record of a ring: `n` increments by 1, `size` approximates its bytes."""

    n: int

    @property
    def size(self) -> int:
        """Return the approximate memory of the record, in bytes."""
        ...


class NumberedItem(Protocol):
    """A record whose `n` increments by 1 from record to record."""

    @property
    def n(self) -> int: ...


Record = TypeVar("Record", bound=NumberedRecord)
Counted = TypeVar("Counted", bound=NumberedItem)
Item_co = TypeVar("Item_co", covariant=True)


class NumberedLog(Protocol[Item_co]):
    """A log, such as a ring, whose records are numbered in order of arrival."""

    def __reversed__(self) -> Iterator[Item_co]: ...


class Tally(Generic[Counted]):
    """Counts the matching records of a log incrementally: each count looks only at records that were added since the
    last. An evicted record stays counted. Counting begins after the record with the number `after`, with `counted`
    records."""

    def __init__(
        self, log: NumberedLog[Counted], matches: Callable[[Counted], bool], *, after: int = 0, counted: int = 0
    ) -> None:
        self._log = log
        self._matches = matches
        self._seen = after
        self._counted = counted

    def count(self) -> int:
        """Return the count as of now."""
        last = seen = self._seen
        for record in reversed(self._log):
            if record.n <= seen:
                break
            last = max(last, record.n)
            self._counted += self._matches(record)
        self._seen = last
        return self._counted


class BoundedLog(Generic[Record]):
    """The latest records in order; the oldest are evicted above the limits of count or size."""

    def __init__(self, count_max: int, bytes_max: int) -> None:
        self._count_max = count_max
        self._bytes_max = bytes_max
        self._records: deque[Record] = deque()
        self._sizes: deque[int] = deque()
        self._bytes = 0
        self.last_n = 0
        self.left_out = 0
        self.notifier = Notifier()

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __reversed__(self) -> Iterator[Record]:
        return reversed(self._records)

    @property
    def size(self) -> int:
        """Return the approximate memory of the records, in bytes."""
        return self._bytes

    def add(self, record: Record) -> int:
        """Number a record and append it, evicting the oldest as needed, never the newest. Return its size."""
        self.last_n = record.n = self.last_n + 1
        records, sizes, size = self._records, self._sizes, record.size
        records.append(record)
        sizes.append(size)
        self._bytes += size
        while len(records) > self._count_max or (self._bytes > self._bytes_max and len(records) > 1):
            records.popleft()
            self._bytes -= sizes.popleft()
            self.left_out += 1
        if self.notifier.waiting:
            self.notifier.notify()
        return size

    def restore(self, records: Iterable[Record], last_n: int, left_out: int) -> None:
        """Replace all records with these numbered records; numbering continues after `last_n`."""
        self._records = deque(records)
        self._sizes = deque(record.size for record in self._records)
        self._bytes, self.last_n, self.left_out = sum(self._sizes), last_n, left_out

    def find(self, n: int) -> Record | None:
        """Return the record with the number `n`, or None if it was evicted."""
        place = n - self.last_n + len(self._records) - 1
        return self._records[place] if 0 <= place < len(self._records) else None

    def put(self, record: Record) -> None:
        """Replace the record that equals this record."""
        self._records[record.n - self.last_n + len(self._records) - 1] = record

    def clear(self) -> None:
        """Delete the records; numbering continues."""
        self._records.clear()
        self._sizes.clear()
        self._bytes = 0
        self.notifier.notify()


# The estimated overhead of an exchange besides the bytes received and sent.
_OVERHEAD_BYTES = 1000

UNEXPECTED = "unexpected"
"""The error of a request that met a mistake of the simulator."""


class Exchange(RequestRecord, gc=False, kw_only=True):
    """A request and its answer, filled in by the pipeline and then stored in the journal. Its number `n` is assigned
    when it is answered, so that the journal is in order; it stays 0 when the sandbox was deleted before."""

    at: datetime  # the sandbox's time of the arrival
    method: str
    path: str
    query: bytes
    packed_headers: bytes  # the result of `packed`
    client: str  # the client's address
    body: bytes = b""
    reseller: str = ""  # authenticated
    selected_rule: str = ""  # by the header X-Sim-Rule
    status: int = 0
    own_headers: tuple[tuple[bytes, bytes], ...] = ()  # of the answer
    content: bytes = b""  # the body of the answer
    rule: str = ""  # the label of the rule that decided the outcome
    fault: str = ""  # the label of the fault
    error: str = ""  # the code of a refusal
    diagnosis: str = ""  # what is wrong with it, or ignored
    public_diagnosis: str = msgspec.field(default="", name="told")  # for unauthenticated callers; empty for the same
    trxid: str = ""
    refid: str = ""
    duration_us: int = 0
    owner: str = ""  # the sandbox whose credentials were refused, if it is not the sandbox of this journal
    wall: datetime | None = None  # the wall time of the arrival, None when it was not read
    target: bytes = b""  # as sent, if it differs from path and query: escapes in the path, a lone `?`, an absolute URL
    replay_of: int = 0  # the number of the exchange that this exchange repeats, 0 when a client sent it
    prefix: str = ""  # the part of the path that named the sandbox
    is_awaited: bool = False  # the body arrived after the request's head
    ending: str = ""  # how the connection ended, empty as usual
    scheme: str = ""  # `https` or empty

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Return the request's headers as received."""
        return unpacked(self.packed_headers)

    @property
    def header_texts(self) -> tuple[tuple[str, str], ...]:
        """Return the headers as Latin-1, all at once, since each recorded request stores them in this form."""
        parts = self.packed_headers.decode("latin-1").split("\n")
        return tuple(zip(parts[::2], parts[1::2], strict=False))

    @property
    def trace_id(self) -> str:
        """Return the id of the trace from its `traceparent`; empty without a valid header."""
        trace = trace_of(self.headers) if b"traceparent" in self.packed_headers else None
        return "" if trace is None else trace.trace_id

    @property
    def unread(self) -> str:
        """Return a sentence about a body that was announced and not read, or an empty text. A refusal that does not
        need the body does not wait for it."""
        if self.body:
            return ""
        headers = dict(self.headers)
        if b"transfer-encoding" in headers:
            return "Its body, which came in chunks, was empty or not read."
        length = headers.get(b"content-length", b"0").lstrip(b"0").decode("latin-1")
        return f"Its body of {length} bytes was not read." if length else ""

    @property
    def size(self) -> int:
        """Return the approximate memory of this exchange, in bytes."""
        came = len(self.packed_headers) + len(self.path) + len(self.query) + len(self.target) + len(self.body)
        return _OVERHEAD_BYTES + came + len(self.content)


Journal = BoundedLog[Exchange]


def packed(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Pack all headers into a single object: many small objects would make thousands of exchanges slow to store and
    free."""
    return b"\n".join(chain.from_iterable(headers))


def unpacked(headers: bytes) -> list[tuple[bytes, bytes]]:
    """Unpack the headers that `packed` has packed."""
    parts = headers.split(b"\n")
    return list(zip(parts[::2], parts[1::2], strict=False))


NO_CONTENT = 204
CONTENT_TYPE = b"content-type"
_JSON_LINE = b"content-type: application/json\r\n"


def reply_headers(sandbox_id: str, exchange: Exchange, diagnosis: str = "") -> bytes:
    """Return the header lines of an exchange's answer, with line ends: `X-Sim-*` and the endpoint's headers.
    `diagnosis`, if given, replaces the recorded diagnosis."""
    if exchange.status == NO_CONTENT:
        # HTTP forbids the other headers with 204.
        lines = b"x-sim-sandbox: %b\r\nx-sim-request-id: %d\r\n" % (sandbox_id.encode(), exchange.n)
    else:
        lines = (
            b"content-type: application/json\r\ncontent-length: %d\r\nx-sim-sandbox: %b\r\nx-sim-request-id: %d\r\n"
            % (len(exchange.content), sandbox_id.encode(), exchange.n)
        )
    if not exchange.n:
        lines = lines.replace(b"x-sim-request-id: 0\r\n", b"")
    if exchange.fault or exchange.rule:
        # A magic account's fault and timeline may have the same name.
        is_single = not exchange.fault or exchange.fault == exchange.rule
        names = (exchange.rule,) if is_single else filter(None, (exchange.fault, exchange.rule))
        lines += b"x-sim-rule: %b\r\n" % b", ".join(map(encode_rule_name, names))
    if exchange.diagnosis:
        lines += b"x-sim-diagnosis: %b\r\n" % _plain(diagnosis or exchange.public_diagnosis or exchange.diagnosis)
    for name, value in exchange.own_headers:
        if name.lower() == CONTENT_TYPE:
            lines = lines.replace(_JSON_LINE, b"", 1)
        lines += b"%b: %b\r\n" % (name, value)
    return lines


@lru_cache(maxsize=1024)
def _plain(text: str) -> bytes:
    """Encode text for a header: printable ASCII, at most 1000 bytes."""
    return _escape(text)[0][:1000]


_escape = codecs.getencoder("unicode_escape")  # loaded here: later, the process may have no file left to open
_TO_ESCAPE = re.compile(r"[^ -~]+|^ +| +$|%(?=[0-9A-Fa-f]{2})")


@lru_cache(maxsize=1024)
def encode_rule_name(name: str) -> bytes:
    """Encode the name for a header."""
    return _TO_ESCAPE.sub(lambda found: quote(found[0], safe=""), name).encode("ascii")


def decode_rule_names(sent: bytes) -> tuple[str, ...]:
    """Return the names that a header may mean, the likeliest first: decoded, or verbatim."""
    try:
        text = sent.decode()
    except UnicodeDecodeError:
        text = sent.decode("latin-1")
    return (text,) if "%" not in text else (unquote(text), text)
