"""Catalogs are compared at a reload: equal texts are equal catalogs, also after caches have been filled."""

import sys
from pathlib import Path

import pytest

from simulator.scenario.library import load_scenario, names
from simulator.scenario.reading.patterns import finder

EVERYTHING = str(Path(__file__).parent / "everything.yaml")


def forget_all() -> None:
    """Clear every cache of the package `scenario`."""
    for name, module in list(sys.modules.items()):
        if name.startswith("simulator.scenario"):
            for cached in vars(module).values():
                if callable(clear := getattr(cached, "cache_clear", None)):
                    clear()


@pytest.mark.slow
@pytest.mark.parametrize("name", [EVERYTHING, *map(str, names())])
def test_a_catalog_that_is_compiled_again_is_equal(name: str) -> None:
    first = load_scenario(name).catalog
    forget_all()
    again = load_scenario(name).catalog
    assert again is not first
    assert (again.groups, again.products) == (first.groups, first.products)


def test_patterns_are_equal_when_they_are_written_alike() -> None:
    first = finder("^0[0-9]+$")
    finder.cache_clear()
    again = finder("^0[0-9]+$")
    assert again is not first
    assert again == first != finder("^1")
    assert again("0123")
    assert not again("0" * 3 + "\ud800x")
