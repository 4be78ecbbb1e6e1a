"""What is sent in each row of the table, and how a success is distinguished from a refusal."""

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bench import load
from bench.servers import SIMULATOR, BenchError, Server, ask
from bench.sign import nonce, signed

PAID = frozenset({"Accepted", "Processing", "Succesful"})
REQUERIED = 100  # how many payments the re-queries are spread over
BULK_DEPOSIT = "900000000.00"

# Under a running clock the callbacks of a payment have to fall into the round that made it.
QUICK_PAYMENTS = {
    "name": "bench",
    "when": {"product": "RELOAD"},
    "then": [
        {"status": "Accepted"},
        {"after": "50ms", "status": "Processing"},
        {"after": "100ms", "status": "Succesful"},
    ],
}


@dataclass(frozen=True, slots=True)
class Client:
    """Signs for one reseller of one server."""

    server: Server
    code: str
    key: str
    secret: str
    host: str  # as in the header

    def request(self, method: str, path: str, query: str = "", body: bytes = b"") -> bytes:
        return signed(method, path, query, body, self.key, self.secret, self.host)


def client_of(server: Server) -> Client:
    """The first reseller that the server's ready line names."""
    try:
        reseller = server.ready["resellers"][0]
        return Client(server, reseller["code"], reseller["api_key"], reseller["api_secret"], server.netloc)
    except (KeyError, IndexError, TypeError) as error:
        raise BenchError(f"the ready line names no reseller with a key and a secret: {server.ready}") from error


def topup(client: Client, refid: str, prefix: str = "") -> bytes:
    """A payment of 10 for the given refid; `prefix` is that of a sandbox's address."""
    body = {"refid": refid, "product": "RELOAD", "account": "0123456789", "amount": "10"}
    return client.request("POST", f"{prefix}/v2/topup", body=json.dumps(body, separators=(",", ":")).encode())


def send_all(
    client: Client, requests: Sequence[bytes], check: load.Check, connections: int = 1, seconds: float = 10.0
) -> None:
    """Signed requests that have to succeed, outside any measurement."""
    host, port = client.server.host, client.server.port
    result = load.run(host, port, requests, connections=connections, seconds=seconds, check=check)
    if result.errors or result.requests != len(requests):
        raise BenchError(f"of {len(requests)} signed requests {result.requests} were answered: {result.complaints}")


def is_paid(body: bytes) -> bool:
    """A payment result (SPEC 2.3) of a payment that was created."""
    return _decoded(body).get("data", {}).get("status") in PAID


def is_refused(body: bytes) -> bool:
    """The answer to a signature that is wrong."""
    return _decoded(body).get("error") == "invalid_signature"


def has(member: str) -> load.Check:
    """Return a check whether an answer has something in this member."""
    return lambda body: bool(_decoded(body).get(member))


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(body)
    except ValueError:
        return {}
    return decoded if isinstance(decoded, dict) else {}


Batch = Callable[[int], Sequence[bytes]]


def _creating(client: Client) -> Batch:
    return lambda count: [topup(client, nonce()) for _ in range(count)]


def _requery(client: Client) -> Batch:
    refids = [nonce() for _ in range(REQUERIED)]
    send_all(client, [topup(client, refid) for refid in refids], is_paid)
    return lambda count: [topup(client, refid) for refid in itertools.islice(itertools.cycle(refids), count)]


def _reading(path: str, query: str = "") -> Callable[[Client], Batch]:
    return lambda client: lambda count: [client.request("GET", path, query) for _ in range(count)]


def _creating_with_callbacks(client: Client) -> Batch:
    rule = {"section": "payments", "rule": QUICK_PAYMENTS}
    ask(client.server, "POST", "/_sim/sandboxes/default/rules", rule)
    send_all(client, [topup(client, nonce())], is_paid)
    seen = ask(client.server, "GET", "/_sim/sandboxes/default/callbacks?wait_for=2&timeout=10")
    if not seen.get("complete"):
        raise BenchError("the first reseller's callbacks do not arrive; has it a callback in the scenario?")
    return _creating(client)


@dataclass(frozen=True, slots=True)
class Workload:
    """One row: `prepare` is called once a server and returns the maker of freshly signed batches."""

    name: str
    title: str
    prepare: Callable[[Client], Batch]
    check: load.Check
    clock: str = "manual"
    delivers: bool = False  # callbacks to a receiver; the round is over only when nothing is left on the agenda
    is_sized: bool = False  # the bare server answers as many bytes
    status: int = 200


WORKLOADS = (
    Workload("topup", "POST /v2/topup, creates", _creating, is_paid),
    Workload("requery", "POST /v2/topup, re-query", _requery, is_paid),
    Workload("balance", "GET /v2/balance", _reading("/v2/balance"), has("data")),
    Workload("network", "GET /v2/networkstatus", _reading("/v2/networkstatus", "product=RELOAD"), has("data")),
    Workload("catalog", "GET /v2/catalog, 13 products", _reading("/v2/catalog"), has("products"), is_sized=True),
    Workload(
        "callbacks",
        "topup, running clock, callbacks",
        _creating_with_callbacks,
        is_paid,
        clock="real",
        delivers=True,
    ),
)
NAMED = {workload.name: workload for workload in WORKLOADS}


def serving_command(workload: Workload, serve: Sequence[str] = SIMULATOR) -> list[str]:
    """The command that serves a workload; `serve` is its beginning, with a scenario if it is not to be the default."""
    return [*serve, "--port", "0", "--json", "--clock", workload.clock]


def fill_wallet(client: Client) -> None:
    """Enough for every payment of a run."""
    path = f"/_sim/sandboxes/default/resellers/{quote(client.code, safe='')}/deposits"
    ask(client.server, "POST", path, {"amount": BULK_DEPOSIT})
