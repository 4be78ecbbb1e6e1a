"""Which endpoints the `method` and `path` of a fault match. Only a request to an endpoint meets faults."""

from functools import cache

import msgspec

from simulator.contract.endpoints import Endpoint, endpoints
from simulator.scenario.lint.values import METHOD, PATH, Values, covers, excludes, values

ANY_METHOD = values(METHOD, {})
ANY_PATH = values(PATH, {})


class Reach(msgspec.Struct, frozen=True):
    """The endpoints that are matched: `possible` are those of which a path may match, `whole` those of which every path
    does."""

    method: Values
    path: Values
    possible: frozenset[Endpoint]
    whole: frozenset[Endpoint]

    def is_within(self, wider: "Reach") -> bool:
        """True when `wider` matches every method and path that this matches."""
        if self.possible <= wider.whole:
            return True
        return all(
            one in wider.whole or (wider.method.test(one.method) and covers(wider.path, self.path))
            for one in self.possible
        )


def reach(method: Values = ANY_METHOD, path: Values = ANY_PATH) -> Reach:
    """The endpoints of a method and a path."""
    served = [one for one in endpoints() if method.test(one.method)]
    possible = frozenset(one for one in served if may_have(one, path))
    return Reach(method, path, possible, frozenset(one for one in served if _is_covered(one, path)))


def may_have(endpoint: Endpoint, path: Values) -> bool:
    """True unless it is certain that no path of the endpoint matches."""
    if path.listed is not None:
        return any(endpoint.has_path(str(text)) for text in path.listed)
    return not excludes(path, _paths(endpoint)) if endpoint.has_parameters else path.test(endpoint.path)


def _is_covered(endpoint: Endpoint, path: Values) -> bool:
    return covers(path, _paths(endpoint)) if endpoint.has_parameters else path.test(endpoint.path)


@cache
def _paths(endpoint: Endpoint) -> Values:
    """All paths of an endpoint, and some more: a star also matches slashes."""
    parts = ("*" if part.startswith("{") else part for part in endpoint.path.split("/"))
    return values(PATH, "/".join(parts))
