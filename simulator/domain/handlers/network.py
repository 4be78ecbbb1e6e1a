"""The network status of products, set while a sandbox runs (SPEC 2.7)."""

from datetime import datetime

from simulator.domain.commands import SetNetwork
from simulator.domain.errors import Unknown
from simulator.domain.state import State


def set_network(state: State, command: SetNetwork, now: datetime) -> None:
    """Set a product's status from now on. Raises `Unknown`."""
    if command.product not in state.catalog.products:
        raise Unknown("unknown_product", f"there is no product {command.product!r} in the catalog")
    state.network.set(command.product, command.status)
