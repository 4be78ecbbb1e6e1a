"""Paths with parameters, tried only when a path is not there as it stands."""

from typing import Any

from simulator.api.routes import PathTable

PATHS = {"/a": 1, "/a/b": 2, "/a/{x}": 3, "/a/{x}/c": 4, "/{y}/{x}/d": 5}
METHODS: dict[str, Any] = {path: {"GET": number} for path, number in PATHS.items()}
TABLE = PathTable(METHODS)


def match(path: str) -> tuple[object, dict[str, str]]:
    methods, places = TABLE.match(path)
    return methods and methods["GET"], dict(places)


def test_a_path_without_parameters_is_found_exactly() -> None:
    assert TABLE.exact == {path: METHODS[path] for path in ("/a", "/a/b")}
    assert TABLE.known == list(PATHS)


def test_parameters_are_one_part_each_and_not_empty() -> None:
    assert match("/a/1") == (3, {"x": "1"})
    assert match("/a/1/c") == (4, {"x": "1"})
    assert match("/q/1/d") == (5, {"y": "q", "x": "1"})
    assert match("/a/{x}") == (3, {"x": "{x}"})
    for path in ("/a/", "/a//c", "/a/1/", "/b/1", "/a/1/c/", "", "/", "x/a/1", "/a/1/e"):
        assert match(path)[0] is None, path
