"""Network status of products, set at run time (SPEC 2.7)."""

from datetime import datetime

from simulator.domain.commands import SetNetwork
from simulator.domain.queries import product_of
from simulator.domain.state import State


def set_network(state: State, command: SetNetwork, now: datetime) -> None:
    """Set a product's network status from now on. Raises `Unknown`."""
    state.network.set(product_of(state, command.product).code, command.status)
