"""Which sandboxes a server owns, asked by several requests at once."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from simulator.postgres.owners import Owners

SERVER_ID = 7


class Leases:
    """A database without sandboxes, where a name is reserved by the server that creates it."""

    def claim(self, sandbox: str, server_id: int, *, creates: bool = False) -> int | None:
        return server_id if creates else None


async def ask(question: Callable[[], Any]) -> Any:
    await asyncio.sleep(0)
    return question()


def test_a_name_is_reserved_though_another_request_asks_for_it_at_the_same_time() -> None:
    store: Any = SimpleNamespace(server_id=SERVER_ID, reader=SimpleNamespace(lives=lambda sandbox: []))
    keeper: Any = None
    leases: Any = Leases()
    database: Any = SimpleNamespace(ask=ask)
    owners = Owners(store, keeper, leases, database, lambda line: None)

    async def asked() -> None:
        await asyncio.gather(owners.settle("new"), owners.settle("new", creates=True))

    asyncio.run(asked())
    assert "new" in owners
