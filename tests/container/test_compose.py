"""The token of compose.yaml, and of the page's example, is given by the environment."""

import re

import pytest
import yaml

from tests.support.processes import ROOT

TOKEN = "RESELLER_SIM_CONTROL_TOKEN"
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_compose_refuses_to_start_a_service_without_a_token(name: str) -> None:
    """`${NAME:?text}` is an error with this text where NAME is empty or not set."""
    assert re.fullmatch(rf"\$\{{{TOKEN}:\?[^}}]+\}}", SERVICES[name]["environment"][TOKEN])


def test_the_page_gives_the_same_advice() -> None:
    page = (ROOT / "docs" / "container.md").read_text("utf-8")
    given = re.findall(rf"^ +{TOKEN}: (.+)$", page, re.MULTILINE)
    assert set(given) == {SERVICES["shop"]["environment"][TOKEN]}
