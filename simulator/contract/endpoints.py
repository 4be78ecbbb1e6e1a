"""The endpoints of the reseller API, from `contracts/openapi.yaml`: methods, paths, fields of requests, and statuses of
responses."""

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import msgspec

from simulator.contract.openapi import METHODS, OPENAPI, load, path_pattern
from simulator.contract.schemas import BASE_URI, schema_at


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
    return next((one.fields for one in endpoints() if one.method == method and one.has_path(path)), frozenset())


def _query(operation: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(one["name"] for one in operation.get("parameters", ()) if one.get("in") == "query")


def _body(operation: Mapping[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        yield from schema_at(BASE_URI + content["schema"]["$ref"]).get("properties", ())


@cache
def statuses() -> Mapping[Endpoint, frozenset[str]]:
    """Return the documented statuses by endpoint, such as `200` and `404`, and `500` for a mistake of the simulator."""
    paths = load(OPENAPI)["paths"]
    return MappingProxyType(
        {one: frozenset({"500", *map(str, paths[one.path][one.method.lower()]["responses"])}) for one in endpoints()}
    )
