"""The endpoints that the `method` and `path` of a fault match. Faults apply only to requests to an endpoint."""

from functools import cache

import msgspec

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.scenario.lint.values import METHOD, PATH, STAR, Values, excludes, values

ANY_METHOD = values(METHOD, {})
ANY_PATH = values(PATH, {})


class Reach(msgspec.Struct, frozen=True):
    """The endpoints that may have a matching path."""

    path: Values
    possible: frozenset[Endpoint]


def reach(method: Values = ANY_METHOD, path: Values = ANY_PATH) -> Reach:
    """Return the endpoints of a method and a path."""
    return Reach(path, frozenset(one for one in endpoints() if method.test(one.method) and may_have(one, path)))


def may_have(endpoint: Endpoint, path: Values) -> bool:
    """Return True unless certainly no path of the endpoint matches."""
    if path.listed is not None:
        return any(endpoint.has_path(str(text)) for text in path.listed)
    return not excludes(path, _paths(endpoint)) if endpoint.has_parameters else path.test(endpoint.path)


@cache
def _paths(endpoint: Endpoint) -> Values:
    """Return a superset of the endpoint's paths."""
    return values(PATH, endpoint.path.partition("{")[0] + STAR)
