"""What a refused signature costs, with its diagnosis: beside a request that is accepted, on the same server."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bench.rounds import Cell, Plan, Subject, by_turns, served
from bench.servers import SIMULATOR, Cores, pinned
from bench.sign import nonce, signed
from bench.workloads import NAMED, Batch, Client, Workload, is_network, is_refused

OTHER_SECRET = "YW5vdGhlci1zZWNyZXQtb25seS1mb3ItdGhlLWJlbmNo"
UNSORTED = "z=1&product=RELOAD"  # signed by its keys' order, z last; there is no parameter z, in the good one neither
PATH = "/v2/networkstatus"
BODY = '{{"refid":"{refid}","product":"RELOAD","account":"0123456789","amount":"10"}}'
OTHERWISE_WRITTEN = '{{"refid": "{refid}", "product": "RELOAD", "account": "0123456789", "amount": "10"}}'


def _batch(make: Callable[[Client], bytes]) -> Callable[[Client], Batch]:
    return lambda client: lambda count: [make(client) for _ in range(count)]


def _refused_body(client: Client) -> bytes:
    """Signed before it was written out by another encoder."""
    refid = nonce()
    body, other = (text.format(refid=refid).encode() for text in (BODY, OTHERWISE_WRITTEN))
    return signed("POST", "/v2/topup", "", body, client.key, client.secret, client.host, signed_body=other)


def _refused_secret(client: Client) -> bytes:
    """Signed with another secret, which no diagnosis finds: all of it is done."""
    body = BODY.format(refid=nonce()).encode()
    return replace(client, secret=OTHER_SECRET).request("POST", "/v2/topup", body=body)


def _refused_query(client: Client) -> bytes:
    """Its query signed as it is sent, not sorted."""
    return signed("GET", PATH, UNSORTED, b"", client.key, client.secret, client.host, signed_query=UNSORTED)


GOOD_QUERY = Workload(
    "unsorted", "GET, query", _batch(lambda client: client.request("GET", PATH, UNSORTED)), is_network
)


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that is refused, and the accepted one that it is measured beside."""

    name: str
    title: str
    good: Workload
    make: Callable[[Client], bytes]

    def workload(self) -> Workload:
        return Workload(self.name, self.title, _batch(self.make), is_refused, status=401)


REFUSALS = (
    Refused("refused-secret", "topup, wrong secret, to a re-query", NAMED["requery"], _refused_secret),
    Refused("refused-secret-creates", "topup, wrong secret, to a creating one", NAMED["topup"], _refused_secret),
    Refused("refused-body", "topup, other body signed, to a creating one", NAMED["topup"], _refused_body),
    Refused("refused-query", "query signed as sent, to the same one right", GOOD_QUERY, _refused_query),
)


def measure_refusals(plan: Plan, cores: Cores, serve: Sequence[str] = SIMULATOR) -> list[Cell]:
    """The cells of each: accepted ones and refused ones take turns on the same server."""
    return [cell for refused in REFUSALS for cell in _cells(refused, plan, cores, serve)]


def _cells(refused: Refused, plan: Plan, cores: Cores, serve: Sequence[str]) -> list[Cell]:
    with served(refused.good, cores, serve) as good, pinned(cores.load):
        return by_turns(refused.name, refused.title, (good, Subject(good.client, refused.workload())), plan)
