"""The statuses that each endpoint of the reseller API may answer with, as `contracts/openapi.yaml` says."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.contract.openapi import OPENAPI, load


@cache
def statuses() -> Mapping[Endpoint, frozenset[str]]:
    """The documented statuses by endpoint, such as `200` and `404`, and `500` for a mistake of the simulator."""
    paths = load(OPENAPI)["paths"]
    return MappingProxyType(
        {one: frozenset({"500", *map(str, paths[one.path][one.method.lower()]["responses"])}) for one in endpoints()}
    )
