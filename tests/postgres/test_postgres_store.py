"""Commits in PostgreSQL: each is made once, and by the owner alone; servers share no keys."""

from collections.abc import Iterator
from concurrent.futures import Future
from queue import Queue
from typing import Literal

import pytest

from simulator.persistence.errors import LeaseLost, StoreError
from simulator.postgres.address import parse_address
from simulator.postgres.leases import LeaseKeeper, Leases
from simulator.postgres.migration import prepare_database
from simulator.postgres.postgres_store import PostgresStore
from tests.support.postgres import rows_of
from tests.support.stores import append

pytestmark = [pytest.mark.needs("initdb"), pytest.mark.slow]
LEASE_S = 60.0


class Server:
    """A store that writes as a server of its own."""

    def __init__(self, database: str, durability: Literal["process", "power"] = "process") -> None:
        address = parse_address(database)
        prepare_database(address)
        self.store = PostgresStore(address, durability)
        self.leases = Leases(self.store.reader, LEASE_S)
        self.id = self.leases.register("http://127.0.0.1:1", "secret")
        self.store.begin(self.id)

    def claim(self, sandbox: str) -> int | None:
        return self.leases.claim(sandbox, self.id, creates=True)

    def create(self, sandbox: str) -> None:
        """Own a sandbox and commit its first life."""
        self.claim(sandbox)
        self.store.writer.new_life(sandbox, b"head")
        assert self.commit() is None

    def commit(self) -> StoreError | None:
        done: Future[StoreError | None] = Future()
        self.store.request_commit(done.set_result)
        return done.result(60)


@pytest.fixture
def one(database: str) -> Iterator[Server]:
    server = Server(database)
    yield server
    server.store.close()


@pytest.fixture
def other(database: str, one: Server) -> Iterator[Server]:
    server = Server(database)
    yield server
    server.store.close()


def test_what_is_committed_is_read_as_from_a_folder(one: Server) -> None:
    one.claim("shop")
    writer, reader = one.store.writer, one.store.reader
    writer.new_life("shop", b"head")
    for number in range(1, 1_200):
        append(writer, "shop", number, b"entry %d" % number)
    life = writer.life_of("shop")
    writer.put_mark(life, "before", 3, b"note")
    snapshot = writer.begin_snapshot("shop")
    snapshot.put("wallets", b"as of now")
    assert snapshot.complete()
    assert one.commit() is None
    assert [n for n, *_ in reader.entries("shop")] == list(range(1, 1_200))
    assert reader.marks("shop") == [("before", 3, b"note")]
    assert [dict(reader.parts(found)) for found in reader.life("shop").snapshots] == [{"wallets": b"as of now"}]
    (found,) = reader.lives("shop")
    assert (found.key, found.n, found.marks, found.snapshots) == (life.key, life.n, life.marks, life.snapshots)


def test_a_commit_whose_answer_was_lost_is_made_once(one: Server, database: str) -> None:
    one.claim("shop")
    one.store.writer.new_life("shop", b"head")
    append(one.store.writer, "shop", 1, b"first")
    assert one.commit() is None
    one.store._serial -= 1  # as if its answer had not arrived, so that it is sent again
    append(one.store.writer, "shop", 2, b"again")
    assert one.commit() is None
    assert rows_of(database, "SELECT count(*) FROM entries") == [(1,)]


def test_a_fenced_server_commits_nothing_until_it_begins_again(one: Server, other: Server, database: str) -> None:
    one.create("shop")
    assert other.claim("shop") == one.id
    one.leases.end(one.id)
    assert other.claim("shop") == other.id
    append(one.store.writer, "shop", 1, b"late")
    assert isinstance(one.commit(), LeaseLost)
    with pytest.raises(LeaseLost):
        one.claim("another")
    assert rows_of(database, "SELECT count(*) FROM entries") == [(0,)]
    one.store.wait_until_idle()
    one.store.begin(one.leases.register("http://127.0.0.1:1", "secret"))
    one.store.writer.new_life("shop", b"a sandbox that was being created meanwhile")
    assert isinstance(one.commit(), LeaseLost), "the name belongs to the other server"


def test_a_snapshot_that_a_lost_lease_interrupts_is_not_stored(one: Server, database: str) -> None:
    one.create("shop")
    snapshot = one.store.writer.begin_snapshot("shop")
    snapshot.put("wallets", b"as of now")
    assert one.commit() is None
    one.store.begin(one.leases.register("", ""))
    snapshot.put("more", b"later")
    assert not snapshot.complete()
    assert one.commit() is None
    assert rows_of(database, "SELECT count(*) FROM snapshots") == [(0,)]


def test_a_commit_that_stops_half_way_holds_nobody_up_after_the_lease(
    one: Server, other: Server, database: str
) -> None:
    one.create("shop")
    assert other.claim("shop") == one.id
    rows_of(database, "UPDATE servers SET lease_ends = now(), lease = '0 s' WHERE id = (SELECT server FROM owners)")
    assert one.store._db is not None
    session = one.store._db.pgconn  # the rest of this commit never arrives, as when the network is cut
    session.enter_pipeline_mode()
    session.send_query_params(b"BEGIN", None)
    session.send_query_params(b"SELECT begin_commit($1, $2)", [b"%d" % one.id, b"%d" % (one.store._serial + 1)])
    session.send_flush_request()
    assert [session.get_result() is None for _ in range(3)] == [False, True, False], "both were executed"
    assert other.claim("shop") == other.id
    append(one.store.writer, "shop", 1, b"late")
    assert isinstance(one.commit(), LeaseLost)
    assert (one.store.outages, one.store.down_since) == (1, None), "PostgreSQL answered again, and refused"


def test_a_living_server_keeps_its_sandboxes(one: Server, other: Server) -> None:
    assert (one.claim("shop"), other.claim("shop"), other.leases.claim("none", other.id)) == (one.id, one.id, None)
    assert {peer.id for peer in other.leases.peers()} == {one.id, other.id}
    one.leases.release(["shop"], one.id)
    assert other.claim("shop") == other.id


def test_a_lease_that_ended_while_postgresql_was_down_counts_for_its_time_again(
    one: Server, other: Server, database: str
) -> None:
    one.create("shop")
    seen: Queue[tuple[list[int], list[str]]] = Queue()
    keeper = LeaseKeeper(parse_address(database), LEASE_S, lambda lost: None, lambda *what: seen.put(what))
    keeper.begin(other.id, 0.0)
    try:
        for ended, is_lost in (
            ("UPDATE servers SET lease_ends = '-infinity', lease = '1 day'", False),
            ("UPDATE servers SET lease_ends = '-infinity', lease = '0 s'", True),
        ):
            rows_of(database, ended)
            keeper.hurry()
            servers, orphans = seen.get(timeout=60)
            assert (one.id in servers, orphans) == (not is_lost, ["shop"] if is_lost else [])
            assert (other.claim("shop") == other.id) == is_lost
    finally:
        keeper.close()
        keeper._thread.join(60)


def test_keys_are_those_of_no_other_server(one: Server, other: Server) -> None:
    keys = [server.store.writer.keys.next_life() for _ in range(100) for server in (one, other)]
    assert len(set(keys)) == 200


@pytest.mark.parametrize(("durability", "setting"), [("process", "local"), ("power", "on")])
def test_durability_is_a_setting_of_postgresql(
    database: str, durability: Literal["process", "power"], setting: str
) -> None:
    server = Server(database, durability)
    server.create("shop")
    assert server.store._db is not None
    assert server.store._db.execute("SHOW synchronous_commit").fetchone() == (setting,)
    server.store.close()
