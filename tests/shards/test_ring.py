"""The consistent hash, as HAProxy itself computes it."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from simulator.shards.haproxy import configuration
from simulator.shards.ring import Ring, number_of
from simulator.shards.servers import Server
from tests.support.local_server import QuietHandler, local_server
from tests.support.processes import free_port
from tests.support.sharded import SHARD, haproxy

IDS = [f"sb-{number * 7919:010x}" for number in range(400)] + ["default", "a", "Z_9", "RS 001", "été"]


class Healthy(QuietHandler):
    """Answers everything with 200 and nothing."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.respond(200)


@contextmanager
def healthy_servers(names: list[str]) -> Iterator[list[Server]]:
    with ExitStack() as running:
        urls = {name: urlsplit(running.enter_context(local_server(Healthy))) for name in names}
        yield [Server(name, "127.0.0.1", url.port or 0) for name, url in urls.items()]


@pytest.mark.needs("haproxy")
@pytest.mark.slow
@pytest.mark.parametrize("names", [["only"], ["a", "b"], [f"server-{number}" for number in range(1, 8)]])
def test_haproxy_sends_each_key_to_the_server_that_is_computed(names: list[str], tmp_path: Path) -> None:
    listen = f"127.0.0.1:{free_port()}"
    with healthy_servers(names) as servers:
        (tmp_path / "haproxy.cfg").write_text(configuration(servers, listen))
        with haproxy(tmp_path / "haproxy.cfg"):
            ring = Ring(names)
            assert owners_by_proxy(listen) == {one: ring.owner(one) for one in IDS}


def owners_by_proxy(listen: str) -> dict[str, str | None]:
    connection = HTTPConnection(listen)
    found = {}
    try:
        for one in IDS:
            connection.request("GET", f"/s/{quote(one)}/v2/balance")
            with connection.getresponse() as answer:
                answer.read()
                found[one] = answer.getheader(SHARD)
    finally:
        connection.close()
    return found


def test_the_order_of_the_names_changes_nothing() -> None:
    assert list(map(Ring("abc").owner, IDS)) == list(map(Ring("cab").owner, IDS))


def test_a_server_that_is_added_takes_its_share_and_moves_nothing_between_others() -> None:
    before, after = Ring("abcd"), Ring("abcde")
    moved = [(before.owner(one), after.owner(one)) for one in IDS if before.owner(one) != after.owner(one)]
    assert {to for _, to in moved} == {"e"}
    assert {of for of, _ in moved} == set("abcd")
    assert len(IDS) / 10 < len(moved) < len(IDS) / 3


def test_keys_fall_evenly() -> None:
    counts = Counter(map(Ring("abcd").owner, (f"key-{number}" for number in range(20_000))))
    assert all(4_500 < count < 5_500 for count in counts.values())


def test_a_key_at_either_end_of_the_ring_has_the_nearest_node_on_either_side_of_it() -> None:
    ring = Ring("ab")
    first, last = ring.places[0], ring.places[-1]
    ends = {ring.names[ring.owners[0]], ring.names[ring.owners[-1]]}
    assert ring.owner_at(first) == ring.names[ring.owners[0]]
    assert ring.owner_at(last) == ring.names[ring.owners[-1]]
    assert {ring.owner_at(0), ring.owner_at(2**32 - 1)} <= ends


def test_numbers_are_within_what_haproxy_computes_with() -> None:
    numbers = [number_of(f"server-{number}") for number in range(1_000)]
    assert 0 < min(numbers) <= max(numbers) < 2**19
