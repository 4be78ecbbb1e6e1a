"""While PostgreSQL does not answer, nothing is answered that is not stored, and what is in memory can be read."""

import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException

import pytest

from tests.support.client import Response
from tests.support.postgres import Postgres, postgres
from tests.support.sharing import await_true, control, pay, refids, server
from tests.support.watchdog import WATCHDOG

pytestmark = [pytest.mark.needs("initdb"), pytest.mark.slow]


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A PostgreSQL that a test may kill."""
    WATCHDOG.leave()  # each wait has its own limit
    with postgres() as running:
        yield running


def test_only_reads_of_stored_sandboxes_are_answered_while_postgresql_is_down(own_server: Postgres) -> None:
    with server(own_server.database(), lease_s=5.0) as running:
        for sandbox in ("quiet", "busy"):
            body = {"id": sandbox, "clock": {"mode": "manual"}}
            assert control(running, "POST", "/sandboxes", body).status == 201
            assert pay(running, "before", sandbox).status == 200
        own_server.kill()
        answers: list[Response] = []
        paying = threading.Thread(target=lambda: answers.append(pay(running, "meanwhile", "busy")))
        paying.start()
        await_true(lambda: control(running, "GET", "/ready").status == 503)
        assert control(running, "GET", "/ready").json["error"] == "store_unavailable"
        assert "reseller_sim_store_up 0" in control(running, "GET", "/metrics").body.decode()
        assert refids(running, "quiet") == {"before"}
        assert control(running, "GET", "/sandboxes/busy").json["error"] == "store_unavailable"
        assert control(running, "GET", "/sandboxes").status == 503
        refused = pay(running, "refused", "quiet")
        assert (refused.status, refused.json["error"], refused.headers["retry-after"]) == (
            503,
            "store_unavailable",
            "1",
        )
        assert control(running, "POST", "/sandboxes", {}).status == 503
        assert answers == []
        own_server.start()
        await_true(lambda: control(running, "GET", "/ready").status == 200)
        paying.join()
        assert [answer.status for answer in answers] == [200]
        assert refids(running, "busy") == {"before", "meanwhile"}
        assert pay(running, "refused", "quiet").status == 200
        assert refids(running, "quiet") == {"before", "refused"}
        assert "reseller_sim_store_up 1" in control(running, "GET", "/metrics").body.decode()


def test_reads_end_after_the_grace(own_server: Postgres) -> None:
    with server(own_server.database(), "--store-grace", "1s", lease_s=5.0) as running:
        assert control(running, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
        own_server.kill()
        await_true(lambda: control(running, "GET", "/ready").status == 503)
        await_true(lambda: control(running, "GET", "/sandboxes/shop").status == 503)
        assert control(running, "GET", "/health").status == 200
        own_server.start()
        await_true(lambda: control(running, "GET", "/sandboxes/shop").status == 200)


def test_a_locked_table_is_waited_for_like_an_outage(own_server: Postgres) -> None:
    import psycopg

    database = own_server.database()
    with server(database) as running:
        assert control(running, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
        with psycopg.connect(database) as blocking:
            blocking.execute("LOCK TABLE reseller_sim.entries")
            answers: list[Response] = []
            paying = threading.Thread(target=lambda: answers.append(pay(running, "slow", "shop")))
            paying.start()
            await_true(lambda: control(running, "GET", "/ready").status == 503)
            assert answers == []
        paying.join()
        assert [answer.status for answer in answers] == [200]
        await_true(lambda: control(running, "GET", "/ready").status == 200)


def test_a_server_stops_though_postgresql_is_down(own_server: Postgres) -> None:
    with server(own_server.database(), lease_s=5.0) as running:
        assert control(running, "POST", "/sandboxes", {"id": "shop", "clock": {"mode": "manual"}}).status == 201
        own_server.kill()
        answers: list[Response] = []

        def pay_in_vain() -> None:
            with suppress(HTTPException, OSError):
                answers.append(pay(running, "never acknowledged", "shop"))

        paying = threading.Thread(target=pay_in_vain)
        paying.start()
        await_true(lambda: control(running, "GET", "/ready").status == 503)
        status, _, err = running.stop(signal.SIGTERM)
        paying.join()
        assert (status, answers) == (0, [])
        assert err.count("\n") <= 1, "at most the line that PostgreSQL does not answer"
