"""Docs, contract and code name the same endpoints."""

from pathlib import Path

import pytest
import yaml

from simulator.api.routes import routes
from simulator.contract.files import data_dir
from simulator.control.app import ROUTES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
CONTROL = (ROOT / "docs" / "control-api.md").read_text()

RESELLER = sorted((method, path) for path, methods in routes().items() for method in methods)
CONTROLLED = sorted((method, route.path) for route in ROUTES for method in (route.methods or set()) - {"HEAD"})


def operations(document: str) -> set[tuple[str, str]]:
    paths = yaml.safe_load((data_dir("contracts") / document).read_text())["paths"]
    methods = ("get", "put", "post", "delete", "patch")
    return {(method.upper(), path) for path, item in paths.items() for method in item if method in methods}


def test_the_contract_has_exactly_the_endpoints_that_answer() -> None:
    assert operations("openapi.yaml") == set(RESELLER)


def test_the_control_contract_has_exactly_the_routes() -> None:
    inbox_address = {(method, path) for method, path in operations("control.yaml") if path.startswith("/_sim/inbox/")}
    assert operations("control.yaml") - inbox_address == set(CONTROLLED)


@pytest.mark.parametrize(("method", "path"), RESELLER)
def test_readme_lists_every_endpoint(method: str, path: str) -> None:
    line = next((line for line in README.splitlines() if line.startswith("|") and f"`{path}`" in line), "")
    assert method in line


@pytest.mark.parametrize(("method", "path"), CONTROLLED)
def test_docs_list_every_control_route(method: str, path: str) -> None:
    assert f"`{method} {path}`" in CONTROL


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_links_lead_somewhere(page: str) -> None:
    import re

    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        if not target.startswith("http"):
            assert (ROOT / page).parent.joinpath(target).exists(), target
