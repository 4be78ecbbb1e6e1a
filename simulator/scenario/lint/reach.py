"""Which endpoints the `method` and `path` of a fault match. Only a request to an endpoint meets faults."""

from functools import cache

import msgspec

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.scenario.lint.values import METHOD, PATH, STAR, Values, excludes, values

ANY_METHOD = values(METHOD, {})
ANY_PATH = values(PATH, {})


class Reach(msgspec.Struct, frozen=True):
    """The endpoints of which a path may match."""

    path: Values
    possible: frozenset[Endpoint]


def reach(method: Values = ANY_METHOD, path: Values = ANY_PATH) -> Reach:
    """The endpoints of a method and a path."""
    return Reach(path, frozenset(one for one in endpoints() if method.test(one.method) and may_have(one, path)))


def may_have(endpoint: Endpoint, path: Values) -> bool:
    """True unless it is certain that no path of the endpoint matches."""
    if path.listed is not None:
        return any(endpoint.has_path(str(text)) for text in path.listed)
    return not excludes(path, _paths(endpoint)) if endpoint.has_parameters else path.test(endpoint.path)


@cache
def _paths(endpoint: Endpoint) -> Values:
    """All paths of an endpoint, and some more."""
    return values(PATH, endpoint.path.partition("{")[0] + STAR)
