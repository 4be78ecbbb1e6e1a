"""A sandbox that is gone is freed at once: the garbage collector, which comes late to what is old, is not needed."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from simulator.runtime.background import in_background
from tests.support.client import Client, running


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Nothing is collected meanwhile."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def used(client: Client) -> None:
    """A sandbox `a` with a payment and a waiting request; the thread that built it has let go of it."""
    assert client.sim("POST", "/sandboxes", {"id": "a"}).status == 201
    body = {"refid": "r-1", "product": "RELOAD", "account": "0123456789", "amount": "10"}
    assert client.call("POST", "/v2/topup", body, sandbox="a").status == 200
    assert client.sim("POST", "/sandboxes/a/clock/advance", {"seconds": 3}).status == 200
    assert client.sim("GET", "/sandboxes/a/callbacks?wait_for=1").status == 200
    client.run(in_background(int))  # the thread is single, so its earlier work is over when this is done


@pytest.mark.usefixtures("without_collector")
def test_a_deleted_sandbox_is_freed() -> None:
    with running() as client:
        used(client)
        live = client.app.sandboxes.get("a")
        alive, state = ref(live), ref(live.core.state)
        del live
        assert client.sim("DELETE", "/sandboxes/a").status == 204
        assert (alive(), state()) == (None, None)


@pytest.mark.usefixtures("without_collector")
def test_the_state_before_a_reset_is_freed() -> None:
    with running() as client:
        used(client)
        state = ref(client.app.sandboxes.get("a").core.state)
        assert client.sim("POST", "/sandboxes/a/reset").status == 200
        assert state() is None
