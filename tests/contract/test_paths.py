"""Paths with parameters, tried only when a path is not there as it stands."""

from simulator.api.account_endpoints import balance
from simulator.api.call import ApiEndpoint
from simulator.contract.endpoints import PathTable

PATHS = ("/a", "/a/b", "/a/{x}", "/a/{x}/c", "/{y}/{x}/d")
METHODS = {"GET": ApiEndpoint(balance)}
TABLE = PathTable(dict.fromkeys(PATHS, METHODS))


def test_a_path_without_parameters_is_found_exactly() -> None:
    assert TABLE.exact == {"/a": METHODS, "/a/b": METHODS}
    assert TABLE.known == list(PATHS)


def test_parameters_are_one_part_each_and_not_empty() -> None:
    assert TABLE.match("/a/1") == ("/a/{x}", METHODS, {"x": "1"})
    assert TABLE.match("/a/1/c") == ("/a/{x}/c", METHODS, {"x": "1"})
    assert TABLE.match("/q/1/d") == ("/{y}/{x}/d", METHODS, {"y": "q", "x": "1"})
    assert TABLE.match("/a/{x}") == ("/a/{x}", METHODS, {"x": "{x}"})
    for path in ("/a/", "/a//c", "/a/1/", "/b/1", "/a/1/c/", "", "/", "x/a/1", "/a/1/e"):
        assert TABLE.match(path) == ("*", {}, {}), path
