"""The report stays in its folder, whatever a server calls a sandbox."""

import pytest

from reseller_sim.pytest_report import _name


@pytest.mark.parametrize("id", ["../../escaped", "/etc", "..", ".", "", "a/b", "a\\b", "x" * 300, "a\n", "\x00"])
def test_an_odd_id_is_a_plain_name(id: str) -> None:
    assert _name(id).startswith("sandbox-")
    assert len(_name(id)) == 24


def test_an_ordinary_id_is_its_own_name() -> None:
    assert _name("test-order-0a1b2c3d") == "test-order-0a1b2c3d"
