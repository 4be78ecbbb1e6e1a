"""The endpoints of the reseller API, from `contracts/openapi.yaml`: methods, paths, fields of requests, and statuses of
responses."""

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec

from simulator.contract.openapi import METHODS, OPENAPI, load, path_pattern
from simulator.contract.schemas import BASE_URI, schema_at

Operation = TypeVar("Operation")


class Endpoint(msgspec.Struct, frozen=True, eq=False):
    """A method of a path; there is one object of each. A path may have parameters in braces; `fields` are the members
    of its query or body, `query` only the parameters of its query."""

    method: str
    path: str
    fields: frozenset[str]
    query: frozenset[str]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def has_parameters(self) -> bool:
        """Return whether the path has parameters."""
        return "{" in self.path

    def has_path(self, path: str) -> bool:
        """Return whether a request's path matches."""
        return path_pattern(self.path).fullmatch(path) is not None


class PathTable(Generic[Operation]):
    """A look-up of paths in a table of operations by path, then by method: `exact` holds paths without parameters;
    `match` resolves all others (SPEC 4.20)."""

    def __init__(self, table: Mapping[str, Mapping[str, Operation]]) -> None:
        self.known = list(table)
        self.exact = {path: methods for path, methods in table.items() if "{" not in path}
        self._templates = [(path_pattern(path), path, table[path]) for path in table if path not in self.exact]

    def documented(self, method: str, path: str) -> tuple[str, str]:
        """Return method and path as the contract writes them, with parameters in braces; `*` if unknown."""
        template, methods, _ = (path, self.exact[path], {}) if path in self.exact else self.match(path)
        return method if method in methods else "*", template

    def match(self, path: str) -> tuple[str, Mapping[str, Operation], Mapping[str, str]]:
        """Return the template that matches a path, its methods, and the values of its parameters, each of which is one
        non-empty segment; `*` and no methods without a match."""
        for pattern, template, methods in self._templates:
            if found := pattern.fullmatch(path):
                return template, methods, found.groupdict()
        return "*", {}, {}


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Return every endpoint, in the order of the contract."""
    return tuple(
        Endpoint(method.upper(), path, _query(item[method]) | frozenset(_body(item[method])), _query(item[method]))
        for path, item in load(OPENAPI)["paths"].items()
        for method in METHODS
        if method in item
    )


def fields_of(method: str, path: str) -> frozenset[str]:
    """Return the fields of a request to this path; none when the contract does not have it."""
    return next(
        (endpoint.fields for endpoint in endpoints() if endpoint.method == method and endpoint.has_path(path)),
        frozenset(),
    )


def _query(operation: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(
        parameter["name"] for parameter in operation.get("parameters", ()) if parameter.get("in") == "query"
    )


def _body(operation: Mapping[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield from schema_at(BASE_URI + content["schema"]["$ref"]).get("properties", ())


@cache
def statuses() -> Mapping[Endpoint, frozenset[str]]:
    """Return the documented statuses by endpoint, such as `200` and `404`, and `500` for a mistake of the simulator."""
    paths = load(OPENAPI)["paths"]
    return MappingProxyType(
        {
            endpoint: frozenset({"500", *map(str, paths[endpoint.path][endpoint.method.lower()]["responses"])})
            for endpoint in endpoints()
        }
    )
