"""Objects that the garbage collector visits per payment: the fewer objects, the shorter its pauses."""

from decimal import Decimal

from simulator.domain.commands import CreatePayment, Credit
from tests.support.client import Client, running
from tests.support.collector import visited

TRACKED_MAX = 6


def pay(client: Client, first: int, count: int) -> None:
    for number in range(first, first + count):
        client.live.apply(CreatePayment("RS001", f"ref-{number}", "RELOAD", "0123456789", "10"))
    client.advance()


def test_a_payment_with_its_callbacks_leaves_few_objects_to_the_collector() -> None:
    with running() as client:
        client.live.apply(Credit("RS001", Decimal(100_000)))
        pay(client, 0, 50)  # objects of the first payments exist
        before = visited()
        pay(client, 50, 1000)
        assert len(client.live.core.state.callbacks) == 2100, "two for each payment"
        assert 0 < (visited() - before) / 1000 <= TRACKED_MAX
