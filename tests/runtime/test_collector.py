"""What the garbage collector has to visit for each payment: the fewer objects, the shorter its pauses."""

import gc

from simulator.domain.commands import CreatePayment
from tests.support.client import Client, running

TRACKED_MAX = 12


def tracked() -> int:
    """How many objects the collector visits. Tuples of what it need not visit are left out by a collection."""
    gc.collect()
    gc.collect()
    return len(gc.get_objects())


def pay(client: Client, first: int, count: int) -> None:
    for number in range(first, first + count):
        client.live.apply(CreatePayment("RS001", f"ref-{number}", "RELOAD", "0123456789", "10"))
    client.advance()


def test_a_payment_with_its_callbacks_leaves_few_objects_to_the_collector() -> None:
    with running() as client:
        pay(client, 0, 50)  # what is made with the first of them is there
        before = tracked()
        pay(client, 50, 200)
        assert len(client.live.core.state.callbacks) == 500, "two for each payment"
        assert 1 < (tracked() - before) / 200 <= TRACKED_MAX
